"""Rates, means and paired differences as one `Estimate`: Wilson, Student and bootstrap intervals at 95 %, and the
tests that belong to them.

The one place for intervals. None lies outside of what is possible; a mean of fewer than two values, or of values that are
all the same, has none: tables show `-` for it, and plain values hold None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isnan, log10, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEVEL: Final = 0.95
_Z: Final = 1.959963984540054  # the 97.5 % point of the standard normal distribution

BETTER: Final = "better"
WORSE: Final = "worse"
UNCLEAR: Final = "no difference shown"
POWER: Final = (1.959963984540054 + 0.8416212335729143) / 1.959963984540054
"""Half an interval times this is the difference that is shown four times in five (power 0.8 at 5 %, two-sided)."""

Bounds = tuple[float, float]
"""The least and the greatest mean that is possible."""
UNBOUNDED: Final[Bounds] = (-inf, inf)
SHARE: Final[Bounds] = (0.0, 1.0)
SHARE_DIFFERENCE: Final[Bounds] = (-1.0, 1.0)
COUNT: Final[Bounds] = (0.0, inf)


def between(bounds: Bounds) -> Bounds:
    """The least and the greatest difference of two values within bounds.

    >>> between(SHARE)
    (-1.0, 1.0)
    """
    return bounds[0] - bounds[1], bounds[1] - bounds[0]


@dataclass(frozen=True)
class Estimate:
    """A number with its interval at 95 %: a rate, a mean, or a difference of either."""

    value: float
    low: float | None = None
    high: float | None = None
    """Ends of the interval; None where there is none: from fewer than two cases, or from cases that are all the same."""
    n: int = 0
    """Cases that tell."""
    p: float | None = None
    """Two-sided test against zero, by the method of the interval; None without an interval, or where no value below zero is possible."""
    hits: int | None = None
    """Number of successes of a rate."""
    only_a: int | None = None
    """For a paired difference: cases in which A succeeded and B did not."""
    only_b: int | None = None
    """Cases in which B succeeded and A did not."""

    def __neg__(self) -> Estimate:
        """The gain in a difference of losses: more is better.

        >>> -Estimate(-0.2, -0.3, -0.1, 40)
        Estimate(value=0.2, low=0.1, high=0.3, n=40, p=None, hits=None, only_a=None, only_b=None)
        """
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return replace(self, value=-self.value, low=low, high=high)

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def outcome(self) -> str:
        """What the interval says about a difference: `BETTER`, `WORSE` or `UNCLEAR`.

        >>> Estimate(0.1, 0.02, 0.18, 50).outcome, Estimate(-0.1, -0.2, 0.0, 50).outcome
        ('better', 'no difference shown')
        """
        if not self.clear:
            return UNCLEAR
        return BETTER if self.value > 0 else WORSE

    @property
    def with_ends(self) -> tuple[float, float | None, float | None]:
        """The value and the interval, as pictures and files have them."""
        return self.value, self.low, self.high

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; the value twice where there is none."""
        if self.low is None or self.high is None:
            return self.value, self.value
        return self.low, self.high

    def as_json(self) -> dict[str, Any]:
        """Plain values, by the names that they have in files.

        >>> Estimate.rate(1, 2).as_json()["rate"], Estimate.mean([1.0, 2.0]).as_json()["mean"]
        (0.5, 1.5)
        """
        if self.hits is not None:
            return {"hits": self.hits, "n": self.n, "rate": self.value, "low": self.low, "high": self.high}
        ends = {"low": self.low, "high": self.high, "p": self.p}
        if self.only_a is not None:
            counts = {"n": self.n, "only_a": self.only_a, "only_b": self.only_b}
            return {**counts, "difference": self.value, **ends}
        return {"n": self.n, "mean": self.value, **ends}

    @classmethod
    def of_json(cls, written: Mapping[str, Any]) -> Estimate:
        """What `as_json` wrote."""
        values = dict(written)
        name = next(name for name in ("rate", "difference", "mean") if name in values)
        return cls(values.pop(name), **values)

    def cases_needed(self, size: float) -> int | None:
        """For a difference: how many cases show one of this size four times in five, rounded up to two digits; None without an interval.

        Half an interval shrinks with the root of the number of cases.

        >>> Estimate(0.01, -0.03, 0.05, 200).cases_needed(0.03)
        730
        """
        if self.low is None or self.high is None or size <= 0:
            return None
        exact = self.n * (POWER * (self.high - self.low) / 2 / size) ** 2
        if exact < 1:
            return 1
        step = int(10 ** max(0, floor(log10(exact)) - 1))
        return ceil(exact / step) * step

    def interval(self, unit: str, times: float = 1) -> str:
        """The interval as tables and reports show it.

        >>> Estimate.mean([0.25]).interval(".1%"), Estimate.mean([1.0, 2.0, 3.0]).interval("+.2f")
        ('-', '[-0.48, +4.48]')

        Args:
            unit: The format of its ends.
            times: What they are multiplied by, such as 100 for points.
        """
        if self.low is None or self.high is None:
            return "-"
        return f"[{times * self.low:{unit}}, {times * self.high:{unit}}]"

    def shown(self, unit: str, times: float = 1) -> str:
        """The value with its interval, as tables and reports show them; arguments as of `interval`.

        >>> Estimate.mean([1.0, 2.0, 3.0]).shown("+.2f")
        '+2.00 [-0.48, +4.48]'
        """
        return f"{times * self.value:{unit}} {self.interval(unit, times)}"

    @classmethod
    def rate(cls, hits: int, n: int) -> Estimate | None:
        """A rate with its Wilson score interval (Wilson 1927); None if there was nothing to count.

        >>> half = Estimate.rate(50, 100)
        >>> half.value, half.low, half.high
        (0.5, 0.4038315303659956, 0.5961684696340044)
        """
        if n == 0:
            return None
        rate, twice = hits / n, 2 * (n + _Z**2)  # by hand: scipy.stats takes nearly a second to import
        centre, half = (2 * n * rate + _Z**2) / twice, _Z / twice * sqrt(4 * n * rate * (1 - rate) + _Z**2)
        return cls(rate, centre - half if hits else 0.0, centre + half if hits < n else 1.0, n, hits=hits)

    @classmethod
    def mean_of_rates(cls, rates: Sequence[Estimate]) -> Estimate | None:
        """The mean of independent rates, each with the same weight whatever it was counted in; None where there is none.

        The interval combines the intervals of the rates by the square-and-add method (Newcombe 2001; Zou and Donner 2008).

        >>> both = Estimate.mean_of_rates([Estimate.rate(1, 3), Estimate.rate(9, 9)])
        >>> f"{both.value:.1%} [{both.low:.1%}, {both.high:.1%}] of {both.n}"
        '66.7% [46.5%, 89.6%] of 12'
        """
        if not rates:
            return None
        k, value = len(rates), sum(estimate.value for estimate in rates) / len(rates)
        below = sqrt(sum((estimate.value - estimate.low) ** 2 for estimate in rates if estimate.low is not None)) / k
        above = sqrt(sum((estimate.high - estimate.value) ** 2 for estimate in rates if estimate.high is not None)) / k
        return cls(value, value - below, value + above, n=sum(estimate.n for estimate in rates))

    @classmethod
    def paired(cls, a: Sequence[bool], b: Sequence[bool]) -> Estimate:
        """How much more often A succeeded than B on the same n cases, in the same order. Raises ValueError if they do not match.

        The interval is Wald's with one half-case added to each cell (Bonett & Price 2012), and p is of the test that it inverts: it is
        below 5 % exactly where the interval leaves out zero.

        >>> Estimate.paired([True] * 8 + [False] * 2, [False] * 8 + [True] * 2).value
        0.6
        """
        if len(a) != len(b) or not a:
            raise ValueError(
                f"paired lists of {len(a)} and {len(b)} cases; accepted: two of the same length, not empty"
            )
        from scipy.special import ndtr

        n = len(a)
        only_a = sum(x and not y for x, y in zip(a, b, strict=True))
        only_b = sum(y and not x for x, y in zip(a, b, strict=True))
        pa, pb = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
        error = sqrt((pa + pb - (pa - pb) ** 2) / (n + 2))
        half, p = _Z * error, 2 * float(ndtr(-abs(pa - pb) / error))
        low, high = max(-1.0, pa - pb - half), min(1.0, pa - pb + half)
        return cls((only_a - only_b) / n, low, high, n, p, only_a=only_a, only_b=only_b)

    @classmethod
    def mean(cls, values: ArrayLike, bounds: Bounds = UNBOUNDED) -> Estimate:
        """The mean of independent values, such as differences between pairs, with Student's interval and t-test.

        Raises ValueError if there are none.

        >>> mean = Estimate.mean([1.0, 2.0, 3.0])
        >>> mean.value, round(mean.low, 3), round(mean.high, 3)
        (2.0, -0.484, 4.484)
        """
        x = np.asarray(values, float)
        if not len(x):
            raise ValueError("no values; accepted: one or more")
        return _estimate(len(x), float(x.mean()), float(x.std(ddof=1)) / sqrt(len(x)) if _differ(x) else 0.0, bounds)

    @classmethod
    def mean_difference(cls, a: Sequence[float], b: Sequence[float]) -> Estimate:
        """How much more A earned than B on the cases that both have: the first ones. Raises ValueError if there is none.

        >>> Estimate.mean_difference([1.0, 1.0, 0.0], [0.0, 1.0, 0.0]).value
        0.3333333333333333
        """
        n = min(len(a), len(b))
        return cls.mean(np.asarray(a[:n], float) - np.asarray(b[:n], float))

    @classmethod
    def weighted_mean(cls, values: ArrayLike, weights: ArrayLike, bounds: Bounds = UNBOUNDED) -> Estimate:
        """The mean of values by weights, where weight and value of a case are drawn together.

        The variance is that of the ratio sum(w x) / sum(w), by its residuals w (x - mean) (Cochran 1977, section 6.4). Cases without
        a weight do not count; at least one case needs a weight.
        """
        w = np.asarray(weights, float)
        x, w = np.asarray(values, float)[w > 0], w[w > 0]
        n, mean = len(x), float((w * x).sum() / w.sum())
        squares = float(((w * (x - mean)) ** 2).sum())
        return _estimate(n, mean, sqrt(n / (n - 1) * squares) / float(w.sum()) if _differ(x) else 0.0, bounds)


def _differ(values: NDArray[np.float64]) -> bool:
    return len(values) > 1 and bool(np.ptp(values))


def _estimate(n: int, mean: float, error: float, bounds: Bounds) -> Estimate:
    half = float(margin(error, n))
    if isnan(half):
        return Estimate(mean, n=n)
    from scipy.special import stdtr

    p = 2 * float(stdtr(n - 1, -abs(mean) / error)) if bounds[0] < 0 else None
    return Estimate(mean, max(bounds[0], mean - half), min(bounds[1], mean + half), n, p)


def margin(error: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """Half the length of Student's interval around means of n values with these standard errors; NaN where there is none."""
    error, freedom = np.asarray(error, float), np.asarray(n, float) - 1
    known = (freedom > 0) & (error > 0)
    from scipy.special import stdtrit

    return np.where(known, stdtrit(np.where(known, freedom, 1.0), (1 + LEVEL) / 2) * error, np.nan)
