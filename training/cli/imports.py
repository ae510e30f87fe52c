"""`parlour import avalon`, `parlour import werewolf`: published games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.terminal import tell
from parlour.training.avalon.records import AUTO, FORMATS, import_records
from parlour.training.cli.options import Answer
from parlour.training.werewolf import published


def import_avalon(
    path: Annotated[Path, typer.Argument(), "Records of games: a file, one game a line, or a folder of such files."],
    out: Annotated[Path, "Directory for the transcripts."],
    form: Annotated[
        str, typer.Option("--format", metavar="|".join((AUTO, *FORMATS))), "auto: the first record tells."
    ] = AUTO,
    logs: Annotated[Path | None, "Directory with the games' logs, for what was said (published-2023)."] = None,
) -> Answer:
    """Replay recorded games of Avalon through the rules of their table and write them as transcripts.

    gpt51: games of language models with every word. published-2023: those of Lan et al. 2023. A game that contradicts
    the rules is refused, and nothing is written. The forms are described in docs/records.md.

    Example: [bold]parlour import avalon gpt51_avalon --out runs/gpt51[/bold]
    """
    return _written(import_records(path, out, logs, form=form), out)


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
