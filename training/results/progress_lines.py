"""Progress where there is no terminal to draw bars in: a line on standard error every ten seconds, while work is under way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from time import monotonic
from typing import Final, TypeVar

from parlour.envs.terminal import tell

EVERY: Final = 10.0
"""Seconds between two lines."""
_JOINED: Final = 1.0  # seconds that the end waits for a line that is being written

T = TypeVar("T")


@dataclass
class _Task:
    description: str
    total: float
    done: float = 0


class ProgressLines:
    """Takes the calls that `rich.progress.Progress` takes here, and reports the newest unfinished task.

    The first line comes after `EVERY` seconds: what is done sooner tells nothing.

    Args:
        clock: Seconds, from anywhere.
        wait: Waits for so many seconds; true if the work ended meanwhile. None: in a thread of its own.
        say: Where lines go.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], bool] | None = None,
        say: Callable[[str], None] = lambda line: tell(line, error=True),
    ) -> None:
        self._clock, self._say = clock, say
        self._ended = Event()
        self._wait = wait or self._ended.wait
        self._tasks: list[_Task] = []
        self._began = clock()
        self._thread: Thread | None = None

    def run(self) -> None:
        """Say a line every `EVERY` seconds until the work ends."""
        while not self._wait(EVERY):
            self._say(self.line())

    def begin(self) -> None:
        """Run in a thread, until `end`."""
        self._thread = Thread(target=self.run, name="progress", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """The work is over, or has failed."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(_JOINED)

    def line(self) -> str:
        """How the work stands.

        >>> lines = ProgressLines(clock=iter([0.0, 30.0]).__next__)
        >>> _ = lines.add_task("games", total=40)
        >>> lines.advance(0, 10)
        >>> lines.line()
        'parlour: games: 10 of 40, 30 s'
        """
        seconds = f"{self._clock() - self._began:.0f} s"
        if not self._tasks:
            return f"parlour: at work, {seconds}"
        unfinished = [task for task in self._tasks if task.done < task.total]
        task = (unfinished or self._tasks)[-1]
        return f"parlour: {task.description}: {task.done:,.0f} of {task.total:,.0f}, {seconds}"

    # -- as rich has them ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Nothing to draw."""

    def add_task(self, description: str, total: float) -> int:
        """A task begins; returns its number."""
        self._tasks.append(_Task(description, total))
        return len(self._tasks) - 1

    def advance(self, task: int, steps: float = 1) -> None:
        """So many more steps are done."""
        self._tasks[task].done += steps

    def update(self, task: int, *, completed: float | None = None, description: str | None = None) -> None:
        """So many steps are done in all; the task is called so."""
        found = self._tasks[task]
        found.done = found.done if completed is None else completed
        found.description = found.description if description is None else description

    def track(self, items: Sequence[T], total: float, description: str) -> Iterable[T]:
        """The items, each counted when the next one is asked for."""

        def counted(task: int) -> Iterator[T]:
            for item in items:
                yield item
                self.advance(task)

        return counted(self.add_task(description, total))
