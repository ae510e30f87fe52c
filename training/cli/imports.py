"""`parlour import avalon`, `parlour import werewolf`: published games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.terminal import tell
from parlour.training.avalon import published_games
from parlour.training.cli.options import Answer
from parlour.training.werewolf import published


def import_avalon(
    file: Annotated[Path, typer.Argument(), "Games, one per line, in the format of `extracted.jsonl`."],
    out: Annotated[Path, "Directory for the transcripts."],
    logs: Annotated[Path | None, "Directory with the games' logs, for what was said."] = None,
) -> Answer:
    """Replay published games of Avalon through the rules (preset `reference`) and write them as transcripts.

    A game that contradicts the rules is refused, and nothing is written.

    Example: [bold]parlour import avalon extracted.jsonl --out runs/published[/bold]
    """
    return _written(published_games.import_file(file, out, logs), out)


def import_werewolf(
    file: Annotated[Path, typer.Argument(), "Games, one per line, in the format published with GRATR."],
    out: Annotated[Path, "Directory for the records."],
) -> Answer:
    """Check published games of Werewolf and write each as a record that `parlour metrics` counts.

    Such files do not contain speech and the order of deaths, so the games cannot be replayed through the rules: the
    result is a record (roles, winner, votes, choices at night, judgements), not a transcript. A game that contradicts
    the format or itself is refused, and nothing is written.

    Example: [bold]parlour import werewolf records_group1.jsonl --out runs/published[/bold]
    """
    return _written(published.import_file(file, out), out)


def _written(files: Sequence[Path], out: Path) -> Answer:
    return Answer(list(map(str, files)), partial(tell, f"{len(files)} games written to {out}"))
