"""Q-hat, shrinkage, quantal response, floor and cross-validation: worked numbers and hard ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.joint import FALLBACK, PUBLISHED, STATES
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training.learn.mediators import learn as quantal
from parlour.training.learn.mediators.quantities import estimate, measure
from parlour.training.learn.mediators.table import UtilityTable

NAN = math.nan


def table(*rows, actions=PUBLISHED):
    """Rows of (state, utilities...)."""
    width = len(rows[0]) - 1
    names = tuple(f"q{k}" for k in range(len(rows)))
    return UtilityTable(
        names, tuple(row[0] for row in rows), actions[:width], np.array([row[1:] for row in rows], float)
    )


# -- Q-hat -----------------------------------------------------------------------------------------------------


def test_means_counts_and_intervals_by_hand():
    # State low/mid, action 0: 1 and 3: mean 2, squares 1 + 1 = 2; Student's t with one degree of freedom: 12.7062 * 1.
    measured = measure(table(("T:low_Q:mid", 1, NAN), ("s0", 7, -2), ("T:low_Q:mid", 3, 5)))
    assert measured.states == ("T:low_Q:mid", "s0")
    assert measured.questions.tolist() == [2, 1]
    assert measured.count.tolist() == [[2, 1], [1, 1]]
    assert measured.mean.tolist() == [[2.0, 5.0], [7.0, -2.0]]
    assert measured.squares.tolist() == [[2.0, 0.0], [0.0, 0.0]]
    assert measured.low[0, 0] == pytest.approx(2 - 12.706204736, abs=1e-8)
    assert measured.high[0, 0] == pytest.approx(2 + 12.706204736, abs=1e-8)
    assert math.isnan(measured.low[0, 1])
    assert math.isnan(measured.high[0, 1])


def test_the_interval_of_three_questions_by_hand():
    # 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14; error sqrt(14 / 2 / 3) = 1.5275; Student's t with two degrees: 4.3027
    measured = measure(table(("s0", 1), ("s0", 2), ("s0", 6)))
    assert measured.squares[0, 0] == pytest.approx(14)
    assert measured.high[0, 0] - 3 == pytest.approx(4.3027 * 1.5275, abs=1e-3)
    assert 3 - measured.low[0, 0] == pytest.approx(4.3027 * 1.5275, abs=1e-3)


def test_an_action_that_was_never_tried_has_no_mean():
    measured = measure(table(("s0", 1, NAN), ("s0", 2, NAN)))
    assert math.isnan(measured.mean[0, 1])
    assert measured.count.tolist() == [[2, 0]]
    made = quantal.policy(estimate(measured), 0.7, 0.02)
    assert made.rows == {"s0": {PUBLISHED[0]: 1.0}}


# -- shrinkage -------------------------------------------------------------------------------------------------

THIN = table(
    ("T:low_Q:low", 10.0),
    *[("T:low_Q:mid", 2.0)] * 3,
    *[("T:mid_Q:mid", 0.0)] * 4,
)


def test_shrinkage_by_hand():
    # All: (10 + 6 + 0) / 8 = 2. T:low: mean 4 of 4; with one pseudo-question (4 * 4 + 2) / 5 = 3.6.
    # low/low: (10 + 3.6) / 2 = 6.8; low/mid: (3 * 2 + 3.6) / 4 = 2.4; T:mid: (4 * 0 + 2) / 5 = 0.4, mid/mid 0.4 / 5 = 0.08.
    estimated = estimate(measure(THIN), 1.0)
    value = dict(zip(estimated.states, estimated.value[:, 0].tolist(), strict=True))
    assert set(value) == set(STATES)
    assert len(estimated.states) == len(STATES)  # each once
    assert value["T:low_Q:low"] == pytest.approx(6.8)
    assert value["T:low_Q:mid"] == pytest.approx(2.4)
    assert value["T:low_Q:high"] == pytest.approx(3.6)
    assert value["T:mid_Q:mid"] == pytest.approx(0.08)
    assert value["T:mid_Q:low"] == pytest.approx(0.4)
    assert value["T:high_Q:low"] == pytest.approx(2.0)


def test_no_shrinkage_takes_the_means_and_no_other_states():
    estimated = estimate(measure(THIN), 0.0)
    assert estimated.states == ("T:low_Q:low", "T:low_Q:mid", "T:mid_Q:mid")
    assert estimated.strength == (0.0, 0.0)
    assert estimated.value[:, 0].tolist() == [10.0, 2.0, 0.0]


def test_a_question_without_signal_leans_on_all_questions():
    estimated = estimate(measure(table(("s0", 6.0), ("T:low_Q:low", 0.0), ("T:low_Q:low", 0.0))), 1.0)
    assert estimated.value[0, 0] == pytest.approx((6.0 + 2.0) / 2)
    assert "s0" not in estimate(measure(THIN), 1.0).states


def test_an_action_tried_elsewhere_only_is_taken_from_the_parent():
    estimated = estimate(measure(table(("T:low_Q:low", 1.0, NAN), ("T:low_Q:mid", 1.0, 8.0), ("s0", 4.0, 2.0))), 1.0)
    low = estimated.states.index("T:low_Q:low")
    # T:low has 8 once: (8 + 5) / 2 = 6.5
    assert estimated.value[low, 1] == pytest.approx(6.5)


def test_empirical_bayes_by_hand():
    # Buehlmann and Straub: within, squares 4 + 4 over 6 degrees: 4/3. Between, 4 (1 - 3)^2 + 4 (5 - 3)^2 = 32, weight
    # 8 - 32/8 = 4: variance (32 - 4/3) / 4 = 23/3. k = (4/3) / (23/3) = 4/23. Each trust level has one state: k = 0 there.
    rows = [("T:low_Q:mid", u) for u in (0, 0, 2, 2)] + [("T:high_Q:mid", u) for u in (4, 4, 6, 6)]
    estimated = estimate(measure(table(*rows)), "auto")
    assert estimated.strength == pytest.approx((0.0, 4 / 23))
    assert estimated.value[estimated.states.index("T:low_Q:mid"), 0] == pytest.approx(1.0)
    k = 4 / 23
    assert estimated.value[estimated.states.index("T:low_Q:low"), 0] == pytest.approx((4 * 1 + k * 3) / (4 + k))


def test_empirical_bayes_within_a_trust_level_by_hand():
    # The same groups as two states of one level: k of the states is 4/23, and there is but one level.
    rows = [("T:low_Q:mid", u) for u in (0, 0, 2, 2)] + [("T:low_Q:low", u) for u in (4, 4, 6, 6)]
    assert estimate(measure(table(*rows)), "auto").strength == pytest.approx((4 / 23, 0.0))


def test_a_state_of_one_question_counts_among_the_states_by_hand():
    # Those groups, and 3 once: within 8 over 3 + 3 + 0 degrees: 4/3. Between, 16 + 16 + 0 = 32 of three groups, weight
    # 9 - (16 + 16 + 1)/9 = 16/3: variance (32 - 2 * 4/3) / (16/3) = 11/2. k = (4/3) / (11/2) = 8/33.
    rows = [("T:low_Q:mid", u) for u in (0, 0, 2, 2)] + [("T:low_Q:low", u) for u in (4, 4, 6, 6)]
    alone = ("T:low_Q:high", 3)
    assert estimate(measure(table(*rows, alone)), "auto").strength == pytest.approx((8 / 33, 0.0))


def test_empirical_bayes_where_states_do_not_differ_or_nothing_is_known():
    alike = [(state, u) for state in STATES for u in (-5.0, 5.0)]
    estimated = estimate(measure(table(*alike)), "auto")
    assert estimated.strength == (math.inf, math.inf)
    np.testing.assert_allclose(estimated.value, 0.0, atol=1e-12)
    single = [(state, float(k)) for k, state in enumerate(STATES)]
    assert estimate(measure(table(*single)), "auto").strength[0] == 1.0
    assert estimate(measure(table(("s0", 3.0))), "auto").value[0, 0] == 3.0


@pytest.mark.parametrize("shrinkage", [-1.0, NAN, math.inf, "much", True])
def test_other_shrinkage_is_refused(shrinkage):
    with pytest.raises(ParlourError, match=r"shrinkage .* is not accepted; accepted: a number of pseudo-questions"):
        estimate(measure(THIN), shrinkage)


# -- quantal response ------------------------------------------------------------------------------------------


def test_quantal_response_by_hand():
    # exp(0) : exp(0.7 ln 3 / 0.7) = 1 : 3
    np.testing.assert_allclose(
        quantal.quantal_response(np.array([0.0, 0.7 * math.log(3)]), 0.7), [0.25, 0.75], rtol=1e-15
    )
    # floor 0.1 of two: 0.8 * 0.25 + 0.1 = 0.3
    np.testing.assert_allclose(quantal.respond(np.array([0.0, 0.7 * math.log(3)]), 0.7, 0.1), [0.3, 0.7], rtol=1e-14)


def test_a_row_of_zeros_is_uniform_and_temperature_zero_is_as_good_as_none():
    assert quantal.respond(np.zeros(9), 0.7, 0.02).tolist() == pytest.approx([1 / 9] * 9)
    assert quantal.quantal_response(np.array([1.0, 2.0, 2.0]), 0.0).tolist() == [0.0, 0.5, 0.5]


values = st.lists(
    st.one_of(st.just(NAN), st.sampled_from([0.0, 1.0, -1e100, 1e100]), st.floats(-1e100, 1e100)),
    min_size=1,
    max_size=17,
).filter(lambda row: not all(map(math.isnan, row)))


@given(values, st.sampled_from([0.0, 1e-300, 1e-12, 0.7, 1e6, 1e300]), st.sampled_from([0.0, 1e-6, 0.02, 0.058]))
def test_probabilities_whatever_the_values(row, temperature, floor):
    row = np.array(row)
    p = quantal.respond(row, temperature, floor)
    known = ~np.isnan(row)
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    assert (p[~known] == 0).all()
    assert (p[known] >= floor - 1e-12).all()
    assert p[np.nanargmax(row)] == pytest.approx(p.max(), abs=1e-12)
    for a in np.flatnonzero(known):  # better is never less likely, equal is equally likely
        assert (p[known][row[known] > row[a]] >= p[a] - 1e-12).all()
        np.testing.assert_allclose(p[known][row[known] == row[a]], p[a], rtol=1e-12)


def test_what_cannot_be_used_is_refused():
    for temperature in (-0.1, NAN, math.inf):
        with pytest.raises(ParlourError, match=r"temperature .* is not accepted"):
            quantal.quantal_response(np.zeros(2), temperature)
    for floor in (0.5, 0.6, -0.01, NAN):
        with pytest.raises(ParlourError, match=r"floor .* is not accepted with 2 actions"):
            quantal.respond(np.zeros(2), 0.7, floor)
    with pytest.raises(ParlourError, match="without any value"):
        quantal.quantal_response(np.array([[0.0], [NAN]]), 0.7)
    # the action without a value needs no floor
    assert quantal.respond(np.array([0.0, NAN]), 0.7, 0.6).tolist() == [1.0, 0.0]


# -- held-out utility ------------------------------------------------------------------------------------------


def test_earned_by_hand():
    # 1/4 * 8 + 3/4 * 4 = 5; with the second not tried: 8; a state without a row: the fallback earns 9.
    made = PolicyTable({"s0": {PUBLISHED[0]: 0.25, PUBLISHED[1]: 0.75}})
    earned = quantal.earned(
        made, table(("s0", 8, 4, 9), ("s0", 8, NAN, 9), ("T:low_Q:low", 8, 4, 9), ("s0", NAN, NAN, 9))
    )
    np.testing.assert_allclose(earned, [5.0, 8.0, 9.0, NAN])
    assert PUBLISHED[2] == FALLBACK


def noisy(n, gap, seed=0):
    rng = np.random.default_rng(seed)
    means = np.zeros(9)
    means[4] = gap
    return table(*[("s0", *(means + rng.normal(0, 40, 9))) for _ in range(n)])


def test_cross_validation_is_greedy_where_the_best_is_clear_and_soft_where_all_is_noise():
    clear = quantal.cross_validate(noisy(400, 60.0))
    assert clear.floor == 0.0
    assert clear.held_out == pytest.approx(60.0, abs=5.0)
    none, some = (
        quantal.cross_validate(noisy(400, 60.0), temperatures=(0.7,), floors=(floor,)).held_out for floor in (0.0, 0.05)
    )
    # the floor gives 8 worse actions eps each: about 60 * 8 * eps is lost
    assert none - some == pytest.approx(60 * 8 * 0.05, rel=0.15)


def test_cross_validation_never_learns_from_what_it_scores():
    # One utility for each question, all different: who saw the question would know that its own action pays.
    rows = [("s0", *(100.0 if j == k % 9 else 0.0 for j in range(9))) for k in range(9)]
    best = quantal.cross_validate(table(*rows), folds=9, temperatures=(0.1,), floors=(0.0,))
    assert best.held_out == pytest.approx(0.0, abs=1e-9)
    # the same question in two rows is held out as a whole: its twin tells nothing
    twins = UtilityTable(tuple("abcdefghi") * 2, ("s0",) * 18, PUBLISHED, np.array([row[1:] for row in rows] * 2))
    best = quantal.cross_validate(twins, folds=9, temperatures=(0.1,), floors=(0.0,))
    assert best.held_out == pytest.approx(0.0, abs=1e-9)


def test_cross_validation_by_hand():
    # Two questions, two folds: each learns the other's row. Learned from (0, 4): response to it earns on (2, 6) and back.
    made = table(("s0", 0.0, 4.0), ("s0", 2.0, 6.0))
    p = 1 / (1 + math.exp(-4))
    expected = ((1 - p) * 2 + p * 6 + (1 - p) * 0 + p * 4) / 2
    result = quantal.cross_validate(made, folds=5, temperatures=(1.0,), floors=(0.0,))
    assert result.held_out == pytest.approx(expected, abs=1e-12)


def test_cross_validation_is_the_same_for_the_same_seed_and_takes_the_first_of_equals():
    made = noisy(60, 10.0)
    assert quantal.cross_validate(made, seed=3) == quantal.cross_validate(made, seed=3)
    assert quantal.cross_validate(made, seed=3) != quantal.cross_validate(made, seed=4)
    flat = table(*[("s0", 1.0, 1.0)] * 6)
    assert quantal.cross_validate(flat).temperature == quantal.TEMPERATURES[0]


def test_cross_validation_of_too_little_is_refused():
    with pytest.raises(ParlourError, match="over 1 questions"):
        quantal.cross_validate(table(("s0", 1.0, 2.0)))
    with pytest.raises(ParlourError, match="none of the floors"):
        quantal.cross_validate(noisy(10, 1.0), floors=(0.2,))
    lonely = table(("T:low_Q:low", 1.0), ("T:low_Q:mid", 1.0))
    with pytest.raises(ParlourError, match="no held-out question evaluates any policy"):
        quantal.cross_validate(lonely)
