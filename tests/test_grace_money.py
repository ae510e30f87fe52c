"""Stakes and costs in money: the unit does not matter, one's own costs are those of the modules' game."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.policies.agents.mediated_qa.joint import COSTS
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import NO_USAGE, ChatMessage, Completion, Request, Usage
from parlour.training.cli import run
from parlour.training.learn.mediators import costs
from parlour.training.learn.mediators.calibrated_run import read_run
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.held_out import prepare
from parlour.training.learn.mediators.simulate import calibrate
from parlour.training.learn.mediators.stakes import StakesConfig, payment_at, stakes

DOLLARS = Payment((1.2, -0.4, 0.1, -0.2), (0.01, 0.03, 0.0, 0.02, 0.05, 0.02, 0.0, 0.04, 0.0))
"""The published payment in dollars for cents."""
HALF = (1.0, 9.0, 0.0, 2.0, 5.0, 2.0, 0.0, 4.0, 0.0)
"""Costs with a deep search at 9, eight more than a shallow one."""


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
    from parlour.training.learn.mediators.contextual import ContextualConfig, learn_contextual

    rows, contexts = calibrated
    states = [row.state for row in rows]
    rows, states = rows[:100], states[:100]
    seen, config = np.array(contexts[:100]), ContextualConfig(sees="state", floor=0.0, folds=2)
    cents = learn_contextual(rows, seen, Payment(), config)
    dollars = learn_contextual(rows, seen, DOLLARS, config)
    assert cents.temperature > 0, "otherwise the test cannot fail"
    assert dollars.temperature == pytest.approx(cents.temperature / 100)
    assert dollars.policy(seen, states) == pytest.approx(cents.policy(seen, states), abs=1e-9)


# -- one's own costs in the modules' game ----------------------------------------------------------------------


@pytest.mark.slow
def test_contextual_modules_pay_the_costs_that_the_model_was_learned_at(calibrated):
    pytest.importorskip("sklearn")
    from parlour.training.learn.mediators.contextual import correlated_model, learn_contextual, regrets

    rows, contexts = calibrated
    model = learn_contextual(rows, contexts, Payment(costs=HALF))
    seen, states = np.array(contexts)[:10], [row.state for row in rows][:10]
    mine = {"individual_costs": True, "share": 0.1}
    policy = correlated_model(model, **mine).policy(seen, states)
    assert regrets(model, seen, states, policy, **mine).max() <= 1e-6
    # the same numbers at costs told apart: what is learned at them is what is told
    assert policy == pytest.approx(correlated_model(model, **mine).policy(seen, states, Payment(costs=HALF)))
    cheap = replace(model, payment=Payment())
    assert policy != pytest.approx(correlated_model(cheap, **mine).policy(seen, states, Payment()))


# -- what the actions use --------------------------------------------------------------------------------------


class Timed:
    """Stands for the seconds of a clock that goes on by one whenever it is looked at."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(costs, "perf_counter", Timed())


def read_csv(path):
    with path.open(newline="") as file:
        return {row["action"]: row for row in csv.DictReader(file)}


def test_each_action_is_measured_each_time_that_it_is_carried_out(tmp_path, clock):
    """Six questions: each is searched twice, remembered and sampled once, and read twice where both searches found something."""
    prepare(HeldOutConfig(train=4, held_out=2, difficulty="easy"), out=tmp_path / "run")
    usage = read_csv(tmp_path / "run" / "usage.csv")
    assert list(usage) == [action for action in COSTS if action not in costs.FREE]
    for action in ("retrieve_shallow", "retrieve_deep", "generate_parametric", "generate_consistency"):
        assert (usage[action]["n"], usage[action]["n_seconds"]) == ("6", "6")
    assert 6 < int(usage["generate"]["n"]) <= 12
    # no model is asked, and each clocked span takes the one tick between its two looks at the clock
    for row in usage.values():
        assert (float(row["prompt"]), float(row["completion"]), float(row["seconds"])) == (0.0, 0.0, 1.0)


def test_replies_of_a_model_are_charged_to_the_action_that_asked_also_those_of_the_cache():
    inner = Replies()
    meter = Meter(inner, Prices())
    tally = costs.Tally()
    with tally.of("generate"):
        meter.complete(request())
        meter.complete(request())
    inner.cached = True
    with tally.of("generate"):
        meter.complete(request())
    with tally.of("run_nli_check"):
        pass
    meter.complete(request())  # of nobody
    generate, check = tally.usage["generate"], tally.usage["run_nli_check"]
    # three replies of 100 + 7 tokens in two executions, of which the second came from the cache: its time is not known
    assert (generate.n, generate.prompt, generate.completion, generate.timed) == (2, 300, 21, 1)
    assert (check.n, check.prompt, check.timed) == (1, 0, 1)


class Replies:
    """A transport: each reply took 100 tokens to read and 7 to write."""

    cached, dropped = False, ()

    def complete(self, _request):
        return Completion(("x",), Usage(100, 7), ("stop",), cached=self.cached, dropped=self.dropped)


def request():
    return Request(model="m", messages=(ChatMessage("user", "?"),), temperature=0.0, max_tokens=9, ask="grace.generate")


def test_tokens_that_a_server_does_not_tell_are_not_known(tmp_path):
    inner, tally = Replies(), costs.Tally()
    inner.dropped = (NO_USAGE,)
    with tally.of("generate"):
        Meter(inner, Prices()).complete(request())
    partial = tmp_path / "partial_usage.csv"
    costs.resume(partial, ())
    partial.write_text(partial.read_text() + costs.lines_of(0, tally.usage))
    costs.store_means(partial, tmp_path / "usage.csv")
    assert read_csv(tmp_path / "usage.csv")["generate"]["prompt"] == ""
    assert costs.costs_by(tmp_path / "usage.csv", costs.UseRate(0, 0, 0)) == (0.0,) * 9
    with pytest.raises(ParlourError, match="tokens of generate were not measured; accepted"):
        costs.costs_by(tmp_path / "usage.csv", costs.UseRate(1, 0, 0))


