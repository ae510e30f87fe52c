"""What stated beliefs are worth: skill and calibration.

Worked numbers: a seat with two others, one of them evil; prior 0.5 for both, exact posterior 0.9 for the evil one and 0.1 for the other.
loss(prior) = log 2 = .6931, loss(exact) = -log .9 = .1054, loss(.7, .3) = -log .7 = .3567, skill = (.6931 - .3567) / (.6931 - .1054) = .5725.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from parlour_bench.abilities.stated import BeliefMoment, stated_scores

ANYBODY = BeliefMoment(
    game="a",
    table=("avalon_v0", {}),
    by_player=True,
    opponent="heuristic",
    seat=0,
    seed=0,
    text="",
    info={},
    truth=(True, False),
    prior=(0.5, 0.5),
    exact=(0.9, 0.1),
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_skill_is_the_share_of_the_way_from_the_prior_to_the_exact_posterior_if_there_is_one():
    """Calibration error is the mean distance of chances and shares."""
    scores = stated_scores([ANYBODY], [(0.7, 0.3)], rng())
    assert scores.skill is not None
    assert scores.skill.value == pytest.approx(0.5725, abs=1e-4)
    assert scores.calibration == pytest.approx(0.3)
    assert stated_scores([replace(ANYBODY, exact=ANYBODY.prior)], [(0.7, 0.3)], rng()).skill is None


def test_skill_is_a_ratio_of_sums_and_a_game_is_one_case():
    other = replace(ANYBODY, game="b", exact=(0.5, 0.5))
    scores = stated_scores([ANYBODY, ANYBODY, other], [ANYBODY.exact] * 3, rng())
    assert scores.skill is not None
    assert scores.skill.value == pytest.approx(1.5)  # 3 x .5878 gained, of 2 x .5878 to be gained
    assert scores.skill.n == scores.loss.n == 2
    assert scores.moments == 3
