"""`parlour import werewolf`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.training.cli import common
from parlour.training.werewolf import published


def import_werewolf(
    file: Annotated[Path, typer.Argument(help="Games, one a line, in the format published with GRATR.")],
    out: Annotated[Path, typer.Option(help="Folder for the records.")],
    json: common.JsonOption = False,
) -> None:
    """Check published games of Werewolf and write each as a record that `parlour metrics` counts.

    What was said and who died when is not in such files, so they cannot be played again by the rules: the result is a
    record (roles, winner, votes, choices at night, judgements), no transcript. A game that contradicts the format or
    itself is refused, and nothing is written.

    Example: [bold]parlour import werewolf records_group1.jsonl --out runs/published[/bold]
    """
    written = published.import_file(file, out)
    if json:
        common.print_json([str(path) for path in written])
    else:
        print(f"{len(written)} games written to {out}")  # noqa: T201
