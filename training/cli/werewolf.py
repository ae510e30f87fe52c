"""`parlour import werewolf`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.training.cli import common
from parlour.training.cli.options import Answer
from parlour.training.werewolf import published


def import_werewolf(
    file: Annotated[Path, typer.Argument(help="Games, one per line, in the format published with GRATR.")],
    out: Annotated[Path, typer.Option(help="Directory for the records.")],
) -> Answer:
    """Check published games of Werewolf and write each as a record that `parlour metrics` counts.

    Such files do not contain speech and the order of deaths, so the games cannot be replayed through the rules: the
    result is a record (roles, winner, votes, choices at night, judgements), not a transcript. A game that contradicts
    the format or itself is refused, and nothing is written.

    Example: [bold]parlour import werewolf records_group1.jsonl --out runs/published[/bold]
    """
    return common.written(published.import_file(file, out), out)
