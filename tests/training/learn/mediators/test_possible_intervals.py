"""No interval leaves what is possible, and none is told of fewer than two values or of equal ones: tables of few cases.

What `parlour.training.statistics` promises, held where its means are shown. Student's interval of two values is their mean
plus or minus 12.7 standard errors, and so mostly wider than what is possible.
"""

from __future__ import annotations

import numpy as np
import pytest
from parlour.training.learn.mediators.baselines import SystemAnswers, score, scores_table
from parlour.training.learn.mediators.learn import GraceConfig
from parlour.training.learn.mediators.table import UtilityTable
from parlour.training.learn.mediators.train import train
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate


def test_the_mean_over_seeds_stays_within_a_hundred_points():
    repeats = pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")
    estimate = Estimate(0.1, 0.0, 0.2, 500, 0.04)
    runs = [repeats.Repeat(k, estimate, Estimate(mean, n=500), 1000, 1.0) for k, mean in enumerate((0.2, 0.8))]
    report = repeats.repeats_report(SelfplayConfig(), runs)
    assert report.parts[0].texts()[-1] == ("mean", "+10.0  -", "+50.0  [-100.0, +100.0]", "-", "-")
    assert report.values["one_seat"]["high"] == 1.0


def answers(name: str, utility: list[float]) -> SystemAnswers:
    made = {
        field: np.zeros(len(utility)) for field in SystemAnswers.__annotations__ if field not in ("name", "utility")
    }
    return SystemAnswers(name=name, utility=np.array(utility), **made)


def test_net_utility_stays_between_the_dearest_failure_and_the_greatest_payment():
    """120 at most, and -40 with actions that cost 3, 5 and 4: -52; a difference lies between -172 and 172."""
    first, other, alone = score([answers("a", [115, -45]), answers("b", [-45, 115]), answers("c", [10, 10])])
    assert (first.utility.low, first.utility.high) == (-52, 120)
    assert (other.difference.low, other.difference.high) == (-172, 172)
    assert alone.utility.low is None
    assert first.difference.low is None  # from itself: all the same
    shown = scores_table([first, other, alone], "").texts()
    assert "35.00  [-52.00, 120.00]" in shown[0]
    assert "10.00  -" in shown[2]


def test_utilities_that_differ_by_rounding_are_equal():
    first, other = score([answers("a", [0.1 + 0.2, 10.0, -40.0]), answers("b", [0.3, 10.0, -40.0])])
    assert (other.difference.value, other.difference.low) == (0.0, None)
    assert scores_table([first, other], "").texts()[1][-1] == "0.00  -"


def test_the_curve_of_a_mediator_stays_within_what_a_question_can_pay(tmp_path):
    """Two held-out questions, 116 and -47: Student's interval would end at -1001 and 1070."""
    utilities = np.tile([[116.0, -50.0], [-47.0, -50.0]], (5, 1))
    joints = (("retrieve_shallow", "generate", "skip_check"), ("skip_retrieval", "generate_parametric", "skip_check"))
    table = UtilityTable(tuple(map(str, range(10))), ("s0",) * 10, joints, utilities)
    config = GraceConfig(temperature=1.0, floor=0.01, points=2, seed=3)
    points = train(config, table, Run(tmp_path / "run")).points
    assert all(-52.0 <= point.low <= point.held_out <= point.high <= 116 for point in points if point.low is not None)
    assert any(point.high == 116 for point in points)
