"""Writing files: what the system refuses (a full disk, a folder that is gone or may not be written to) is one clear error.

Errors of the system have the names of errno(3). `parlour.policies.files` replaces whole files; a `LineFile` grows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parlour.envs.core import ParlourError


class CannotWrite(ParlourError):  # noqa: N818 - named for what happened
    """The system does not let a file be written. It ends a run: nothing would go better after it."""


@contextmanager
def writing(path: str | Path, place: str | Path | None = None) -> Iterator[None]:
    """Errors of the system that come from writing a file, as `CannotWrite`.

    Args:
        path: The file, for the message.
        place: Where it is written meanwhile: an error that names another file is let through. None: every error is meant.
    """
    try:
        yield
    except OSError as error:
        if place is not None and error.filename not in (None, str(place)):
            raise
        made = isinstance(error, FileExistsError)  # by mkdir(2)
        why = "a file stands where its folder would" if made else error.strerror or type(error).__name__
        raise CannotWrite(
            f"{str(path)!r} cannot be written: {why}; accepted: a folder that is there, with room, and may be written to"
        ) from None


class LineFile:
    """A file that grows by lines; each is with the system before `write` returns, so that a kill leaves whole ones.

    Args:
        path: The file. Folders are made.
        anew: Replace the file; otherwise append.
        private: Nobody but the owner of the process may read a file that is made.

    Raises:
        CannotWrite: The system does not let it be written.
    """

    def __init__(self, path: str | Path, *, anew: bool = False, private: bool = False) -> None:
        self.path = Path(path)
        with writing(path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            mode = 0o600 if private else 0o666  # less the umask
            self._file = open(  # noqa: SIM115 - `close` closes it
                self.path, "wb" if anew else "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, mode)
            )

    def write(self, line: str) -> None:
        """Add a line, which ends with its line break. Raises `CannotWrite`: also for a file that was removed meanwhile."""
        rest = memoryview(line.encode())
        with writing(self.path):
            while rest:  # a disk that is nearly full takes a part
                rest = rest[self._file.write(rest) or 0 :]
            if not os.fstat(self._file.fileno()).st_nlink:
                raise FileNotFoundError(None, "it was removed while it was written")

    def close(self) -> None:
        """No line follows."""
        with writing(self.path):
            self._file.close()
