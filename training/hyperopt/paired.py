"""Paired differences of rewards on common deals, with Student's t interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit


@dataclass(frozen=True)
class Difference:
    """How much more A earned than B on the same n deals. A deal is one case, however many games it has."""

    n: int
    mean: float
    low: float | None
    high: float | None
    """Interval at 95 %; None with fewer than two deals. It is a point if all differences are equal."""
    p: float | None
    """Two-sided paired t-test."""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def difference(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Compare A with B on the deals that both have: the first ones. Raises ValueError if there is none.

    >>> difference([1.0, 1.0, 0.0], [0.0, 1.0, 0.0]).mean
    0.3333333333333333
    """
    n = min(len(a), len(b))
    if not n:
        raise ValueError("no deals in common; accepted: one or more")
    gaps = np.asarray(a[:n], float) - np.asarray(b[:n], float)
    mean = float(gaps.mean())
    if n < 2:
        return Difference(n, mean, None, None, None)
    if not np.ptp(gaps):
        return Difference(n, mean, mean, mean, 1.0 if mean == 0 else 0.0)
    error = float(gaps.std(ddof=1)) / math.sqrt(n)
    half = float(stdtrit(n - 1, 0.975)) * error
    p = 2 * float(stdtr(n - 1, -abs(mean) / error))
    return Difference(n, mean, mean - half, mean + half, p)


def mean(values: Sequence[float]) -> float:
    """The mean, summed without rounding on the way."""
    return math.fsum(values) / len(values)
