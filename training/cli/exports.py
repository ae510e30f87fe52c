"""`parlour export`: transcripts in the form in which anybody may bring records of games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs import replay
from parlour.envs.core import accept
from parlour.envs.terminal import tell
from parlour.training.cli.options import Answer
from parlour.training.records.in_words import AVALON_IN_WORDS, WEREWOLF_IN_WORDS
from parlour.training.records.json_objects import write_all
from parlour.training.results import display
from parlour.training.results.runs import run_directory

_FORMS: Final = (AVALON_IN_WORDS, WEREWOLF_IN_WORDS)


@display.progress_line("Reading transcripts")
def export(
    path: Annotated[Path, typer.Argument(), "A transcript, or a directory with transcripts."],
    out: Annotated[Path, "File for the records, one game a line."],
) -> Answer:
    """Write transcripts of Avalon and Werewolf as records in the form `words`, which docs/howto/records.md describes.

    Players are called player_0 and so on. `parlour import` of this record gives the same rules and moves again.

    Example: [bold]parlour export runs/games --out games.jsonl[/bold]
    """
    records = [_record(file) for file in _files(path)]
    text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    write_all(out.parent, {out: text.encode("utf-8", "backslashreplace")}, run_directory)
    return Answer(records, partial(tell, f"{len(records)} games written to {out}"))


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from replay.transcript_files(path)
    else:
        yield path


def _record(file: Path) -> dict[str, Any]:
    transcript = replay.read(file)
    for form in _FORMS:
        if form.spec.id == transcript.header["game"]:
            return form.record_of(transcript, file.stem)
    raise accept("game", transcript.header["game"], [form.spec.id for form in _FORMS])
