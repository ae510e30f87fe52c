"""Rates with their uncertainty: Wilson intervals, exact McNemar tests, intervals for paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from scipy.stats import binomtest

LEVEL: Final = 0.95
_Z: Final = 1.959963984540054  # the 97.5 % point of the standard normal distribution


@dataclass(frozen=True)
class Rate:
    """How often something happened, with the Wilson score interval (Wilson 1927) at 95 %."""

    hits: int
    n: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedDifference:
    """How much more often A succeeded than B on the same n cases."""

    n: int
    only_a: int
    """Cases in which A succeeded and B did not."""
    only_b: int
    difference: float
    """Rate of A less rate of B."""
    low: float
    high: float
    """Interval at 95 %: Wald with one half-case added to each cell (Bonett & Price 2012)."""
    p: float
    """Two-sided exact McNemar test: are the discordant cases an even coin's?"""


def rate(hits: int, n: int) -> Rate | None:
    """A rate with its interval; None if there was nothing to count.

    >>> rate(50, 100)
    Rate(hits=50, n=100, rate=0.5, low=0.4038315303659956, high=0.5961684696340044)
    """
    if n == 0:
        return None
    interval = binomtest(hits, n).proportion_ci(LEVEL, method="wilson")
    return Rate(hits, n, hits / n, float(interval.low), float(interval.high))


def paired(a: Sequence[bool], b: Sequence[bool]) -> PairedDifference:
    """Compare two lists of successes on the same cases, in the same order. Raises ValueError if they do not match.

    >>> paired([True] * 8 + [False] * 2, [False] * 8 + [True] * 2).difference
    0.6
    """
    if len(a) != len(b) or not a:
        raise ValueError(f"paired lists of {len(a)} and {len(b)} cases; accepted: two of the same length, not empty")
    n = len(a)
    only_a = sum(x and not y for x, y in zip(a, b, strict=True))
    only_b = sum(y and not x for x, y in zip(a, b, strict=True))
    pa, pb = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    half = _Z * sqrt((pa + pb - (pa - pb) ** 2) / (n + 2))
    discordant = only_a + only_b
    p = float(binomtest(only_a, discordant).pvalue) if discordant else 1.0
    return PairedDifference(
        n, only_a, only_b, (only_a - only_b) / n, max(-1.0, pa - pb - half), min(1.0, pa - pb + half), p
    )
