"""The mean over strata of deals, with an interval for few cases."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from parlour.training.statistics import Estimate
from scipy.special import stdtr, stdtrit


def stratified_mean(
    strata: Sequence[ArrayLike],
    weights: Sequence[float],
    bounds: tuple[float, float],
) -> Estimate:
    """The weighted mean of strata's means, with an interval that allows for few cases and for strata whose cases are all the same.

    For the interval, the strata share half a case more, which lies a quarter of the range below or above its middle, as the
    adjusted intervals of Price & Bonett (2004) do for rates. The interval is Student's with Satterthwaite's degrees of freedom
    (1946). The test against zero, where values below zero are possible, is the one that the interval inverts.

    >>> mean = stratified_mean([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0]], [0.5, 0.5], (0.0, 1.0))
    >>> mean.n, mean.value, round(mean.low, 3), round(mean.high, 3)
    (7, 0.75, 0.382, 1.0)

    Args:
        strata: The values of each, one or more.
        weights: Weights of the strata; they add up to 1.
        bounds: The least and the greatest value that is possible; finite.
    """
    cases = [np.asarray(values, float) for values in strata]
    middle, away = sum(bounds) / 2, (bounds[1] - bounds[0]) / 4
    more = _MORE / len(cases)
    n = np.array([len(x) + more for x in cases])
    means = (np.array([x.sum() for x in cases]) + more * middle) / n
    squares = np.array([((x - mean) ** 2).sum() for x, mean in zip(cases, means, strict=True)])
    variances = (squares + more * ((middle - means) ** 2 + away**2)) / n
    shares = np.square(weights) * variances / n
    freedom = shares.sum() ** 2 / (shares**2 / np.maximum(n - 1, more)).sum()
    error = sqrt(shares.sum())
    half = float(stdtrit(freedom, (1 + 0.95) / 2)) * error
    value, centre = float(np.dot(weights, [x.mean() for x in cases])), float(np.dot(weights, means))
    low, high = max(bounds[0], min(centre - half, value)), min(bounds[1], max(centre + half, value))
    count = sum(map(len, cases))
    return Estimate(value, low, high, count, 2 * float(stdtr(freedom, -abs(centre) / error)) if bounds[0] < 0 else None)


_MORE: Final = 0.5
"""Cases that are added to all strata together."""
