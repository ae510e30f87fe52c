"""Which policy leaves a run: cross-validation over the training questions chooses, held-out questions test."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.policies.agents.mediated_qa.joint import FALLBACK, PUBLISHED
from parlour.training.learn.mediators.deploy import BY_STATE, best_column, choose, validated
from parlour.training.learn.mediators.learn import ChosenSettings, GraceConfig
from parlour.training.learn.mediators.stakes import LEARNED
from parlour.training.learn.mediators.table import UtilityTable
from parlour.training.statistics import Estimate

STATES = ("T:low_Q:low", "T:high_Q:high")
UNTESTED = {LEARNED: None, BY_STATE: None}


@pytest.mark.parametrize(
    ("gain", "usable", "says"),
    [
        (Estimate(5.0, 1.0, 9.0, 300), True, "The learned mediator is better than"),
        (Estimate(5.0, 0.0, 10.0, 300), False, "No difference between the learned mediator and"),
        (Estimate(-5.0, -9.0, -1.0, 300), False, "The learned mediator is worse than"),
        (Estimate(-0.001, -0.002, -0.0005, 300), False, "The learned mediator and the best static policy"),
        (Estimate(0.0, n=300), False, "The learned mediator and the best static policy"),
        (None, False, "No verdict: 29 training questions are too few; accepted: 30 or more."),
    ],
)
def test_the_interval_of_the_cross_validation_decides(gain, usable, says):
    deployed = choose({LEARNED: gain}, UNTESTED, FALLBACK, 29 if gain is None else 300)
    assert (deployed.usable, deployed.kept) == (usable, usable)
    first = "the learned mediator" if usable else f"the best static policy ({', '.join(FALLBACK)})"
    assert deployed.verdict.startswith(f"Deployed: {first}. {says}")


def test_of_several_candidates_the_best_lower_bound_decides():
    gains = {LEARNED: Estimate(9.0, 1.0, 17.0, 300), BY_STATE: Estimate(4.0, 2.0, 6.0, 300)}
    assert choose(gains, UNTESTED, FALLBACK, 300).candidate == BY_STATE  # 2 above 1, though 9 is above 4
    assert choose(gains, UNTESTED, FALLBACK, 300, keep=True).candidate == LEARNED


@pytest.mark.parametrize(
    ("test", "usable", "says"),
    [
        (Estimate(4.0, 1.0, 7.0, 100), True, "+4.00 net utility a question [+1.00, +7.00]; 100 held-out questions."),
        (Estimate(-1.0, -4.0, 2.0, 100), True, "-1.00 net utility a question [-4.00, +2.00]; 100 held-out questions."),
        (
            Estimate(-5.0, -9.0, -1.0, 100),
            False,
            "-5.00 net utility a question [-9.00, -1.00]; 100 held-out questions.",
        ),
        (Estimate(-5.0, -9.0, -1.0, 29), True, "No test: 29 held-out questions are too few; accepted: 30 or more."),
        (None, True, "Nothing was held out to test it. Hold out some questions."),
    ],
)
def test_held_out_questions_test_and_do_not_choose(test, usable, says):
    gains = {LEARNED: Estimate(5.0, 1.0, 9.0, 300), BY_STATE: Estimate(4.0, 0.5, 7.5, 300)}
    other = Estimate(50.0, 40.0, 60.0, 100)  # what was not chosen may be as good as it likes
    deployed = choose(gains, {LEARNED: test, BY_STATE: other}, FALLBACK, 300)
    assert (deployed.candidate, deployed.kept, deployed.usable) == (LEARNED, True, usable)
    assert deployed.verdict.endswith(says)


def test_a_gain_that_was_not_shown_says_how_many_questions_would_show_it():
    # half an interval of 5 around 5 at 300: 300 x (1.43 x 5 / 5)^2 = 613, in two digits upwards 620
    verdict = choose({LEARNED: Estimate(5.0, 0.0, 10.0, 300)}, UNTESTED, FALLBACK, 300).verdict
    assert "about 620 would show" in verdict
    assert "It learned from 300 questions: learn from more." in verdict


def states_differ(questions):
    """In one state the first action earns 100 and the other 0; in the other state the other way round."""
    states = [STATES[number % 2] for number in range(questions)]
    earned = np.array([[100.0, 0.0] if state == STATES[0] else [0.0, 100.0] for state in states])
    return UtilityTable(tuple(f"q{k}" for k in range(questions)), tuple(states), PUBLISHED[:2], earned)


CONFIG, SETTINGS = GraceConfig(temperature=0.0, floor=0.0), ChosenSettings(0.0, 0.0, 0.0)


def test_each_question_is_scored_by_what_others_taught():
    """Each state keeps its action, so a mediator earns 100 on every question, and a static action on half of them."""
    table = states_differ(40)
    gain = validated(table, CONFIG, SETTINGS, (0.0, 100.0))[LEARNED]
    assert (gain.value, gain.n) == (50.0, 40)
    # a question that is its state's only one is not known by the table that leaves it out: the fallback plays, NaN here
    lone = UtilityTable(table.ids, ("T:mid_Q:mid", *table.states[1:]), table.actions, table.utilities)
    assert validated(lone, CONFIG, SETTINGS, (0.0, 100.0))[LEARNED].n == 39


def test_of_too_few_questions_nothing_is_validated():
    assert validated(states_differ(29), CONFIG, SETTINGS, (0.0, 100.0)) == {}


def test_the_best_static_action_is_the_one_with_the_highest_mean():
    table = UtilityTable(("a", "b"), STATES, PUBLISHED[:2], np.array([[1.0, np.nan], [3.0, 2.5]]))
    assert best_column(table) == 1  # 2.5 above (1 + 3) / 2
