"""Calibration: how often what was given a chance came true, by parts of the chances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class CalibrationBin:
    """Cases whose chances lie in one part."""

    low: float
    high: float
    n: int
    chance: float
    """Mean of the chances."""
    share: float
    """Share of the cases that came true."""


def bins_by_range(chances: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> list[CalibrationBin]:
    """Equal parts of the range from 0 to 1; parts without a case are left out.

    >>> [(part.low, part.n, part.share) for part in bins_by_range([0.1, 0.15, 0.95], [0, 1, 1])]
    [(0.1, 2, 0.5), (0.9, 1, 1.0)]
    """
    p, y = np.asarray(chances, float), np.asarray(outcomes, float)
    part = np.minimum((p * bins).astype(int), bins - 1)
    return [_bin(k / bins, (k + 1) / bins, p[part == k], y[part == k]) for k in np.unique(part).tolist()]


def _bin(low: float, high: float, chances: np.ndarray, outcomes: np.ndarray) -> CalibrationBin:
    return CalibrationBin(low, high, len(chances), float(chances.mean()), float(outcomes.mean()))


def calibration_error(bins: Sequence[CalibrationBin]) -> float:
    """Expected calibration error: mean over cases of how far chance and share of their part lie apart."""
    return sum(part.n * abs(part.chance - part.share) for part in bins) / max(1, sum(part.n for part in bins))
