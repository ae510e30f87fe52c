"""Rates and means with their uncertainty: Wilson, Student and bootstrap intervals at 95 %, McNemar, t- and sign tests, paired
differences.

The one place for intervals. None lies outside of what is possible; a mean of fewer than two values, or of values that are
all the same, has none: tables show `-` for it, and plain values hold None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, sqrt
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit
from scipy.stats import binomtest

LEVEL: Final = 0.95
_Z: Final = 1.959963984540054  # the 97.5 % point of the standard normal distribution

_SAME: Final = 1e-9
"""Means that differ by less are the same."""

Bounds = tuple[float, float]
"""The least and the greatest mean that is possible."""
UNBOUNDED: Final[Bounds] = (-inf, inf)
SHARE: Final[Bounds] = (0.0, 1.0)
SHARE_DIFFERENCE: Final[Bounds] = (-1.0, 1.0)
COUNT: Final[Bounds] = (0.0, inf)


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


@dataclass(frozen=True)
class MeanEstimate:
    """A mean with its interval by Student's t."""

    n: int
    """Cases that tell."""
    mean: float
    low: float | None
    high: float | None
    """Interval at 95 %; None from fewer than two cases, or from cases that are all the same."""
    p: float | None
    """Two-sided t-test against zero; None without an interval, or where no mean below zero is possible."""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def mean_estimate(values: ArrayLike, bounds: Bounds = UNBOUNDED) -> MeanEstimate:
    """The mean of independent values, such as differences between pairs. Raises ValueError if there are none.

    >>> found = mean_estimate([1.0, 2.0, 3.0])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, -0.484, 4.484)
    """
    x = np.asarray(values, float)
    if not len(x):
        raise ValueError("no values; accepted: one or more")
    return _estimate(len(x), float(x.mean()), float(x.std(ddof=1)) / sqrt(len(x)) if _differ(x) else 0.0, bounds)


def mean_difference(a: Sequence[float], b: Sequence[float]) -> MeanEstimate:
    """How much more A earned than B on the cases that both have: the first ones. Raises ValueError if there is none.

    >>> mean_difference([1.0, 1.0, 0.0], [0.0, 1.0, 0.0]).mean
    0.3333333333333333
    """
    n = min(len(a), len(b))
    return mean_estimate(np.asarray(a[:n], float) - np.asarray(b[:n], float))


def weighted_mean(values: ArrayLike, weights: ArrayLike, bounds: Bounds = UNBOUNDED) -> MeanEstimate:
    """The mean of values by weights, where weight and value of a case are drawn together.

    The variance is that of the ratio sum(w x) / sum(w), by its residuals w (x - mean) (Cochran 1977, section 6.4). Cases
    without a weight do not count; of the others there is at least one.
    """
    w = np.asarray(weights, float)
    x, w = np.asarray(values, float)[w > 0], w[w > 0]
    n, mean = len(x), float((w * x).sum() / w.sum())
    squares = float(((w * (x - mean)) ** 2).sum())
    return _estimate(n, mean, sqrt(n / (n - 1) * squares) / float(w.sum()) if _differ(x) else 0.0, bounds)


def _differ(values: NDArray[np.float64]) -> bool:
    return len(values) > 1 and bool(np.ptp(values))


def _estimate(n: int, mean: float, error: float, bounds: Bounds) -> MeanEstimate:
    half = float(margin(error, n))
    if isnan(half):
        return MeanEstimate(n, mean, None, None, None)
    p = 2 * float(stdtr(n - 1, -abs(mean) / error)) if bounds[0] < 0 else None
    return MeanEstimate(n, mean, max(bounds[0], mean - half), min(bounds[1], mean + half), p)


def margin(error: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Half the length of Student's interval around means of n values with these standard errors; NaN where there is none."""
    error, freedom = np.asarray(error, float), np.asarray(n, float) - 1
    known = (freedom > 0) & (error > 0)
    return np.where(known, stdtrit(np.where(known, freedom, 1.0), (1 + LEVEL) / 2) * error, np.nan)


@dataclass(frozen=True)
class StratifiedMean:
    """A weighted mean of the means of several strata, with the interval that drawing their cases anew gives."""

    n: int
    """Cases of all strata."""
    mean: float
    low: float | None
    high: float | None
    """Interval at 95 %; None where a stratum has a single case, or all cases of each are the same."""
    p: float | None
    """Two-sided test against zero by changing signs of cases at random; None without an interval, or where no mean below zero
    is possible."""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def stratified_mean(
    strata: Sequence[ArrayLike],
    weights: Sequence[float],
    rng: np.random.Generator,
    resamples: int = 2000,
    bounds: Bounds = UNBOUNDED,
) -> StratifiedMean:
    """The weighted mean of strata's means. Of n cases of a stratum n - 1 are drawn anew, which makes the spread of drawn
    means that of the mean itself (Rao & Wu 1988).

    >>> found = stratified_mean([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0]], [0.5, 0.5], np.random.default_rng(0))
    >>> found.n, found.mean, 0.5 <= found.low < found.high <= 1.0
    (7, 0.75, True)

    Args:
        strata: The values of each, one or more.
        weights: Of the strata; they add up to 1.
        rng: Draws the cases.
        resamples: How often they are drawn.
        bounds: The least and the greatest mean that is possible.
    """
    cases = [np.asarray(one, float) for one in strata]
    n = sum(map(len, cases))
    mean = float(sum(w * x.mean() for w, x in zip(weights, cases, strict=True)))
    if min(map(len, cases)) < 2 or not any(map(_differ, cases)):
        return StratifiedMean(n, mean, None, None, None)
    drawn = np.zeros(resamples)
    turned = np.zeros(resamples)
    for weight, x in zip(weights, cases, strict=True):
        drawn += weight * (drawn_anew(len(x), len(x) - 1, resamples, rng) @ x) / (len(x) - 1)
        if bounds[0] < 0:
            turned += weight * (rng.choice((-1.0, 1.0), size=(resamples, len(x))) @ x) / len(x)
    low, high = np.quantile(drawn, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), method="linear")
    p = (1 + int((np.abs(turned) >= abs(mean) - _SAME).sum())) / (1 + resamples) if bounds[0] < 0 else None
    return StratifiedMean(n, mean, float(low), float(high), p)


def drawn_anew(cases: int, size: int, resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each case is among `size` that are drawn with replacement: resamples x cases."""
    return rng.multinomial(size, np.full(cases, 1 / cases), size=resamples)


class _HasInterval(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def show_interval(found: _HasInterval, unit: str, times: float = 1) -> str:
    """An interval as tables and reports show it.

    >>> show_interval(mean_estimate([0.25]), ".1%"), show_interval(mean_estimate([1.0, 2.0, 3.0]), "+.2f")
    ('-', '[-0.48, +4.48]')

    Args:
        found: What may have an interval.
        unit: The format of its ends.
        times: What they are multiplied by, such as 100 for points.
    """
    if found.low is None or found.high is None:
        return "-"
    return f"[{times * found.low:{unit}}, {times * found.high:{unit}}]"
