"""The formats of records of Avalon, and how files of them become transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.training.records.avalon.in_words import AVALON_IN_WORDS
from parlour.training.records.avalon.multi_round import GPT51
from parlour.training.records.avalon.proavalon import PROAVALON
from parlour.training.records.avalon.published_2023 import PUBLISHED_2023
from parlour.training.records.importing import AUTO, read_as
from parlour.training.records.json_objects import write_games
from parlour.training.results.runs import run_directory

FORMATS: Final = (GPT51, PUBLISHED_2023, PROAVALON, AVALON_IN_WORDS.format)


def import_records(
    path: str | Path, out_dir: str | Path, logs: str | Path | None = None, *, form: str = AUTO
) -> list[Path]:
    """Write `<out_dir>/<game>.jsonl` for each game of a file or folder, all of them or none; otherwise as `transcripts`.

    Returns:
        The transcripts, in the order of the records. One that is there already, byte for byte, is left alone.

    Raises:
        ParlourError: See `transcripts`; or another file is in the way, or the folder cannot be written to.
    """
    return write_games(out_dir, transcripts(path, logs, form=form), run_directory)


def transcripts(path: str | Path, logs: str | Path | None = None, *, form: str = AUTO) -> dict[str, str]:
    """The transcript of each game of a file or folder by name; see `parlour.training.records.importing.read_as`."""
    return read_as(FORMATS, path, logs, form)
