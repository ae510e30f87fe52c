"""Records of games of Avalon that others played: read, held against the rules, and written as transcripts.

`import_records` knows the formats; docs/howto/records.md describes them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from parlour.envs.avalon import GAME
from parlour.envs.avalon.rules import Avalon
from parlour.envs.core import accept
from parlour.envs.replay import Transcript
from parlour.training.records.avalon.published_2023 import PUBLISHED_2023
from parlour.training.records.in_words import AVALON_IN_WORDS
from parlour.training.records.json_objects import write_games
from parlour.training.records.reading import AUTO, Refusal, formats_of, read_as, refuse_file
from parlour.training.runs.folder import locked_directory
from parlour.training.runs.progress import StageProgress, no_progress

FORMATS: Final = (PUBLISHED_2023, AVALON_IN_WORDS.format)
"""The formats of parlour."""


def import_records(
    path: str | Path,
    out_dir: str | Path,
    logs: str | Path | None = None,
    *,
    form: str = AUTO,
    progress: StageProgress = no_progress,
    leave_out: Callable[[Refusal], None] = refuse_file,
) -> list[Path]:
    """Write `<out_dir>/<game>.jsonl` for each game of a file or folder, all of them or none, besides those left out; otherwise as `transcripts`.

    Returns:
        The transcripts, in the order of the records. An existing identical file is left alone.

    Raises:
        ParlourError: See `transcripts`; or another file is in the way, or the folder cannot be written to.
    """
    return write_games(
        out_dir, transcripts(path, logs, form=form, progress=progress, leave_out=leave_out), locked_directory
    )


def transcripts(
    path: str | Path,
    logs: str | Path | None = None,
    *,
    form: str = AUTO,
    progress: StageProgress = no_progress,
    leave_out: Callable[[Refusal], None] = refuse_file,
) -> dict[str, str]:
    """The transcript of each game of a file or folder by name; see `parlour.training.records.reading.read_as`."""
    return read_as(formats_of(GAME.id, FORMATS), path, logs, form, progress, leave_out)


def check_avalon(transcript: Transcript) -> None:
    """Refuse a transcript of another game than Avalon, by its own rules or by a package's. Raises `ParlourError`."""
    if not isinstance(transcript.game(), Avalon):
        raise accept("game", transcript.header["game"], GAME.id)
