"""Beliefs to learn from: drawn as products over the seats, with the results of quests that led to the standing."""

from __future__ import annotations

import numpy as np
from parlour.envs.avalon.presets import TEAM_SIZES
from parlour.policies.deeprole.deals import DEALS, EVIL, SEATS, VIEW, VIEWS, Array
from parlour.policies.deeprole.values import Standing

_ONE_FAIL = 0.8
"""Share of failed quests with one fail card; the others have two."""


def draw_belief(at: Standing, rng: np.random.Generator) -> Array:
    """A public belief at a standing, float32 (60,), sums to 1.

    What a seat has shown is a factor for each of its views; their spread is drawn for each belief. A quest counts by the
    probability of its number of fails, where an evil member fails with a probability that is drawn, too.
    """
    while True:
        belief = np.ones(len(DEALS))
        spread = rng.uniform(0, 2)
        for seat in range(SEATS):
            belief *= np.exp(spread * rng.normal(size=VIEWS))[VIEW[seat]]
        results = rng.permutation([True] * at.successes + [False] * at.fails)
        for size, success in zip(TEAM_SIZES[SEATS], results, strict=False):
            belief *= _likelihood(size, bool(success), rng)
        if belief.sum() > 0:
            drawn: Array = (belief / belief.sum()).astype(np.float32)
            return drawn


def _likelihood(size: int, success: bool, rng: np.random.Generator) -> Array:
    """Of a quest's result in each deal, (60,)."""
    evil = EVIL[rng.choice(SEATS, size, replace=False)].sum(axis=0)
    fail = rng.uniform(0.1, 0.9)
    if success:
        likely: Array = (1 - fail) ** evil
    elif rng.random() < _ONE_FAIL:
        likely = evil * fail * (1 - fail) ** np.maximum(evil - 1, 0)
    else:
        likely = np.where(evil == 2, fail**2, 0)
    return likely
