"""What a process holds, second by second: memory, threads, open files; and a server of parlour's own in a process.

Linux only: read from /proc.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

MOST_GROWTH = 0.1
"""Memory is level if the last fifth holds no more than this share more than the second fifth, plus `SLACK`."""
SLACK = 10.0
"""MB."""


class Usage(NamedTuple):
    """At one moment."""

    memory: float
    """Resident, in MB."""
    threads: int
    files: int


def measured(pid: int) -> Usage:
    """What a process holds now."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    memory, threads = (int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[1]) for name in ("VmRSS", "Threads"))
    return Usage(memory / 1024, threads, len(os.listdir(f"/proc/{pid}/fd")))


def open_files(pid: int) -> list[str]:
    """What a process has open, by name."""
    names = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            names.append(os.readlink(file))
    return sorted(names)


class Watch:
    """Looks at a process once a second, in a thread. A context manager."""

    def __init__(self, name: str, pid: int) -> None:
        self.name, self._pid, self.seen = name, pid, [measured(pid)]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(1.0):
            self.seen.append(measured(self._pid))

    @property
    def level(self) -> bool:
        """Whether its memory did not grow."""
        _, early, *_, late = self._fifths()
        return late <= early * (1 + MOST_GROWTH) + SLACK

    def show(self) -> None:
        """Print memory over time, and the ends of everything."""
        text = " ".join(f"{fifth:.0f}" for fifth in self._fifths())
        most = Usage(*(max(values) for values in zip(*self.seen, strict=True)))
        print(
            f"{self.name}: memory {text} MB (mean of each fifth), most {most.memory:.0f}: {'' if self.level else 'NOT '}level; "
            f"threads {self.seen[0].threads} .. {self.seen[-1].threads}, most {most.threads}; "
            f"open files {self.seen[0].files} .. {self.seen[-1].files}, most {most.files}"
        )

    def _fifths(self) -> list[float]:
        n = len(self.seen)
        parts = [self.seen[n * k // 5 : max(n * k // 5 + 1, n * (k + 1) // 5)] for k in range(5)]
        return [sum(moment.memory for moment in part) / len(part) for part in parts]


@contextmanager
def server(*options: str) -> Iterator[tuple[str, int]]:
    """`parlour serve` in a process of its own: its address, and its number."""
    code = "import sys; from parlour.training.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            yield re.search(r"http://\S+/v1", line)[0], process.pid
        finally:
            process.terminate()
            process.wait(20)
