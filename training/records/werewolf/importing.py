"""Records of games of Werewolf that others played: formats, and how their files become transcripts or records of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.envs.werewolf import GAME
from parlour.training.records.in_words import WEREWOLF_IN_WORDS
from parlour.training.records.json_objects import write_games
from parlour.training.records.reading import AUTO, formats_of, read_as
from parlour.training.records.werewolf.published import GRATR
from parlour.training.runs.folder import locked_directory
from parlour.training.runs.progress import StageProgress, no_progress

FORMATS: Final = (GRATR, WEREWOLF_IN_WORDS.format)


def import_records(
    path: str | Path, out_dir: str | Path, *, form: str = AUTO, progress: StageProgress = no_progress
) -> list[Path]:
    """Write a file for each game of a file or folder, all of them or none.

    Games of the format `gratr` become records of our own (`<out_dir>/werewolf-<game>.jsonl`, see `published`), games of the
    format `words` become transcripts (`<out_dir>/<game_id>.jsonl`).

    Returns:
        The files, in the order of the games. An existing identical file is left alone.

    Raises:
        ParlourError: See `parlour.training.records.reading.read_as`; or another file is in the way, or the folder cannot
            be written to.
    """
    return write_games(out_dir, read_as(formats_of(GAME.id, FORMATS), path, None, form, progress), locked_directory)
