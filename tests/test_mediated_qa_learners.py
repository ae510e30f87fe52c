"""On-line learners: their formulas by hand, the best arm of a planted bandit, regret that flattens."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.joint import PUBLISHED
from parlour.training.learn.mediators.learners import (
    UCB1,
    EpsilonGreedy,
    Learner,
    PooledThompson,
    TableBandit,
    Thompson,
)
from parlour.training.learn.mediators.table import UtilityTable

RULES = [EpsilonGreedy(), EpsilonGreedy(epsilon=5.0, falling=True), UCB1(spread=100.0), Thompson(), PooledThompson()]
STATES = ("T:low_Q:low", "T:mid_Q:mid")
BEST = (7, 3)


def fresh(rule, states=1, actions=2, seed=0):
    return Learner(rule, states, actions, np.random.default_rng(seed))


def fed(learner, *seen):
    for action, utility in seen:
        learner.update(0, action, utility)
    return learner


def planted() -> TableBandit:
    """Two states, nine actions of mean 0 and deviation 40; one action in each state earns 30 more."""
    rng = np.random.default_rng(0)
    state = np.arange(2000) % 2
    utilities = rng.normal(0, 40, (2000, 9))
    utilities[np.arange(2000), np.array(BEST)[state]] += 30
    return TableBandit(
        UtilityTable(tuple(map(str, range(2000))), tuple(STATES[k] for k in state), PUBLISHED, utilities)
    )


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_best_arm_of_each_state_is_found_and_regret_flattens(rule):
    bandit = planted()
    learner = fresh(rule, 2, 9, seed=1)
    rounds = bandit.play(learner, 16_000, np.random.default_rng(2))
    assert learner.value.argmax(axis=1).tolist() == list(BEST)
    assert learner.count.argmax(axis=1).tolist() == list(BEST)
    quarters = rounds.regrets.reshape(4, -1).mean(axis=1)
    # constant epsilon keeps paying: 0.1 * 8/9 of the gap of about 32 in each round
    floor = 0.1 * 8 / 9 * 32 if rule == EpsilonGreedy() else 0.0
    assert quarters[3] - floor < 0.35 * (quarters[0] - floor)
    assert rounds.regrets.min() >= 0
    if rule != EpsilonGreedy():
        total = rounds.regrets.cumsum()
        assert total[-1] < 1.5 * total[len(total) // 2]  # linear growth would double it


def test_constant_epsilon_explores_for_ever():
    learner = fresh(EpsilonGreedy(epsilon=0.5), 1, 2, seed=3)
    fed(learner, (0, 1.0), (1, 0.0))
    taken = [learner.choose(0) for _ in range(4000)]
    assert np.mean(taken) == pytest.approx(0.25, abs=0.03)  # half at random, half of those the worse one
    never = fresh(EpsilonGreedy(epsilon=0.0), 1, 2, seed=3)
    fed(never, (0, 1.0), (1, 0.0))
    assert {never.choose(0) for _ in range(100)} == {0}


def test_falling_epsilon_by_hand():
    # 3 * 2 actions / (1 + rounds): 1 up to five rounds, 6 / 601 after 600
    learner = fresh(EpsilonGreedy(epsilon=3.0, falling=True), 1, 2, seed=4)
    assert {learner.choose(0) for _ in range(60)} == {0, 1}
    fed(learner, *[(0, 1.0)] * 599, (1, 0.0))
    taken = [learner.choose(0) for _ in range(20_000)]
    assert np.mean(taken) == pytest.approx(6 / 601 / 2, abs=0.002)


def test_a_constant_step_by_hand():
    # 0 -> 0.5 * 8 = 4 -> 4 + 0.5 * (2 - 4) = 3
    learner = fed(fresh(EpsilonGreedy(step=0.5)), (0, 8.0), (0, 2.0))
    assert learner.value[0, 0] == 3.0
    assert math.isnan(learner.value[0, 1])
    hopeful = fed(fresh(EpsilonGreedy(epsilon=0.0, initial=100.0)), (0, 8.0), (0, 2.0))
    assert hopeful.value[0, 0] == 5.0  # the plain average forgets where it began
    assert hopeful.choose(0) == 1


def test_ucb1_by_hand():
    # Means 0.5 (of 10) and 0.4 (of 1), spread 1: 0.5 + sqrt(2 ln 11 / 10) = 1.1925, 0.4 + sqrt(2 ln 11) = 2.5899
    learner = fresh(UCB1(spread=1.0))
    assert learner.choose(0) == 0
    fed(learner, (0, 0.5))
    assert learner.choose(0) == 1
    fed(learner, (1, 0.4), *[(0, 0.5)] * 9)
    assert learner.choose(0) == 1
    # with spread 0.01: 0.5069 against 0.4219
    narrow = fed(fresh(UCB1(spread=0.01)), (1, 0.4), *[(0, 0.5)] * 10)
    assert narrow.choose(0) == 0
    # with spread 1 / 16: 0.5433 against 0.5369; with 1 / 13: 0.5533 against 0.5685
    assert fed(fresh(UCB1(spread=1 / 16)), (1, 0.4), *[(0, 0.5)] * 10).choose(0) == 0
    assert fed(fresh(UCB1(spread=1 / 13)), (1, 0.4), *[(0, 0.5)] * 10).choose(0) == 1


def test_thompson_posterior_by_hand():
    # Prior mean 1, strength 2, shape 3, scale 4; utilities 2 and 4 (mean 3, squares 2):
    # strength 4; mean (2 * 1 + 2 * 3) / 4 = 2; shape 3 + 1 = 4; scale 4 + 2/2 + 2*2*(3-1)^2 / (2*4) = 7.
    learner = fed(fresh(Thompson(mean=1.0, strength=2.0, shape=3.0, scale=4.0)), (0, 2.0), (0, 4.0))
    mean, strength, shape, scale = learner.rule.posterior(learner, 0)
    assert (mean[0], strength[0], shape[0], scale[0]) == pytest.approx((2.0, 4.0, 4.0, 7.0))
    assert (mean[1], strength[1], shape[1], scale[1]) == (1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_ties_are_broken_by_chance_and_the_same_seed_gives_the_same(rule):
    bandit = planted()
    runs = [bandit.play(fresh(rule, 2, 9, seed), 300, np.random.default_rng(0)).actions.tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    if not isinstance(rule, UCB1):  # UCB1 draws for ties only
        assert runs[0] != runs[2]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_learner_goes_on_from_what_was_stored(rule):
    bandit = planted()
    whole, first, second = fresh(rule, 2, 9), fresh(rule, 2, 9), fresh(rule, 2, 9, seed=9)
    questions = np.random.default_rng(6)
    kept = bandit.play(whole, 500, questions), bandit.play(whole, 500, questions)
    questions = np.random.default_rng(6)
    bandit.play(first, 500, questions)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert bandit.play(second, 500, questions).actions.tolist() == kept[1].actions.tolist()
    with pytest.raises(ParlourError, match="shape of a stored learner"):
        fresh(rule, 3, 9).load_state_dict(first.state_dict())


def test_regret_is_measured_against_the_best_action_of_the_state():
    # Means: action 0 earns 2, action 1 earns 5.
    table = UtilityTable(("a", "b"), (STATES[0],) * 2, PUBLISHED[:2], np.array([[1.0, 6.0], [3.0, 4.0]]))
    rounds = TableBandit(table).play(fed(fresh(EpsilonGreedy(epsilon=0.0)), (0, 99.0)), 20, np.random.default_rng(0))
    assert set(rounds.regrets.tolist()) == {3.0}
    assert set(rounds.utilities.tolist()) == {1.0, 3.0}


def test_tables_with_missing_cells_and_unusable_settings_are_refused():
    table = UtilityTable(("a",), (STATES[0],), PUBLISHED[:2], np.array([[1.0, math.nan]]))
    with pytest.raises(ParlourError, match="missing cells"):
        TableBandit(table)
    for make, setting in (
        (lambda: EpsilonGreedy(epsilon=1.5), "epsilon 1.5"),
        (lambda: EpsilonGreedy(epsilon=math.nan), "epsilon nan"),
        (lambda: EpsilonGreedy(step=0.0), "step 0.0"),
        (lambda: UCB1(spread=0.0), "spread 0.0"),
        (lambda: Thompson(scale=math.inf), "scale inf"),
        (lambda: PooledThompson(strength=0), "strength 0"),
        (lambda: PooledThompson(spread=0), "spread 0"),
        (lambda: PooledThompson(boldness=0), "boldness 0"),
    ):
        with pytest.raises(ParlourError, match=f"{setting} is not accepted"):
            make()
    assert EpsilonGreedy(epsilon=1.5, falling=True).epsilon == 1.5


# -- states that learn from each other ---------------------------------------------------------------------------


def test_a_pooled_draw_is_about_what_state_and_parents_tell():
    """Worked by hand, with draws that do not stray: boldness next to nothing."""
    rule = PooledThompson(strength=2.0, boldness=1e-12)
    learner = Learner(rule, 3, 1, np.random.default_rng(0), parents=[0, 0, 2])
    for state, utility in ((0, 10.0), (0, 10.0), (1, 4.0), (2, 0.0)):
        learner.update(state, 0, utility)
    seen = []
    learner.best = lambda scores: seen.append(float(scores[0])) or 0
    for state in range(3):
        learner.choose(state)
    # all: (24 + 1 * 0) / (4 + 1) = 4.8; trust of 0 and 1: (24 + 2 * 4.8) / (3 + 2) = 6.72, of 2: (0 + 9.6) / 3 = 3.2
    # states: (20 + 2 * 6.72) / 4 = 8.36, (4 + 13.44) / 3 = 5.8133, (0 + 6.4) / 3 = 2.1333
    assert seen == pytest.approx([8.36, 17.44 / 3, 6.4 / 3])


def test_pooling_gives_up_early_what_fails_everywhere():
    """Nine states of equal trust, one bad action in all of them: pooled, it is tried less often in a short run."""
    utilities = np.random.default_rng(4).normal(0, 40, (900, 3)) - np.array([0.0, 60.0, 60.0])
    states = tuple(f"T:{('low', 'mid', 'high')[k % 3]}_Q:{('low', 'mid', 'high')[k // 3 % 3]}" for k in range(900))
    bandit = TableBandit(UtilityTable(tuple(map(str, range(900))), states, PUBLISHED[:3], utilities))
    lost = {}
    for rule in (PooledThompson(), PooledThompson(strength=1e-9), Thompson()):
        learner = Learner(rule, 9, 3, np.random.default_rng(5), bandit.parents)
        lost[rule] = bandit.play(learner, 300, np.random.default_rng(6)).regrets.sum()
    pooled, apart, thompson = lost.values()
    assert pooled < 0.6 * apart
    assert pooled < 0.6 * thompson
