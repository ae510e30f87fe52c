"""Which seeds are for what: games that are learned from never come back in validation or in the final measurement."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final

import numpy as np
from parlour.envs.settings import COMMON, Settings
from pydantic import Field

TRAINING: Final = range(2**30)
"""Drawn from while learning (`SeatEnv` stays within it)."""
VALIDATION: Final = range(2**30, 2**30 + 2**29)
"""For curves and choices made while learning."""
HELD_OUT: Final = range(2**31, 2**32)
"""For results. Looked at once, when everything else is settled."""


class HeldOutDeals(Settings):
    """Which of the held-out deals are played."""

    games: Annotated[int, COMMON] = Field(default=200, ge=1)
    """Number of deals."""
    seed: int = Field(default=0, ge=0)
    """Number of the first deal among the held-out ones."""

    @property
    def seeds(self) -> range:
        """The seeds of the deals."""
        return HELD_OUT[self.seed : self.seed + self.games]


class Purpose(IntEnum):
    """What a trainer derives a seed for. Stored runs depend on the numbers; trainers of different kinds share some."""

    TRAINING_DEALS = 0
    FINAL_DEALS = 1
    HELD_OUT_DEALS = 2
    SAMPLER = 10
    """The sampler of a tuned parameter."""
    EPISODES = 0
    """Episodes from which trust is learned."""
    SPLIT = 0
    """Questions that a mediator learns from, and held-out ones."""
    QUESTIONS = 18
    """Their order."""
    MINIBATCHES = 1
    TABLES = 2
    """The deals of a phase of self-play."""
    RATED_GAMES = 2
    """Their order."""
    SEATING = 3
    SEAT = 4
    """The seat of a single learner."""
    BEST_RESPONSE = 5


def derive(seed: int, *path: int) -> int:
    """A seed for one part of a run, independent of the others: the same for the same seed and path."""
    return int(np.random.SeedSequence((seed, *path)).generate_state(1)[0])
