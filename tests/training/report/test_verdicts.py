"""Verdicts: what a difference shows, in words, with its interval, the number of cases, and how many it would take."""

from __future__ import annotations

import pytest
from parlour.training.report.verdicts import POINTS, UTILITY, WIN_RATE, DecidedBy, together
from parlour.training.statistics import Estimate


@pytest.mark.parametrize(
    ("difference", "measure", "said"),
    [
        (Estimate(0.2, 0.1, 0.3, 100), WIN_RATE, "x is better than y: +20.0 points [+10.0, +30.0]; 100 deals."),
        (Estimate(-0.2, -0.3, -0.1, 100), WIN_RATE, "x is worse than y: -20.0 points [-30.0, -10.0]; 100 deals."),
        (Estimate(1.0, n=1), WIN_RATE, "{} +100.0 points; 1 deal; one case tells nothing"),
        (Estimate(1.0, n=9), WIN_RATE, "{} +100.0 points; 9 deals; all went alike"),
        # only an interval that leaves out zero shows a difference
        (Estimate(0.2, 0.0, 0.4, 100), WIN_RATE, "{} +20.0 points [+0.0, +40.0]; 100 deals;"),
        # how many cases would show a difference that matters, or that it would have been shown
        (
            Estimate(0.01, -0.03, 0.05, 200),
            WIN_RATE,
            "{} +1.0 points [-3.0, +5.0]; 200 deals; about 730 would show 3.0 points.",
        ),
        (
            Estimate(0.01, -0.01, 0.03, 200),
            WIN_RATE,
            "{} +1.0 points [-1.0, +3.0]; 200 deals; a difference of 3.0 points would most likely have been shown",
        ),
        # without a size that matters, the difference that was seen: half an interval of 6 around 2:
        # 100 (1.43 x 6 / 2)^2 = 100 x 18.4 = 1839, upwards 1,900
        (Estimate(2.0, -4.0, 8.0, 100), UTILITY, "about 1,900 would show 2.00 net utility a question."),
        # the same as far as it is shown, with an interval or without
        (Estimate(-0.001, -0.002, -0.0005, 40), UTILITY, "x and y came out the same on all 40 questions."),
        (Estimate(0.0, n=9), WIN_RATE, "x and y came out the same on all 9 deals."),
        (Estimate(0.0, n=1), WIN_RATE, "{} +0.0 points; 1 deal; one case tells nothing"),
        (Estimate(-0.001, -0.006, -0.0005, 40), UTILITY, "x is worse than y: -0.00"),
        # points of a hundred
        (Estimate(17.0, 14.0, 20.0, 400), POINTS, "x is better than y: +17.0 points [+14.0, +20.0]; 400 deals."),
    ],
)
def test_what_is_said_of_a_difference(difference, measure, said):
    assert said.format("No difference between x and y was shown:") in measure.compared("x", "y", difference)


def test_the_words_of_a_table_are_those_of_the_sentence():
    assert [Estimate(v, v - 1, v + 1, 9).outcome for v in (2, -2, 0.5)] == ["better", "worse", "no difference shown"]
    dust = Estimate(-0.001, -0.002, -0.0005, 40)
    assert (UTILITY.outcome(dust), dust.outcome) == ("the same", "worse")


def test_the_number_of_cases_needed_is_that_of_a_power_of_four_in_five():
    # half an interval of 4 points is 1.96 standard errors; a difference d is shown 4 times in 5 where d = (1.96 + 0.84) errors.
    # so d = 3 points needs 200 (2.80 / 1.96 x 4 / 3)^2 = 200 x 3.63 = 726 deals, in two digits upwards: 730
    assert Estimate(0.01, -0.03, 0.05, 200).cases_needed(0.03) == 730
    # with half the interval, a quarter of them: 200 x 0.907 = 181.5, upwards 190
    assert Estimate(0.01, -0.01, 0.03, 200).cases_needed(0.03) == 190
    assert Estimate(0.01, n=1).cases_needed(0.03) is None


@pytest.mark.parametrize(
    ("own", "made", "said"), [(0, 841, "decided 0 of 841"), (420, 841, "decided 420 of 841"), (421, 841, "")]
)
def test_a_player_that_made_fewer_than_half_of_its_decisions_has_no_score(own, made, said):
    assert (
        (said in DecidedBy("the model", own, made).no_score)
        if said
        else DecidedBy("the model", own, made).no_score == ""
    )


def test_below_nineteen_in_twenty_a_score_has_a_doubt_beside_it():
    assert DecidedBy("chat", 95, 100).doubt == ""
    assert DecidedBy("chat", 94, 100).doubt == "Only 94.0 % of the decisions of chat were its own."
    assert DecidedBy("chat", 0, 100).doubt == DecidedBy("chat", 0, 100).no_score


def test_no_sentence_stands_twice_in_a_verdict():
    assert together(["One.", "", "One.", "Two."]) == "One. Two."
    assert WIN_RATE.of("questions").counted(1) == "1 question"
