"""Faults of the disk and kills at a chosen place of a command's writing, set within its own process.

Places are counted over all files of one folder: the operations on it (files opened for writing, renamed, removed, cut off;
folders made), which Python announces to audit hooks (PEP 578) before they happen, and the bytes that are written.
"""

from __future__ import annotations

import atexit
import builtins
import errno
import io
import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

OPERATION, BYTE, FULL, SIZE, COUNT = "operation", "byte", "full", "size", "count"
"""Kill before an operation, kill within a write, no room from a byte on, no file longer than that, only count."""
_EVENTS = {"os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir", "sqlite3.connect"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class _Strike:
    """What was written in the folder so far, and where to strike."""

    def __init__(self, place: str, number: int, folder: str) -> None:
        self.place, self.number, self.folder = place, number, folder
        self.operations = self.bytes = 0

    def inside(self, path: Any) -> bool:
        return isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith(self.folder)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook."""
        writes = event in _EVENTS or (event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING)
        if writes and self.inside(arguments[0]):
            if self.place == OPERATION and self.operations == self.number:
                os.kill(os.getpid(), signal.SIGKILL)
            self.operations += 1

    def room(self, wanted: int) -> int:
        """How many of these bytes are written."""
        left = wanted if self.place not in (BYTE, FULL) else min(wanted, self.number - self.bytes)
        self.bytes += left
        return left

    def counts(self) -> dict[str, int]:
        return {"operations": self.operations, "bytes": self.bytes}


class _Struck(io.FileIO):
    """A file as a nearly full disk gives it: it takes what there is room for, then nothing (write(2))."""

    def __init__(self, strike: _Strike, *given: Any) -> None:
        super().__init__(*given)
        self._strike = strike

    def write(self, content: Any) -> int:
        wanted = memoryview(content).cast("B")
        left = self._strike.room(len(wanted))
        written = super().write(wanted[:left]) if left else 0
        if left < len(wanted) and self._strike.place == BYTE:
            os.kill(os.getpid(), signal.SIGKILL)
        if wanted and not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written


def strike_at(place: str, number: int, folder: str, log: str) -> None:
    """From now on count what this process writes in a folder, and strike at a place; at the end `log.count` tells both counts."""
    if place == SIZE:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (number, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        return
    strike = _Strike(place, number, os.path.realpath(folder))
    _patch(strike)
    import sys

    sys.addaudithook(strike.hear)
    if place == COUNT:
        atexit.register(lambda: Path(log + ".count").write_text(json.dumps(strike.counts())))


def _patch(strike: _Strike) -> None:
    """Files that are opened for writing in the folder are `_Struck`."""
    real = io.open

    def opened(
        file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None,
        closefd: bool = True, opener: Any = None,
    ) -> Any:  # fmt: skip
        if not set("wax+") & set(mode) or not strike.inside(file):
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = _Struck(strike, file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if buffering == 0:
            return raw
        buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline)

    io.open = builtins.open = opened
