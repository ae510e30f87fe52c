"""Calibration: how often what was given a chance came true, by parts of the chances."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Calibration:
    """Chances by parts, against how often they came true."""

    bins: tuple[CalibrationBin, ...]
    """Parts without a case are left out."""

    @classmethod
    def by_range(cls, chances: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> Calibration:
        """By equal parts of the range from 0 to 1.

        >>> [(part.low, part.n, part.share) for part in Calibration.by_range([0.1, 0.15, 0.95], [0, 1, 1]).bins]
        [(0.1, 2, 0.5), (0.9, 1, 1.0)]
        """
        p, y = np.asarray(chances, float), np.asarray(outcomes, float)
        part = np.minimum((p * bins).astype(int), bins - 1)
        return cls(tuple(_bin(k / bins, (k + 1) / bins, p[part == k], y[part == k]) for k in np.unique(part).tolist()))

    @property
    def error(self) -> float:
        """Expected calibration error: mean over cases of how far chance and share of their part lie apart."""
        return sum(part.n * abs(part.chance - part.share) for part in self.bins) / max(
            1, sum(part.n for part in self.bins)
        )


def _bin(low: float, high: float, chances: np.ndarray, outcomes: np.ndarray) -> CalibrationBin:
    return CalibrationBin(low, high, len(chances), float(chances.mean()), float(outcomes.mean()))
