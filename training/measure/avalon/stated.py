"""How good stated beliefs are: log loss against the truth. Probabilities are held between `LEAST` and 1 - `LEAST`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

LEAST: Final = 0.001


def loss(chances: Sequence[float], truth: Sequence[bool]) -> float:
    """Mean log loss of the chances of some seats, in nats.

    >>> round(loss([0.5, 0.5], [True, False]), 4)
    0.6931
    """
    clipped = np.clip(np.asarray(chances, float), LEAST, 1 - LEAST)
    return float(-np.log(np.where(np.asarray(truth), clipped, 1 - clipped)).mean())
