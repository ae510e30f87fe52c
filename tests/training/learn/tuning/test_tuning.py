"""Tuning by trials: the same deals for every trial, known optima, pruning that spares the best, honest reports."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from statistics import fmean

import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.training.learn.tuning.problem import Parameter, Space, TuneConfig, rewards
from parlour.training.play import seeds

from tests.training.learn.tuning.quadratic_problem import Bowl

pytest.importorskip("optuna", reason="the extra `train` is not installed")

from parlour.training.learn.tuning.run import tune
from parlour.training.learn.tuning.study import StudyRunner, Trial, against_defaults, ranked
from parlour.training.runs.run import Run

SMALL = {"budget": 6, "deals": 12, "block": 3, "held_out": 8, "finalists": 2}


def config(**changes):
    return TuneConfig(**(SMALL | changes))


def search(problem, config, folder, workers=1):
    return StudyRunner(problem, config, folder, workers).search()


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Recording(Bowl):
    """Writes down what it is asked."""

    asked: list = field(default_factory=list)

    def reward(self, parameters, deals):
        self.asked.append((tuple(parameters.values()), tuple(deals)))
        return super().reward(parameters, deals)


# -- deals -------------------------------------------------------------------------------------------------------


def test_every_trial_plays_the_same_deals_in_the_same_order(tmp_path):
    problem = Recording(noise=0.1, common=0.3)
    trials = search(problem, config(budget=8, deals=18), tmp_path)
    played = {}
    for parameters, deals in problem.asked:
        played.setdefault(parameters, []).extend(deals)
    assert len(played) == 8
    common = config(deals=18).training
    assert all(deals == common[: len(deals)] for deals in played.values())
    assert all(trial.complete == (played[tuple(trial.parameters.values())] == common) for trial in trials)
    assert any(not trial.complete for trial in trials)  # or the prefix above would say nothing


@given(seed=st.integers(0, 2**40), deals=st.integers(1, 60))
def test_no_deal_is_used_for_two_purposes(seed, deals):
    made = TuneConfig(seed=seed, deals=deals, held_out=deals + 1)
    assert all(deal in seeds.TRAINING for deal in made.training)
    assert all(deal in seeds.VALIDATION for deal in made.final)
    assert all(deal in seeds.HELD_OUT for deal in made.test)
    assert len(set(made.training)) == len(set(made.final)) == deals
    assert len(set(made.test)) == deals + 1
    everything = [*made.training, *made.final, *made.test]
    assert len(set(everything)) == len(everything)


def test_a_whole_run_trains_tests_and_draws_on_disjoint_deals(tmp_path):
    problem = Recording(noise=0.1, common=0.1)
    tune(problem, config(), Run(tmp_path))
    spent = [deal for _, deals in problem.asked for deal in deals]
    assert {deal for deal in spent if deal in seeds.HELD_OUT} == set(config().test)
    assert {deal for deal in spent if deal in seeds.TRAINING} == set(config().training)
    first_test = next(k for k, (_, deals) in enumerate(problem.asked) if deals[0] in seeds.HELD_OUT)
    assert not any(deals[0] in seeds.TRAINING for _, deals in problem.asked[first_test:])


# -- trials ------------------------------------------------------------------------------------------------------


def test_the_first_trial_has_the_defaults_and_they_win_ties(tmp_path):
    trials = search(Bowl(best=(0.5, 0.5)), config(), tmp_path)
    assert trials[0].parameters == {"x": 0.5, "y": 0.5}
    assert ranked(trials)[0].number == 0  # the defaults are the optimum
    equal = [Trial(k, {"x": k / 10}, (1.0, 0.0), True) for k in (2, 0, 1)]
    assert [trial.number for trial in ranked(equal)] == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_known_optimum_is_found(tmp_path, noise):
    # 1 - (x - 0.3)^2 - (y - 0.7)^2; the defaults (0.5, 0.5) earn 0.92
    problem = Bowl(noise=noise, common=0.5)
    trials = search(problem, config(budget=30, deals=6, block=3), tmp_path)
    parameters = ranked(trials)[0].parameters
    assert parameters["x"] == pytest.approx(0.3, abs=0.12)
    assert parameters["y"] == pytest.approx(0.7, abs=0.12)


def test_a_trial_is_compared_with_the_defaults_on_the_deals_that_both_played():
    first = Trial(0, {"x": 0.5}, (1.0, 1.0, 0.0, 5.0), True)
    cut = Trial(1, {"x": 0.9}, (2.0, 1.0, 0.0), False)
    (_, zero), (_, difference) = against_defaults([first, cut])
    assert (zero.n, zero.value, zero.low, zero.clear) == (4, 0.0, None, False)
    assert (difference.n, difference.value) == (3, pytest.approx(1 / 3))


def test_a_folder_may_have_any_name_and_the_tables_grow_with_the_trials(tmp_path):
    folder, seen = tmp_path / "a b?c#d%20{e}", []

    def look(stage, *_):
        table = folder / "trials.csv"
        seen.append((stage, len(rows(table)) if table.exists() else 0))

    tune(Bowl(), config(budget=3), Run(folder, look))
    # told before the table is written: so many trials as were finished before
    assert [count for stage, count in seen if stage.name.startswith("Training")][:3] == [0, 1, 2]
    assert (folder / "study.sqlite3").stat().st_size > 0


def test_a_finished_run_plays_nothing_more(tmp_path):
    tune(Bowl(noise=0.1), config(), Run(tmp_path))
    problem = Recording(noise=0.1)
    tune(problem, config(), Run(tmp_path))
    assert problem.asked == []


# -- measuring ---------------------------------------------------------------------------------------------------


ARMS = {"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3, "y": 0.4}}


def test_another_measurement_in_the_same_file_is_refused(tmp_path):
    runner = StudyRunner(Bowl(), config(block=2), tmp_path)
    runner.measure("m", ARMS, range(5))
    with pytest.raises(ParlourError, match="holds another measurement"):
        runner.measure("m", ARMS, range(6))
    (tmp_path / "m.jsonl").write_text((tmp_path / "m.jsonl").read_text() + '{"arm": "a"}\n')
    with pytest.raises(ParlourError, match="cannot be used"):
        runner.measure("m", ARMS, range(5))


# -- choosing and reporting --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lucky(Bowl):
    """Far from the defaults is good on the training deals, and worse than bad on all others."""

    def reward(self, parameters, deals):
        far = abs(parameters["x"] - 0.5)
        return [far if deal in seeds.TRAINING else -10 * far for deal in deals]


@dataclass(frozen=True)
class Same(Lucky):
    """Far from the defaults is good on the training deals, and anything may happen on the others."""

    def reward(self, parameters, deals):
        chance = Bowl(best=(0.5, 0.5), noise=3.0).reward(parameters, deals)
        return [super(Same, self).reward(parameters, deals)[0] if deals[0] in seeds.TRAINING else x for x in chance]


def test_a_difference_that_may_be_none_is_called_that(tmp_path):
    done = tune(Same(), config(finalists=0), Run(tmp_path))
    assert not done.same
    assert not done.test.clear
    text = (tmp_path / "report.md").read_text()
    assert "No difference between the trained parameter set and the default one was shown" in text


def test_a_run_leaves_its_curve_and_its_numbers(tmp_path):
    done = tune(Bowl(best=(0.1, 0.9), noise=0.02), config(), Run(tmp_path))
    assert not done.same
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "best.json").read_text())["parameters"] == done.parameters
    assert len(rows(tmp_path / "trials.csv")) == 6
    held_out = rows(tmp_path / "held_out.csv")
    gaps = [float(row["trained"]) - float(row["defaults"]) for row in held_out]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["held_out"]["difference"]["mean"] == pytest.approx(fmean(gaps))
    assert len(held_out) == summary["held_out"]["difference"]["n"] == 8


# -- spaces ------------------------------------------------------------------------------------------------------

RHO = Parameter("rho", 0.0, 1.0, 0.95)
WIDTH = Parameter("width", 1, 7, 3, "int")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Parameter("x", 1.0, 0.0, 0.5), "low < high"),
        (lambda: Parameter("x", 0.0, 1.0, 2.0), "from 0.0 to 1.0"),
        (lambda: Parameter("x", 0.5, 3, 1, "int"), "whole numbers"),
        (lambda: Parameter("x", 0, 1, 1, "word"), "kind 'word'"),
        (lambda: Space(()), "one or more"),
        (lambda: Space((RHO, RHO)), "each once"),
        (lambda: Space((RHO,)).chosen(["rho", "sigma"]), "parameter 'sigma'"),
        (lambda: Space((RHO,)).check({"rho": 1.5}), "rho 1.5"),
        (lambda: Space((RHO,)).check({"gamma": 0.5}), "accepted: rho"),
        (lambda: Space((WIDTH,)).check({"width": 2.5}), "a whole number"),
        (lambda: TuneConfig(method="spsa"), "method 'spsa'"),
        (lambda: TuneConfig(pruner="axe"), "pruner 'axe'"),
        (lambda: TuneConfig(budget=0), "budget 0"),
        (lambda: TuneConfig(held_out=1), "held_out 1"),
    ],
)
def test_what_is_not_accepted_is_told_in_one_line(make, why):
    with pytest.raises(ParlourError, match=why) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_another_configuration_or_problem_in_the_folder_is_refused(tmp_path):
    tune(Bowl(), config(), Run(tmp_path))
    before = (tmp_path / "config.json").read_bytes()
    for problem, settings in ((Bowl(), config(seed=1)), (Bowl(noise=0.1), config()), (Bowl((0.1,)), config())):
        with pytest.raises(ParlourError, match="another configuration") as refused:
            tune(problem, settings, Run(tmp_path))
        assert "\n" not in str(refused.value)
    assert (tmp_path / "config.json").read_bytes() == before
    (tmp_path / "file").write_text("")
    with pytest.raises(ParlourError, match="cannot be used"):
        tune(Bowl(), config(), Run(tmp_path / "file"))
    with pytest.raises(ParlourError, match="workers 0"):
        tune(Bowl(), config(), Run(tmp_path), workers=0)


@pytest.mark.parametrize("given", [[1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_rewards_that_are_no_numbers_or_too_few_are_refused(given):
    class Broken(Bowl):
        def reward(self, parameters, deals):
            return given

    with pytest.raises(ParlourError, match="a finite number for each of 2 deals"):
        rewards(Broken(), {"x": 0.5, "y": 0.5}, [1, 2])


# -- the study's file --------------------------------------------------------------------------------------------


def test_a_study_that_is_no_database_is_refused_in_one_line(tmp_path):
    tune(Bowl(), config(), Run(tmp_path))
    (tmp_path / "study.sqlite3").write_text("no database")
    with pytest.raises(ParlourError, match=r"study\.sqlite3' cannot be written or read: .*not a database"):
        tune(Bowl(), config(), Run(tmp_path))
