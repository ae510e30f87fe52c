"""Stakes and costs in money: the unit does not matter, one's own costs are those of the modules' game."""

from __future__ import annotations

import math

import numpy as np
import pytest
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.training.learn.mediators.simulate import calibrate
from parlour.training.learn.mediators.stakes import StakesConfig, payment_at, stakes

DOLLARS = Payment((1.2, -0.4, 0.1, -0.2), (0.01, 0.03, 0.0, 0.02, 0.05, 0.02, 0.0, 0.04, 0.0))
"""The published payment in dollars for cents."""


@pytest.fixture(scope="module")
def calibrated():
    pipeline = Pipeline(generate(seed=11, size=150, difficulty="medium"))
    pipeline.learn_bins(range(100))
    return calibrate(pipeline, range(150)), [pipeline.context(k) for k in range(150)]


# -- the unit --------------------------------------------------------------------------------------------------


def test_dollars_for_cents_give_the_same_policies_over_the_same_grid_of_stakes(calibrated):
    rows = calibrated[0]
    cents = stakes(rows[:100], rows[100:], StakesConfig(), Payment())
    dollars = stakes(rows[:100], rows[100:], StakesConfig(), DOLLARS)
    assert [price for _, price in cents.policies] == [0, 10, 25, 50, 100, 200, 400, 1000, math.inf]
    assert [price for _, price in dollars.policies] == [0, 0.1, 0.25, 0.5, 1, 2, 4, 10, math.inf]
    for policy, other in zip(cents.policies.values(), dollars.policies.values(), strict=True):
        assert other.rows == policy.rows
    for score, in_cents in zip(dollars.scores, cents.scores, strict=True):
        assert score.utility.value == pytest.approx(in_cents.utility.value / 100)
        assert score.accuracy == in_cents.accuracy


def test_an_infinite_price_is_as_large_in_any_unit():
    """A billion in the published unit; where an answer is worth billions it must be more."""
    assert payment_at(Payment(), 110.0, math.inf).utilities[1] == 10 - 1e9
    huge = Payment((120e9, -40e9, 10e9, -20e9))
    assert payment_at(huge, 110e9, math.inf).utilities[1] == pytest.approx(-1e18)


@pytest.mark.slow
def test_a_contextual_policy_is_the_same_in_dollars_as_in_cents(calibrated):
    pytest.importorskip("sklearn")
    from parlour.training.learn.mediators.contextual import ContextualConfig, cross_fit

    rows, contexts = calibrated
    states = [row.state for row in rows]
    rows, states = rows[:100], states[:100]
    seen, config = np.array(contexts[:100]), ContextualConfig(sees="state", floor=0.0, folds=2)
    cents = cross_fit(rows, seen, Payment(), config).model
    dollars = cross_fit(rows, seen, DOLLARS, config).model
    assert cents.temperature > 0, "otherwise the test cannot fail"
    assert dollars.temperature == pytest.approx(cents.temperature / 100)
    assert dollars.policy(seen, states) == pytest.approx(cents.policy(seen, states), abs=1e-9)
