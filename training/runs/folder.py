"""Files of a run directory: the lock, the configuration, results by lines, tables. `parlour.training.runs.run` puts them together.

A killed run leaves nothing that prevents its resumption: the lock ends with the process, a file is replaced as a whole, and a
last line that was not finished is cut off.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from parlour.envs.common.json_values import json_shown
from parlour.envs.common.writing import CannotWrite, LineFile, writing
from parlour.envs.core import ParlourError
from parlour.policies.files import LOCK, atomic_write, read_json, remove_parts, write_json

CONFIG: Final = "config.json"

T = TypeVar("T")


# -- the directory -----------------------------------------------------------------------------------------------


@contextmanager
def locked_directory(path: str | Path) -> Iterator[Path]:
    """Lock a directory, which is made if there is none, and remove what a killed process left half-written.

    Raises:
        ParlourError: Another run is at work in it, or it cannot be used; or at the end, it was removed meanwhile.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = _lock(folder)
    except OSError as error:
        raise ParlourError(f"{str(folder)!r} cannot be used: {error}; accepted: a folder") from None
    try:
        remove_parts(folder)
        yield folder
        if not _is_at(folder / LOCK, lock):
            raise CannotWrite(f"{str(folder)!r} was removed while the run was at work; accepted: a folder that stays")
    finally:
        if _is_at(folder / LOCK, lock):  # while it is held, so that it is ours
            with suppress(OSError):
                (folder / LOCK).unlink()
        os.close(lock)


def _lock(folder: Path) -> int:
    """The lock file, locked by this process and by no other; the system takes the lock back however the process ends."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise ParlourError("directories of runs need POSIX file locks; accepted: Linux or macOS") from None
    path = folder / LOCK
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            process = os.read(lock, 20).decode() or "unknown"
            os.close(lock)
            raise ParlourError(
                f"{str(folder)!r} is in use by another run (process {process}); accepted: another folder, or wait until "
                "it ends"
            ) from None
        if _is_at(path, lock):
            with suppress(OSError):  # a full disk: the lock holds without the number
                os.truncate(lock, 0)
                os.write(lock, str(os.getpid()).encode())
            return lock
        os.close(lock)  # that of a run which has just ended and removed it


def _is_at(path: Path, lock: int) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except OSError:  # it is gone, or its folder is
        return False


def store_settings(
    folder: Path, settings: Mapping[str, Any], may_differ: Collection[str] = (), file: str = CONFIG
) -> None:
    """Write the settings into the directory, or see that those that are there are the same except for those that `may_differ`.

    Raises:
        ParlourError: The directory holds a run with other settings.
    """
    path, wanted = folder / file, json.loads(json.dumps(settings))
    if path.exists():
        stored = read_json(path)
        names = [*stored, *(name for name in wanted if name not in stored)]
        if different := [name for name in names if name not in may_differ and stored.get(name) != wanted.get(name)]:
            text = ", ".join(f"{name} {json_shown(stored.get(name))}" for name in different)
            raise ParlourError(
                f"{str(folder)!r} holds a run with another configuration ({text}); accepted: the same, or a new folder"
            )
    write_json(path, wanted)


# -- results by lines --------------------------------------------------------------------------------------------


def whole_lines(path: Path, read: Callable[[list[str]], T]) -> T:
    """What `read` makes of the whole lines of a file, of none if there is no file; then cuts off what a kill left of another.

    A file that `read` refuses is left as it is.
    """
    content = path.read_bytes() if path.exists() else b""
    end = content.rfind(b"\n") + 1
    results = read(content[:end].decode().split("\n")[:-1])
    if end < len(content):
        with writing(path):
            os.truncate(path, end)
    return results


class JsonlStore(Generic[T]):
    """Results in a file, one JSON value a line, below a line that says what they are of.

    Args:
        path: The file; made if there is none.
        read: Makes a result of a JSON value; a ValueError, KeyError or TypeError says that it is none.
        what: Word for the whole, for errors.
        head: What the results are of, as plain values; None for a file without that line.

    Raises:
        ParlourError: The file is of something else, or holds what is no result.
    """

    def __init__(self, path: Path, read: Callable[[Any], T], what: str, head: Any = None) -> None:
        self._path, self._read, self._what = path, read, what
        self._head = None if head is None else json.loads(json.dumps(head))
        try:
            self.found: list[T] = whole_lines(path, self._results)
            """The results that are there, in the order of the lines."""
        except ParlourError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise ParlourError(f"{str(path)!r} cannot be used ({error}); accepted: what a {what} left") from None
        self._file = LineFile(path)
        if head is not None and not path.stat().st_size:
            self.append(head)

    def _results(self, lines: list[str]) -> list[T]:
        values = [json.loads(line) for line in lines]
        if self._head is not None and values and values.pop(0) != self._head:
            raise ParlourError(f"{str(self._path)!r} holds another {self._what}; accepted: the same, or a new folder")
        return [self._read(value) for value in values]

    def append(self, value: Any) -> None:
        """Write a result, as plain values. Raises `CannotWrite`."""
        self._file.write(json.dumps(value, ensure_ascii=False) + "\n")

    def __enter__(self) -> JsonlStore[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


# -- tables ------------------------------------------------------------------------------------------------------


def write_csv(path: Path, heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table as a whole; None becomes an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heading, *rows])
    atomic_write(path, text.getvalue())
