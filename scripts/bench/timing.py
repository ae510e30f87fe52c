"""What the benchmarks share: times of calls, taken in rounds, and the range they lie in.

As in Python's timeit, the garbage collector is off while the clock runs. Rounds go through all candidates in turn and the
median over rounds is quoted: what slows the machine for a while slows all of them.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple

from parlour.training.report.display import show_table

__all__ = ["Spread", "in_rounds", "median", "seconds", "show_table", "without_collector"]

median = statistics.median


class Spread(NamedTuple):
    """What a candidate measured over all rounds."""

    low: float
    median: float
    high: float

    @property
    def texts(self) -> tuple[str, str]:
        """The median, and the lowest and the highest."""
        return f"{self.median:,.0f}", f"{self.low:,.0f} .. {self.high:,.0f}"


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect garbage, and then no more until the end of the block."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(call: Callable[..., object], *arguments: object, clock: Callable[[], float] = perf_counter) -> float:
    """How long a call takes."""
    started = clock()
    call(*arguments)
    return clock() - started


def in_rounds(candidates: Mapping[str, Callable[[], float]], rounds: Iterable[int]) -> dict[str, Spread]:
    """Let every candidate measure itself once in each round."""
    measured: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in rounds:
        for name, run in candidates.items():
            with without_collector():
                measured[name].append(run())
    return {name: Spread(min(rates), median(rates), max(rates)) for name, rates in measured.items()}
