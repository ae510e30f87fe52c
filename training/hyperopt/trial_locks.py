"""Which process works at which trial: locks on the bytes of a file, which the system takes back when a process ends.

The kernel drops POSIX record locks of a process however it ends, SIGKILL included, so that no lock is ever left over and
none has to be timed out. Byte 0 stands for the study, byte 1 + n for trial n. Needs a POSIX system.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class TrialLocks:
    """The trials of this process. One object for a file in a process: closing it gives up all of them.

    Args:
        path: The file, made if there is none; it stays empty.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other process is in here."""
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, 0)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, 0)

    def take(self, number: int) -> bool:
        """Lock a trial; False if another living process has it."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 1 + number)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def leave(self, number: int) -> None:
        """Give up a trial."""
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, 1 + number)

    def close(self) -> None:
        """Give up all trials."""
        os.close(self._file)