# -- costs by a rate -------------------------------------------------------------------------------------------


USED = """action,n,prompt,completion,n_seconds,seconds
retrieve_shallow,2,0.0,0.0,2,0.5
retrieve_deep,2,0.0,0.0,2,2.0
generate,3,2000.0,100.0,3,1.5
generate_consistency,2,150.0,500.0,0,
"""


def test_tokens_and_seconds_become_costs_by_a_rate(tmp_path):
    (tmp_path / "usage.csv").write_text(USED)
    # 0.15 and 0.6 a million: generate 2,000 * 0.15 + 100 * 0.6 = 360 a million; and 0.01 a second
    priced = costs.rate("0.15,0.6,0")
    assert costs.costs_by(tmp_path / "usage.csv", priced) == pytest.approx((0, 0, 0, 360e-6, 322.5e-6, 0, 0, 0, 0))
    with pytest.raises(ParlourError, match="seconds of generate_consistency were not measured"):
        costs.costs_by(tmp_path / "usage.csv", costs.rate("0.15,0.6,0.01"))
    (tmp_path / "usage.csv").write_text(USED.replace("0,\n", "2,4.0\n"))
    prices = costs.costs_by(tmp_path / "usage.csv", costs.rate("gpt-4o-mini,0.01"))
    assert prices == pytest.approx((0.005, 0.02, 0, 360e-6 + 0.015, 322.5e-6 + 0.04, 0, 0, 0, 0))
    assert (
        costs.rate("gpt-4o-mini,0.01")
        .told(prices)
        .startswith("costs by use at rate 0.15,0.6,0.01: retrieve_shallow 0.005,")
    )


@pytest.mark.parametrize("text", ["", "1", "1,2,3,4", "1,2,x", "no-such-model,1", "-1,0,0", "nan,0,0", "1,2,inf"])
def test_rates_that_mean_nothing_are_refused(text):
    with pytest.raises(ParlourError, match="accepted"):
        costs.rate(text)


@pytest.mark.parametrize("source", [["--from-table", "x.csv"], ["--from-log", "x.jsonl"]])
def test_a_rate_is_for_what_is_calibrated_and_in_place_of_costs(source, capsys, error_of):
    assert "--rate makes costs of a calibration; accepted" in error_of(["train", "grace", *source, "--rate", "1,1,1"])
    assert run(["train", "grace", "--questions", "9", "--costs", "generate=1", "--rate", "1,1,1"]) == 2
    assert "without --costs" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_is_priced_by_its_rate_and_nothing_is_asked_again(tmp_path, clock, capsys, error_of):
    """Each action takes one tick, so that at 7 a second each of the six costs 7; tokens were none."""
    words = ["train", "grace", "--questions", "30", "--held-out", "10", "--temperature", "1", "--floor", "0"]
    assert run([*words, "--rate", "0,0,7", "--out", str(tmp_path / "rated")]) == 0
    assert "costs by use at rate 0,0,7: retrieve_shallow 7" in " ".join(capsys.readouterr().out.split())
    sevens = ",".join("0" if action in costs.FREE else "7" for action in COSTS)
    assert run([*words, "--costs", sevens, "--out", str(tmp_path / "stated")]) == 0
    rated, stated = tmp_path / "rated", tmp_path / "stated"
    assert (rated / "policy.json").read_text() == (stated / "policy.json").read_text()
    for name in ("scores.csv", "usage.csv"):
        assert (rated / "calibration" / name).read_text() == (stated / "calibration" / name).read_text()
    data = json.loads((rated / "config.json").read_text())
    assert (data["rate"], data["costs"]) == ("0,0,7", [float(cost) for cost in sevens.split(",")])
    assert [row.utilities for row in read_run(rated).rows] == [row.utilities for row in read_run(stated).rows]
    # the same command again leaves the same files; another rate is another run
    kept = {path: path.read_bytes() for path in rated.rglob("*") if path.is_file()}
    assert run([*words, "--rate", "0,0,7", "--out", str(rated)]) == 0
    assert {path: path.read_bytes() for path in rated.rglob("*") if path.is_file()} == kept
    assert 'rate "0,0,7"' in error_of([*words, "--rate", "0,0,8", "--out", str(rated)], notes=True)


@pytest.mark.slow
def test_stakes_are_shown_at_the_costs_of_a_rate(tmp_path, clock, capsys, output_of):
    words = ["train", "grace", "--questions", "30", "--held-out", "10", "--temperature", "1", "--floor", "0"]
    output_of([*words, "--out", str(tmp_path / "run")])
    shown = {}
    for name, rate in (("free", ["--rate", "0,0,0"]), ("dear", ["--rate", "0,0,7"]), ("run", [])):
        out = tmp_path / name
        assert run(["grace", "stakes", str(tmp_path / "run"), "--price", "50", *rate, "--out", str(out)]) == 0
        shown[name] = " ".join(capsys.readouterr().out.split())
        with (out / "stakes.csv").open(newline="") as file:
            net = {row["system"]: float(row["net"]) for row in csv.DictReader(file)}
        shown[f"{name} net"] = net["no retrieval"]
    assert "costs by use at rate 0,0,7: retrieve_shallow 7" in shown["dear"]
    assert "costs by use" not in shown["run"]
    # the closed-book answer costs 0, 7, and 2 as published
    assert shown["dear net"] == pytest.approx(shown["free net"] - 7)
    assert shown["run net"] == pytest.approx(shown["free net"] - 2)
