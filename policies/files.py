"""Files that are there whole or not at all, however a run may end; JSON, read with one clear error."""

from __future__ import annotations

import json
import lzma
import os
import pickle
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from parlour.envs.common.writing import writing
from parlour.envs.core import ParlourError

LOCK: Final = ".lock"
"""In the directory of a run that is at work: held by its process, whose number is in it; removed at its end."""
_PART: Final = re.compile(r"\.\d+\.([0-9a-f]{8}\.)?part-")

_UNREADABLE: Final = (
    *(
        OSError,
        EOFError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        AssertionError,
        RuntimeError,
        OverflowError,
    ),
    *(pickle.UnpicklingError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, MemoryError),
)
"""What NumPy, PyTorch and pickle raise for files that are damaged or of another kind."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path to write to; what is written takes the place of `path` when the block ends without an error.

    So nobody ever sees a file half-written, and two that write the same file do not meet. Folders are made. The path has the
    same ending, which some writers look at.

    Raises:
        CannotWrite: The system does not let the file be written; what was there is still there.
    """
    target = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    if target.exists() and not target.is_file():  # a pipe or a device is written to, not replaced; a folder is refused
        with writing(target, target):
            yield target
        return
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{os.getpid()}.{uuid4().hex[:8]}.part-{target.name}")
    try:
        with writing(target, part):
            yield part
        with writing(target):
            part.replace(target)
    finally:
        _remove(part)


def remove_parts(folder: Path) -> None:
    """Remove what killed processes left of files they were writing in a folder that no other process writes to.

    Folders within it are looked through, too, except for those that are locked on their own.
    """
    for part in folder.iterdir():
        if _PART.match(part.name):
            _remove(part)
        elif part.is_dir() and not part.is_symlink() and not (part / LOCK).exists():
            remove_parts(part)


def remove_parts_of(path: str | Path) -> None:
    """Remove what killed processes of this machine left of one file, in a folder that is nobody's run directory."""
    for part in Path(path).parent.glob(f".*.part-{escape(Path(path).name)}"):
        if _PART.match(part.name) and not _lives(int(part.name.split(".")[1])):
            _remove(part)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _remove(part: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)


def atomic_write(path: str | Path, content: str | bytes) -> None:
    """Replace a file as a whole; text is written in UTF-8."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: str | Path, value: Any) -> None:
    """Write plain values as JSON that a person can read and edit."""
    atomic_write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object. Raises `ParlourError` if the file cannot be read or holds something else."""
    try:
        value = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ParlourError(f"file {str(path)!r} cannot be used: {error}") from None
    if not isinstance(value, dict):
        raise ParlourError(f"file {str(path)!r} cannot be used; accepted: a JSON object")
    return value


@contextmanager
def reading(path: str | Path, missing: str, unusable: str) -> Iterator[None]:
    """Any error of the block in one line: `there is no {missing} PATH` or `PATH {unusable}`. Raises `ParlourError`."""
    try:
        yield
    except FileNotFoundError:
        raise ParlourError(f"there is no {missing} {str(path)!r}") from None
    except _UNREADABLE:
        raise ParlourError(f"{str(path)!r} {unusable}") from None
