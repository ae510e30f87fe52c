"""`parlour import avalon`, `parlour import werewolf`: games that others recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.envs.terminal import tell, tell_text
from parlour.training.cli.options import Answer
from parlour.training.records import werewolf
from parlour.training.records.avalon import FORMATS, import_records
from parlour.training.records.reading import AUTO, RecordFormat, Refusal
from parlour.training.results import display
from parlour.training.results.runs import write_csv

LEFT_OUT: Final = "left_out.csv"


def _named(formats: Sequence[RecordFormat]) -> str:
    return "|".join((AUTO, *(form.name for form in formats)))


def import_avalon(
    path: Annotated[Path, typer.Argument(), "Records of games: a file, one game a line, or a folder of such files."],
    out: Annotated[Path, "Directory for the transcripts."],
    form: Annotated[str, typer.Option("--format", metavar=_named(FORMATS)), "auto: the first record tells."] = AUTO,
    logs: Annotated[Path | None, "Directory with the games' logs, for what was said (published-2023)."] = None,
) -> Answer:
    """Replay recorded games of Avalon through the rules of their table and write them as transcripts.

    gpt51: games of language models with every word. published-2023: games of Lan et al. 2023. proavalon: records of that
    site. avalonlogs: games of people on avalongame.online; games that cannot be played are left out and counted by reason.
    words: yours, in the form of docs/howto/records.md. In the other formats a game that contradicts the rules is refused, and
    nothing is written.

    Example: [bold]parlour import avalon gpt51_avalon --out runs/gpt51[/bold]
    """
    refused: list[Refusal] = []
    with display.progress_line() as progress:
        files = import_records(path, out, logs, form=form, progress=progress, leave_out=refused.append)
    written = _written(files, out)
    if not refused:
        return written
    rows = [(refusal.game, refusal.reason, refusal.message) for refusal in refused]
    write_csv(out / LEFT_OUT, ("game", "reason", "message"), rows)
    return written._replace(show=lambda: tell_text("\n".join(_left_out(refused, len(files), out))))


def import_werewolf(
    path: Annotated[Path, typer.Argument(), "Records of games: a file, one game a line, or a folder of such files."],
    out: Annotated[Path, "Directory for the transcripts or records."],
    form: Annotated[
        str, typer.Option("--format", metavar=_named(werewolf.FORMATS)), "auto: by the first record."
    ] = AUTO,
) -> Answer:
    """Replay recorded games of Werewolf, or check published ones, and write them as transcripts or records.

    words: games with all moves and speech, in the form of docs/howto/records.md; they become
    transcripts. gratr: the games published with GRATR, which do not contain speech and the order of deaths and cannot be
    replayed; they become records (roles, winner, votes, choices at night, judgements) that `parlour metrics` counts. A
    game that contradicts the rules, the format or itself is refused, and nothing is written.

    Example: [bold]parlour import werewolf records_group1.jsonl --out runs/published[/bold]
    """
    with display.progress_line() as progress:
        return _written(werewolf.import_records(path, out, form=form, progress=progress), out)


def _left_out(refused: Sequence[Refusal], written: int, out: Path) -> list[str]:
    """How many games were written, and how many left out for which reason."""
    games = written + len(refused)
    lines = [
        f"{written:,} of {games:,} games written to {out}",
        f"{len(refused):,} games left out ({len(refused) / games:.2%}), listed in {out / LEFT_OUT}:",
    ]
    for reason, count in Counter(refusal.reason for refusal in refused).most_common():
        first = next(refusal.game for refusal in refused if refusal.reason == reason)
        lines.append(f"  {count:,} ({count / games:.2%}): {reason}; the first is {first}")
    return lines


def _written(files: Sequence[Path], out: Path) -> Answer:
    return Answer(list(map(str, files)), partial(tell, f"{len(files)} games written to {out}"))
