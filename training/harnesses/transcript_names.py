"""Names of the transcripts in a server's folder: random and private while a game is played, numbered when it is over."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from parlour.envs.common.writing import writing


def name_in_progress(folder: Path) -> Path:
    """A file for a game that is being played, which nobody can guess."""
    return folder / f"playing-{secrets.token_hex(16)}.jsonl"


def last_number(folder: Path, game: str) -> int:
    """The highest number of a game's transcripts in a folder; 0 if it has none."""
    pattern = re.compile(rf"{re.escape(game)}-([0-9]{{1,18}})\.jsonl")
    names = os.listdir(folder) if folder.is_dir() else []
    return max((int(match[1]) for match in map(pattern.fullmatch, names) if match), default=0)


def finish(path: Path, game: str, number: int) -> None:
    """Give a game that is over its number, or the next free number. Raises `CannotWrite`."""
    if not path.exists():
        return
    with writing(path):
        while True:
            named = path.with_name(f"{game}-{number}.jsonl")
            try:
                os.close(os.open(named, os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:  # another server writes to this folder
                number += 1
                continue
            os.replace(path, named)
            return


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder; 0 without it."""
    if not folder.is_dir():
        return 0
    with os.scandir(folder) as entries:
        return sum(_size(entry) for entry in entries)


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size if entry.is_file() else 0
    except FileNotFoundError:  # a game was over meanwhile, and its file renamed
        return 0
