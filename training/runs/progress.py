"""Progress of long work as one line of text: what is done, the share, the present metric, the time that is left.

`parlour.training.report.display.progress_line` shows it: redrawn in a terminal, else as a plain line from time to time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol, TypeVar

SOON: Final = 5.0
"""Seconds until the first plain line, and of the shortest stage whose end is shown."""
_LATEST: Final = 60.0
"""The longest wait between two plain lines, in seconds."""

T = TypeVar("T")


@dataclass(frozen=True)
class Stage:
    """A part of long work whose steps are counted."""

    name: str
    """Such as "Training"."""
    total: int
    """Number of steps."""
    unit: str = ""
    """What a step is, in the plural, such as "decisions"; empty: only the share is shown."""

    def counted(self, items: Iterable[T], progress: StageProgress) -> Iterator[T]:
        """The `total` items; each counts when the next is requested."""
        progress(self, 0)
        for done, item in enumerate(items, 1):
            yield item
            progress(self, done)


class StageProgress(Protocol):
    """Called with a stage, the steps done so far, and the present metric in words; the first call of a stage starts its clock."""

    def __call__(self, stage: Stage, done: float, note: str = "", /) -> None: ...


def no_progress(_stage: Stage, _done: float, _note: str = "", /) -> None:
    """Show nothing."""


def pause(elapsed: float) -> float:
    """Seconds from one plain line to the next: 5 at first, a quarter of the elapsed time later, a minute at most.

    >>> [pause(elapsed) for elapsed in (0, 40, 3600)]
    [5.0, 10.0, 60.0]
    """
    return min(_LATEST, max(SOON, elapsed / 4))


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    >>> [duration(seconds) for seconds in (0.4, 80, 3600, 7500)]
    ['0 s', '1 min 20 s', '1 h', '2 h 5 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    large, small, names = (
        (*divmod(whole, 60), ("min", "s")) if whole < 3600 else (*divmod(whole // 60, 60), ("h", "min"))
    )
    return f"{large} {names[0]} {small} {names[1]}" if small else f"{large} {names[0]}"


class ProgressLine:
    """How work stands. Satisfies `StageProgress`; threads may call it.

    Args:
        what: What is done before the first stage.
        clock: Seconds, from anywhere.
        ended: Called with a line of text for each stage that is over, if it took `SOON` seconds or more.
        awaited: What is waited for at the moment, in words, such as the replies of a language model; empty for nothing.
    """

    def __init__(
        self,
        what: str,
        clock: Callable[[], float] = monotonic,
        ended: Callable[[str], None] = lambda _line: None,
        awaited: Callable[[], str] = str,
    ) -> None:
        self._what, self._clock, self._ended, self._awaited = what, clock, ended, awaited
        self._stage: Stage | None = None
        self._note = ""
        self._began = self._updated = clock()
        self._first = self._done = 0.0

    def __call__(self, stage: Stage, done: float, note: str = "", /) -> None:
        now = self._clock()
        if stage != self._stage or done < self._done:
            self.close()
            self._stage, self._note, self._began, self._first = stage, "", now, done
        self._done, self._updated, self._note = done, now, note or self._note

    @property
    def elapsed(self) -> float:
        """Seconds since the stage began."""
        return self._clock() - self._began

    @property
    def share(self) -> float:
        """How much of the stage is done, 0 to 1."""
        return 0.0 if self._stage is None else min(1.0, self._done / max(1, self._stage.total))

    def line(self) -> str:
        """How the stage stands.

        >>> line = ProgressLine("Preparing", clock=iter([0.0, 0.0, 20.0, 20.0, 50.0]).__next__)
        >>> training = Stage("Training", 400, "decisions")
        >>> line(training, 0)
        >>> line(training, 100, "win rate 0.56")
        >>> line.line()
        'Training: 25 % · 100 of 400 decisions · win rate 0.56 · 1 min left'
        >>> line.line()
        'Training: 25 % · 100 of 400 decisions · win rate 0.56 · 1 min left, as of 30 s ago'
        """
        if self._stage is None:
            return " · ".join(filter(None, (self._what, duration(self.elapsed), self._awaited())))
        counted = f"{self._done:,.0f} of {self._stage.total:,} {self._stage.unit}" if self._stage.unit else ""
        parts = (f"{self._stage.name}: {100 * self.share:.0f} %", counted, self._note, self._awaited(), self._left())
        return " · ".join(filter(None, parts))

    def _left(self) -> str:
        """The time that was left at the last step, at the speed so far, and how old that is; empty before the first step."""
        stage, done = self._stage, self._done - self._first
        if stage is None or done <= 0 or self._done >= stage.total:
            return ""
        left = (self._updated - self._began) * (stage.total - self._done) / done
        age = self._clock() - self._updated
        return f"{duration(left)} left" + (f", as of {duration(age)} ago" if age >= SOON else "")

    def close(self) -> None:
        """The stage is over."""
        if self._stage is not None and self.elapsed >= SOON:
            counted = f"{self._done:,.0f} {self._stage.unit}" if self._stage.unit else f"{100 * self.share:.0f} %"
            parts = (f"{self._stage.name}: {counted}", self._note, f"took {duration(self.elapsed)}")
            self._ended(" · ".join(filter(None, parts)))
        self._stage, self._done, self._note = None, 0.0, ""
