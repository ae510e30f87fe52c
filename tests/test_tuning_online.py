"""Tuning one deal at a time: the steps of SPSA by hand, convergence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.training.learn.tuning import online
from parlour.training.learn.tuning.problem import EDGE, Parameter, Space, TuneConfig
from parlour.training.learn.tuning.run import tune
from parlour.training.play import seeds
from parlour.training.results.runs import no_stage_progress
from quadratic_problem import Bowl

SMALL = {"method": "spsa", "budget": 4, "deals": 10, "held_out": 8, "surface": 2, "grid": 2}


def learn(problem, config, folder):
    return online.learn(problem, config, folder, no_stage_progress)


@dataclass(frozen=True)
class Slope:
    """Reward: the place of each parameter on the whole line, weighted. Its gradient is known everywhere."""

    weights: tuple[float, ...] = (2.0, -1.0)
    asked: list = field(default_factory=list)
    name = "slope"
    games = 1
    settings = {}  # noqa: RUF012 - nothing else decides a reward

    @property
    def space(self):
        return Space(tuple(Parameter(name, 0.0, 1.0, 0.5) for name in "xyz"[: len(self.weights)]))

    def reward(self, parameters, deals):
        self.asked.append((dict(parameters), tuple(deals)))
        point = self.space.unbounded(parameters)
        return [sum(w * x for w, x in zip(self.weights, point, strict=True))] * len(deals)


def test_one_step_by_hand(tmp_path):
    # One parameter, reward 2x on the whole line, start 0. With any sign d the rewards are 2 (x + c d) and 2 (x - c d);
    # their difference over 2 c d is 2, the gradient. Calibration: |difference| / 2c = 2, so with steps = 20, A = 2,
    # a = 0.3 (2 + 1)^0.602 / 2 = 0.290615. The first step is a / (2 + 1)^0.602 * 2 = 0.3 long: `step`, as wanted.
    # The second: a / (2 + 2)^0.602 * 2 = 0.3 (3/4)^0.602 = 0.252294.
    done = learn(Slope((2.0,)), TuneConfig(**SMALL, step=0.3), tmp_path)
    assert TuneConfig(**SMALL).steps == 20
    assert done.calibration == 20
    assert done.gain == pytest.approx(0.290615, abs=1e-6)
    assert [step.point for step in done.steps[:20]] == [(0.0,)] * 20  # nothing moves while `a` is being set
    assert done.steps[20].point[0] == pytest.approx(0.3)
    assert done.steps[21].point[0] - 0.3 == pytest.approx(0.252294, abs=1e-6)


def test_distances_shrink_as_spall_says(tmp_path):
    # c_k = c / k^0.101: 0.5 in the first step, 0.5 / 2^0.101 = 0.466193 in the second
    done = learn(Slope((2.0,)), TuneConfig(**SMALL, spread=0.5), tmp_path)
    gaps = [abs(step.plus - step.minus) / 4 for step in done.steps]  # 2 (c d) - 2 (-c d) = 4 c d
    assert gaps[:21] == pytest.approx([0.5] * 21)
    assert gaps[21] == pytest.approx(0.466193, abs=1e-6)


def test_both_sides_of_a_step_play_the_same_training_deal_with_all_parameters_moved(tmp_path):
    problem = Slope()
    done = learn(problem, TuneConfig(**SMALL), tmp_path)
    pairs = list(zip(problem.asked[::2], problem.asked[1::2], strict=True))
    assert len(pairs) == len(done.steps) == 40
    signs = set()
    for (plus, deals), (minus, same) in pairs:
        assert deals == same
        assert len(deals) == 1
        assert deals[0] in seeds.TRAINING
        gaps = np.subtract(problem.space.unbounded(plus), problem.space.unbounded(minus))
        assert abs(gaps[0]) == pytest.approx(abs(gaps[1]))
        signs.add(tuple(np.sign(gaps)))
    assert signs == {(1, 1), (1, -1), (-1, 1), (-1, -1)}
    assert len({deals for _, deals in problem.asked}) == 40  # and another deal each time


def test_the_gradient_of_several_parameters_is_followed_at_once(tmp_path):
    done = learn(Slope((2.0, -1.0)), TuneConfig(**SMALL | {"budget": 40}), tmp_path)
    assert done.parameters["x"] > 0.9
    assert done.parameters["y"] < 0.1
    assert max(abs(x) for step in done.steps for x in step.point) <= EDGE


def test_it_converges_to_a_known_optimum(tmp_path):
    config = TuneConfig(**SMALL | {"budget": 20, "deals": 60})
    done = learn(Bowl(), config, tmp_path / "calm")
    assert done.parameters == pytest.approx({"x": 0.3, "y": 0.7}, abs=0.02)
    noisy = learn(Bowl(noise=0.05, common=1.0), config, tmp_path / "noisy")
    assert noisy.parameters == pytest.approx({"x": 0.3, "y": 0.7}, abs=0.12)


def test_the_result_is_the_mean_of_the_second_half_of_the_way(tmp_path):
    problem, config = Bowl(noise=0.1), TuneConfig(**SMALL)
    done = learn(problem, config, tmp_path)
    way = [step.point for step in done.steps[done.calibration :]][10:]
    assert len(way) == 10
    assert done.parameters == problem.space.bounded(np.mean(way, axis=0).tolist())


class Flat(Slope):
    """Tells two sides apart only from the 31st deal on, if at all."""

    first = 30

    def reward(self, parameters, deals):
        found = super().reward(parameters, deals)
        return found if len(self.asked) > 2 * self.first else [0.0]


def test_calibration_goes_on_while_no_deal_tells_the_sides_apart(tmp_path):
    done = learn(Flat(), TuneConfig(**SMALL), tmp_path)
    assert done.calibration == 40
    assert len(done.steps) == 60


def test_a_problem_that_never_differs_is_refused_in_one_line(tmp_path):
    class Dead(Flat):
        first = 10**6

    with pytest.raises(ParlourError, match="in 200 deals the reward never differed") as refused:
        learn(Dead(), TuneConfig(**SMALL), tmp_path)
    assert "\n" not in str(refused.value)


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    tune(Bowl(), TuneConfig(**SMALL), tmp_path)
    (tmp_path / "checkpoint.before.json").unlink()  # which would be used
    (tmp_path / "checkpoint.json").write_text('{"gain": 1}')
    with pytest.raises(ParlourError, match=r"checkpoint\.json cannot be used"):
        tune(Bowl(), TuneConfig(**SMALL), tmp_path)


def test_a_run_leaves_its_curve_and_says_how_many_deals_told(tmp_path):
    done = tune(Bowl(noise=0.1), TuneConfig(**SMALL), tmp_path)
    assert done.learned is not None
    for picture in ("curve.png", "surface.png"):
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 1 + 20
    assert len((tmp_path / "steps.csv").read_text().splitlines()) == 1 + 20 + 20
    assert "40 of 40 deals told the two sides apart" in (tmp_path / "report.md").read_text()
