"""Scores of quizzes after murder mysteries by hand: weights, deviations of both papers, paired comparisons, printed totals."""

from __future__ import annotations

import json
from math import sqrt

import numpy as np
import pytest
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.quiz import Mark
from parlour.training.measure.murder_mystery.scores import QuizScore

from tests.reference_data import paper_table, reference

KINDS = {10: "individual", 5: "who", 2: "one_relation"}


def marks(*rows: tuple[int, tuple[bool, ...]]) -> list[Mark]:
    return [Mark(0, str(k), KINDS[points], points, right) for k, (points, right) in enumerate(rows)]


def test_overall_weighs_objectives_10_reasoning_5_and_relations_2():
    answers = marks((10, (True,)), (5, (False,)), (5, (True,)), (2, (True,)))
    assert scores.score(answers) == QuizScore((17 / 22,), 22)  # 10 + 5 + 2 of 22 points
    assert scores.score(answers, "reasoning") == QuizScore((0.5,), 2)  # questions, not points
    assert scores.score(answers, "who") == QuizScore((0.5,), 2)
    assert scores.score(answers, "relations") == QuizScore((1.0,), 1)
    assert scores.score(answers, "why") is None


def test_a_score_has_a_share_for_each_repetition():
    score = scores.score(marks((10, (True, False, False)), (5, (True, True, False))))
    assert score is not None
    assert score.shares == (1.0, 5 / 15, 0.0)


def test_questums_deviation_divides_by_n_and_players_by_n_less_1():
    score = QuizScore((0.2, 0.5, 0.8), 10)  # squares 0.09 + 0 + 0.09
    assert scores.over_repetitions(score) == pytest.approx(sqrt(0.18 / 3))
    assert scores.over_repetitions(score, "sample") == pytest.approx(sqrt(0.18 / 2))
    assert scores.over_repetitions(QuizScore((0.5,), 1)) == 0.0
    assert scores.over_repetitions(QuizScore((0.5,), 1), "sample") is None


def test_the_weighted_deviation_is_that_of_the_appendix():
    assert scores.over_cases([0.2, 0.6, 1.0], [1, 2, 1]) == pytest.approx(sqrt(0.08))  # mean 0.6; (0.16 + 0 + 0.16) / 4


def test_two_methods_are_compared_on_the_same_questions_only():
    a, b = marks((5, (True,)), (5, (True,))), marks((5, (False,)), (5, (True,)))
    estimate = scores.compared([a, a], [b, a])
    assert estimate is not None
    assert estimate.value == pytest.approx(0.25)
    with pytest.raises(ValueError, match="same questions"):
        scores.compared([a], [marks((5, (True,)))])


@pytest.mark.parametrize("measure", ["objective", "reasoning", "overall"])
@pytest.mark.parametrize("method", ["SSA", "FSA"])
def test_players_printed_totals_come_out_of_its_rows(method, measure):
    listed = json.loads(reference("wellplay/index.json").read_text("utf-8"))["scripts"]
    table = paper_table("player_table1.csv")
    rows = {row["group"]: row for row in table if row["method"] == method and row["metric"].lower() == measure}
    runs = []
    for script in listed:
        weight = script["points_total"] if measure == "overall" else script["question_counts"][measure]
        mean, off = (float(rows[script["paper_name"]][column]) for column in ("mean", "std"))
        # mean - off, mean, mean + off have mean `mean` and the sample deviation `off`
        runs.append(QuizScore((mean - off, mean, mean + off), weight))
    total = np.average([run.mean for run in runs], weights=[run.weight for run in runs])
    assert total == pytest.approx(float(rows["Overall"]["mean"]), abs=0.001)
    assert scores.over_runs(runs) == pytest.approx(float(rows["Overall"]["std"]), abs=0.005)
