"""Reversals: of two players on one side, the first does better against one opponent and the second against another.

No rating can tell that, as it would have the same one better against everybody. A cycle is over both sides; this is within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.training.measure.statistics import SHARE_DIFFERENCE, Estimate, mean_estimate

_LEVEL: Final = 0.05


@dataclass(frozen=True)
class Reversal:
    """Two players on one side, and two opponents."""

    side: str
    a: str
    b: str
    ahead: str
    """The opponent against which `a` does better than `b`."""
    behind: str
    """The opponent against which `a` does worse."""
    gain: Estimate
    """Of `a` over `b` against `ahead`, in shares of games won on the same deals."""
    loss: Estimate
    """The same against `behind`: below zero."""


def reversals(points: NDArray[np.float64], names: Sequence[str], sides: tuple[str, str]) -> list[Reversal]:
    """All reversals, the one with the largest smaller difference first: for each two players on a side, the reversal between the opponents who differ most.

    Differences are by deal, and clear at 5 % for all opponents together (Bonferroni).

    Args:
        points: deals x players x players: points of the first side, by holder of the first and of the second side.
        names: Names of the players.
        sides: Sides of the game.
    """
    reversals = []
    for side, own in zip(sides, (points, 1 - points.transpose(0, 2, 1)), strict=True):
        for i, j in combinations(range(len(names)), 2):
            apart = [
                (mean_estimate(d, SHARE_DIFFERENCE), name)
                for d, name in zip((own[:, i] - own[:, j]).T, names, strict=True)
            ]
            (loss, behind), (gain, ahead) = (pick(apart, key=lambda pair: pair[0].value) for pick in (min, max))
            if loss.value < 0 < gain.value and all(_is_clear(change, len(names)) for change in (gain, loss)):
                reversals.append(Reversal(side, names[i], names[j], ahead, behind, gain, loss))
    return sorted(reversals, key=lambda reversal: max(-reversal.gain.value, reversal.loss.value))


def _is_clear(estimate: Estimate, opponents: int) -> bool:
    """By the t-test; where all deals are alike, by that of signs."""
    p = 2 * 0.5**estimate.n if estimate.p is None else estimate.p
    return p * opponents < _LEVEL
