"""Which seeds are for what: games that are learned from never come back in validation or in the final measurement."""

from __future__ import annotations

from typing import Final

import numpy as np

TRAINING: Final = range(2**30)
"""Drawn from while learning (`SeatEnv` stays within it)."""
VALIDATION: Final = range(2**30, 2**30 + 2**29)
"""For curves and choices made while learning."""
HELD_OUT: Final = range(2**31, 2**32)
"""For results. Looked at once, when everything else is settled."""


def derive(seed: int, *path: int) -> int:
    """A seed for one part of a run, independent of the others: the same for the same seed and path."""
    return int(np.random.SeedSequence((seed, *path)).generate_state(1)[0])
