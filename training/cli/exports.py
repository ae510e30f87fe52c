"""`parlour export`: transcripts as records in the form `words`, or as chat messages for fine-tuning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs import replay
from parlour.envs.core import IllegalMove, ParlourError, accept
from parlour.envs.terminal import tell
from parlour.training.cli.options import Answer
from parlour.training.records.in_words import AVALON_IN_WORDS, WEREWOLF_IN_WORDS
from parlour.training.records.json_objects import write_all
from parlour.training.records.messages import conversations
from parlour.training.results import display
from parlour.training.results.runs import run_directory

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
) -> Answer:
    """Write transcripts as records, or as chat messages for fine-tuning. docs/howto/records.md describes both forms.

    Players are called player_0 and so on. `parlour import` of records in the form `words` gives the same rules and moves again.

    Example: [bold]parlour export runs/games --out games.jsonl[/bold]
    """
    if format not in (_WORDS, _MESSAGES):
        raise accept("format", format, (_WORDS, _MESSAGES))
    if (won or cases) and format != _MESSAGES:
        raise ParlourError(f"--won and --cases with --format {format} are not accepted; accepted: --format {_MESSAGES}")
    files = replay.transcript_files(path) if path.is_dir() else [path]
    records = [_record(file) for file in files] if format == _WORDS else list(_conversations(files, won, cases or ()))
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    write_all(out.parent, {out: text.encode("utf-8", "backslashreplace")}, run_directory)
    what = "games" if format == _WORDS else f"conversations of {len(files)} games"
    return Answer(records, partial(tell, f"{len(records)} {what} written to {out}"))


def _conversations(files: list[Path], won: bool, cases: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """Those of all files. Raises `ParlourError` with the file's name."""
    for file in files:
        try:
            chats = list(conversations(replay.read(file, folders=cases)))
        except IllegalMove as error:
            raise ParlourError(f"{str(file)!r}: {error}") from None
        yield from (chat for chat in chats if not won or (chat["return"] or 0) > 0)


def _record(file: Path) -> dict[str, Any]:
    transcript = replay.read(file)
    for form in _FORMS:
        if form.spec.id == transcript.header["game"]:
            return form.record_of(transcript, file.stem)
    raise accept("game", transcript.header["game"], [form.spec.id for form in _FORMS])
