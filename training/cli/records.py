"""`parlour import` of games that others recorded, and `parlour export` of transcripts as records or chat messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs import replay
from parlour.envs.core import IllegalMove, ParlourError, accept
from parlour.training.records.avalon import importing as avalon
from parlour.training.records.in_words import AVALON_IN_WORDS, WEREWOLF_IN_WORDS
from parlour.training.records.json_objects import write_all
from parlour.training.records.messages import conversations
from parlour.training.records.reading import AUTO, RecordFormat, Refusal, formats_of
from parlour.training.records.werewolf import importing as werewolf
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable
from parlour.training.runs.folder import locked_directory

LEFT_OUT: Final = "left_out.csv"


def _named(formats: Sequence[RecordFormat]) -> str:
    return "|".join((AUTO, *(form.name for form in formats)))


def import_avalon(
    path: Annotated[Path, typer.Argument(), "Records of games: a file, one game a line, or a folder of such files."],
    out: Annotated[Path, "Directory for the transcripts."],
    form: Annotated[
        str,
        typer.Option("--format", metavar=_named(formats_of(avalon.GAME.id, avalon.FORMATS))),
        "auto: the first record tells.",
    ] = AUTO,
    logs: Annotated[Path | None, "Directory with the games' logs, for what was said (published-2023)."] = None,
) -> Report:
    """Replay recorded games of Avalon through the rules of their table and write them as transcripts.

    published-2023: games of Lan et al. 2023. words: yours, in the form of docs/howto/records.md. In these a game that
    contradicts the rules is refused, and nothing is written. A format of a plugin may leave out games that cannot be
    played, which are counted by reason.

    Example: [bold]parlour import avalon extracted.jsonl --logs avalon_logs --out runs/published[/bold]
    """
    refused: list[Refusal] = []
    with display.progress_line() as progress:
        files = avalon.import_records(path, out, logs, form=form, progress=progress, leave_out=refused.append)
    if not refused:
        return _written(files, out)
    rows = [(refusal.game, refusal.reason, refusal.message) for refusal in refused]
    ResultTable.plain("Games left out", ("game", "reason", "message"), rows).write_csv(out / LEFT_OUT)
    return replace(_written(files, out), parts=(tuple(_left_out(refused, len(files), out)),))


def import_werewolf(
    path: Annotated[Path, typer.Argument(), "Records of games: a file, one game a line, or a folder of such files."],
    out: Annotated[Path, "Directory for the transcripts or records."],
    form: Annotated[
        str,
        typer.Option("--format", metavar=_named(formats_of(werewolf.GAME.id, werewolf.FORMATS))),
        "auto: by the first record.",
    ] = AUTO,
) -> Report:
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


def _written(files: Sequence[Path], out: Path) -> Report:
    return Report("", parts=((f"{len(files)} games written to {out}",),), values=list(map(str, files)))


_WORDS: Final = "words"
_MESSAGES: Final = "messages"
_FORMS: Final = (AVALON_IN_WORDS, WEREWOLF_IN_WORDS)


@display.progress_line("Reading transcripts")
def export(
    path: Annotated[Path, typer.Argument(), "A transcript, or a directory with transcripts."],
    out: Annotated[Path, "File for the records, one a line."],
    format: Annotated[
        str, "words: one record a game (Avalon, Werewolf); messages: chat messages of each seat, of any game."
    ] = _WORDS,
    won: Annotated[bool, "With messages: keep only seats with a positive return."] = False,
    cases: Annotated[
        list[Path] | None,
        "Folder with cases that a transcript may name, repeatable; None: only cases that are shipped or made from a seed.",
    ] = None,
) -> Report:
    """Write transcripts as records, or as chat messages for fine-tuning. docs/howto/records.md describes both forms.

    Players are called player_0 and so on. `parlour import` of records in the form `words` gives the same rules and moves again.

    Example: [bold]parlour export runs/games --out games.jsonl[/bold]
    """
    if format not in (_WORDS, _MESSAGES):
        raise accept("format", format, (_WORDS, _MESSAGES))
    if (won or cases) and format != _MESSAGES:
        raise ParlourError(f"--won and --cases with --format {format} are not accepted; accepted: --format {_MESSAGES}")
    files = replay.Transcript.files(path) if path.is_dir() else [path]
    records = [_record(file) for file in files] if format == _WORDS else list(_conversations(files, won, cases or ()))
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    write_all(out.parent, {out: text.encode("utf-8", "backslashreplace")}, locked_directory)
    what = "games" if format == _WORDS else f"conversations of {len(files)} games"
    return Report("", parts=((f"{len(records)} {what} written to {out}",),), values=records)


def _conversations(files: list[Path], won: bool, cases: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Those of all files. Raises `ParlourError` with the file's name."""
    for file in files:
        try:
            chats = list(conversations(replay.Transcript.read(file, folders=cases)))
        except IllegalMove as error:
            raise ParlourError(f"{str(file)!r}: {error}") from None
        yield from (chat for chat in chats if not won or (chat["return"] or 0) > 0)


def _record(file: Path) -> dict[str, Any]:
    transcript = replay.Transcript.read(file)
    for form in _FORMS:
        if form.spec.id == transcript.header["game"]:
            return form.record_of(transcript, file.stem)
    raise accept("game", transcript.header["game"], [form.spec.id for form in _FORMS])
