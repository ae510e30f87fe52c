"""`parlour train grace`: the published policy from the published table, other tables, resumption, one-line errors, and the verdict.

A mediator leaves the run only if it earns more than the best static policy in cross-validation; else that policy does, and the verdict
says so.
"""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.joint import ALL, FALLBACK, PUBLISHED, STATES
from parlour.training.cli import run
from parlour.training.learn.mediators.learn import GraceConfig, fit_policy
from parlour.training.learn.mediators.table import UtilityTable
from parlour.training.learn.mediators.train import POLICY, train
from parlour.training.report import plots
from parlour.training.runs.loggers import CURVE
from parlour.training.runs.run import Run

from tests.reference_data import reference as data

FILES = ("config.json", "checkpoint.json", "progress.csv", "quantities.csv", "obedience.csv", "policy.json")


@pytest.fixture(scope="module")
def published() -> Path:
    return data("grace/simulation.csv").parent


def simulated(n: int, actions=ALL, states=STATES, seed: int = 0) -> UtilityTable:
    """Utilities of deviation 40; in each state another action earns 25 more."""
    rng = np.random.default_rng(seed)
    which = rng.integers(len(states), size=n)
    utilities = rng.normal(0, 40, (n, len(actions))).round(2)
    utilities[np.arange(n), which % len(actions)] += 25
    return UtilityTable(tuple(map(str, range(n))), tuple(states[k] for k in which), tuple(actions), utilities)


def given(**changes) -> GraceConfig:
    return GraceConfig(**({"temperature": 0.7, "floor": 0.02} | changes))


# -- the published run -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["simulation.csv", "simulation.json"])
def test_the_published_policy_comes_out_of_the_published_table(published, tmp_path, capsys, name):
    arguments = ["--from-table", str(published / name), *BOTH]
    assert run(["train", "grace", *arguments, "--out", str(tmp_path), "--json"]) == 0
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert data["questions"] == {"T:mid_Q:mid": 11, "T:low_Q:mid": 5, "T:high_Q:mid": 4}
    assert len(data["unseen"]) == 6
    assert "6 states without data, where the fallback is used" in captured.err
    made = json.loads((tmp_path / "policy.json").read_text())
    reference = json.loads((published / "policy_reference.json").read_text())
    assert [name for name in made if name not in ("usable", "verdict")] == list(reference)
    assert (made["temperature"], made["min_prob_floor"]) == (0.7, 0.02)
    assert list(made["policy"]) == list(reference["policy"])
    for state, row in reference["policy"].items():
        assert list(made["policy"][state]) == list(row)
        np.testing.assert_allclose(list(made["policy"][state].values()), list(row.values()), rtol=0, atol=1e-12)
    if name == "simulation.json":  # only it holds the thresholds
        assert made["signal_thresholds"] == reference["signal_thresholds"]


# -- other tables ----------------------------------------------------------------------------------------------


@pytest.fixture
def of_table(tmp_path):
    """`of_table(text, *words)`: the command that learns from a table with this text into the folder `run`."""

    def words(text, *more):
        (tmp_path / "table.csv").write_text(text, encoding="utf-8")
        return ["train", "grace", "--from-table", str(tmp_path / "table.csv"), "--out", str(tmp_path / "run"), *more]

    return words


BOTH = ("--temperature", "0.7", "--floor", "0.02", "--deploy", "learned")
ONE = "id,state,u_shallow_gen_nli\n1,s0,1\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("id,state,u_shallow_refuse_nocheck\nx,T:low_Q:low,-3\n", {"T:low_Q:low": 1}),
        (
            "id,state,u_deep_gen_nli,u_skip_refuse_nocheck\n1,s0,-3,\n2,s0,,-40.5\n3,T:high_Q:high,1,\n",
            {"s0": 2, "T:high_Q:high": 1},
        ),
        ("id,state,u_deep_gen_nli,u_shallow_gen_nli\n1,T:mid_Q:low,,\n2,s0,1e90,-1e90\n", {"s0": 2}),
    ],
    ids=["one row of one action", "missing cells, another action, s0", "a row without utilities, huge ones"],
)
def test_other_tables_of_this_form_work(tmp_path, of_table, output_of, text, rows):
    output_of(of_table(text, *BOTH))
    policy = policy_file.read(tmp_path / "run" / "policy.json").rows
    assert {state: len(row) for state, row in policy.items()} == rows
    for row in policy.values():
        assert sum(row.values()) == pytest.approx(1.0, abs=1e-12)
    assert all((tmp_path / "run" / name).exists() for name in FILES)


@pytest.mark.parametrize(
    ("text", "arguments", "reason"),
    [
        (ONE, (), "cross-validation over 1 questions"),
        (ONE, ("--temperature", "nan", "--floor", "0.1"), "temperature nan"),
        (ONE, ("--temperature", "1", "--floor", "1"), "floor 1.0 is not accepted"),
        (ONE, (*BOTH, "--method", "best"), "method 'best' is not accepted"),
        (ONE, (*BOTH, "--method", "correlated"), "no temperature and no floor"),
        (ONE, (*BOTH, "--shrinkage", "much"), "shrinkage 'much' is not accepted"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(tmp_path, of_table, error_of, text, arguments, reason):
    assert reason in error_of(of_table(text, *arguments))
    assert not (tmp_path / "run" / "policy.json").exists()


def test_a_floor_too_high_for_the_actions_is_refused_before_anything_is_written(
    tmp_path, of_table, output_of, error_of
):
    text = "id,state,u_shallow_gen_nli,u_shallow_gen_nocheck\n1,s0,1,2\n2,T:low_Q:low,3,\n"
    half = ("--temperature", "0.7", "--floor", "0.5")
    why = "floor 0.5 is not accepted with 2 actions: 2 x 0.5 = 1; accepted: from 0 to below 0.5"
    assert why in error_of(of_table(text, *half))
    assert not (tmp_path / "run").exists()
    output_of(of_table(text, "--temperature", "0.7", "--floor", "0.49"))
    # each action tried in a state of its own: one action in each row, until shrinkage lends the other
    apart = "id,state,u_shallow_gen_nli,u_shallow_gen_nocheck\n1,s0,1,\n2,T:low_Q:low,,3\n"
    output_of(of_table(apart, *half, "--out", str(tmp_path / "apart")))
    lent = of_table(apart, *half, "--out", str(tmp_path / "lent"), "--shrinkage", "2")
    assert "floor 0.5 is not accepted with 2 actions" in error_of(lent)
    assert not (tmp_path / "lent").exists()


# -- what is learned -------------------------------------------------------------------------------------------


def test_the_correlated_equilibrium_is_obeyed_and_the_quantal_response_is_not_quite():
    table = simulated(200)
    for individual_costs, share in ((False, 1.0), (True, 1.0), (True, 0.1)):
        how = {"individual_costs": individual_costs, "share": share}
        learned = fit_policy(table, GraceConfig(method="correlated", **how))
        assert max(max(regrets) for regrets in learned.regrets.values()) <= 1e-9
        assert (learned.policy.temperature, learned.policy.floor) == (None, None)
        soft = fit_policy(table, given(**how))
        assert min(max(regrets) for regrets in soft.regrets.values()) > 0.05
    best = {
        s: learned.estimate.actions[int(np.nanargmax(v))]
        for s, v in zip(learned.estimate.states, learned.estimate.value, strict=True)
    }
    common = fit_policy(table, GraceConfig(method="correlated"))
    assert all(common.policy.rows[state][joint] == pytest.approx(1.0) for state, joint in best.items())


def test_unusable_configurations_are_refused():
    for changes, message in (
        ({"folds": 1}, "folds 1 is not accepted"),
        ({"points": 0}, "points 0 is not accepted"),
        ({"seed": -1}, "seed -1 is not accepted"),
        ({"validation": 1.0}, "validation 1.0 is not accepted"),
    ):
        with pytest.raises(ParlourError, match=message):
            given(**changes)


# -- a run in a folder -----------------------------------------------------------------------------------------


def test_a_run_of_version_0_3_that_learned_from_counts_is_opened(tmp_path):
    config, table = given(points=2), simulated(120, PUBLISHED)
    whole = train(config, table, Run(tmp_path))
    for name, change in (
        ("config.json", lambda stored: stored | {"learner": "counts", "rule": {}, "rounds": 20000}),
        ("checkpoint.json", lambda stored: stored | {"points": [[*p[:2], None, *p[2:]] for p in stored["points"]]}),
    ):
        stored = json.loads((tmp_path / name).read_text())
        (tmp_path / name).write_text(json.dumps(change(stored)))
    assert train(config, table, Run(tmp_path)).points == whole.points
    stored = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(stored | {"learner": "bandit"}))
    with pytest.raises(ParlourError, match=r'another configuration \(learner "bandit"'):
        train(config, table, Run(tmp_path))


def test_a_finished_run_is_left_as_it_is_and_another_one_is_refused(tmp_path):
    table = simulated(60, PUBLISHED)
    first = train(given(points=2), table, Run(tmp_path))
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    again = train(given(points=2), table, Run(tmp_path, lambda *_: pytest.fail("it learned again")))
    assert again.points == first.points
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == before
    with pytest.raises(ParlourError, match=r"another configuration \(seed 0\)"):
        train(given(points=2, seed=1), table, Run(tmp_path))
    with pytest.raises(ParlourError, match=r"another configuration \(table_sha256 "):
        train(given(points=2), simulated(60, PUBLISHED, seed=1), Run(tmp_path))
    (tmp_path / "checkpoint.before.json").unlink()  # which would be used
    (tmp_path / "checkpoint.json").write_text("{}")
    with pytest.raises(ParlourError, match=r"checkpoint\.json' is not a checkpoint of this run"):
        train(given(points=2), table, Run(tmp_path))
    (tmp_path / "checkpoint.json").write_text("{")
    with pytest.raises(ParlourError, match=r"checkpoint\.json' cannot be used"):
        train(given(points=2), table, Run(tmp_path))


def test_the_curve_by_hand(tmp_path):
    # Twenty questions of one action that earns 1, 2, ... 20: four are kept aside, sixteen learned from in four phases.
    table = UtilityTable(tuple(map(str, range(20))), ("s0",) * 20, PUBLISHED[:1], np.arange(1.0, 21.0)[:, None])
    run = train(given(points=4), table, Run(tmp_path))
    assert [point.steps for point in run.points] == [4, 8, 12, 16]
    assert all(point.n == 4 for point in run.points)
    last = run.points[-1]
    assert last.training is not None
    assert last.held_out is not None
    assert 16 * last.training + 4 * last.held_out == pytest.approx(210)
    assert last.low < last.held_out < last.high
    with (tmp_path / CURVE).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["eval/episodic_return"]) for row in rows] == [point.held_out for point in run.points]
    if plots.available():
        assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("questions", [2, 11, 13])
def test_each_point_of_the_curve_is_of_more_questions(tmp_path, questions):
    run = train(given(), simulated(questions, PUBLISHED), Run(tmp_path))
    steps = [point.steps for point in run.points]
    assert steps == sorted(set(steps))
    assert len(steps) == min(10, questions - questions // 5)
    with (tmp_path / CURVE).open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(steps)


def test_the_table_of_quantities_tells_counts_means_and_probabilities(tmp_path):
    table = UtilityTable(
        ("a", "b", "c"),
        ("s0", "s0", NO_SIGNAL),
        PUBLISHED[:3],
        np.array([[1, 2, math.nan], [3, 2, math.nan], [5, 5, 9]]),
    )
    train(given(), table, Run(tmp_path))
    with (tmp_path / "quantities.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["n"] for row in rows] == ["3", "3", "1"]
    assert [float(row["mean"]) for row in rows] == [3.0, 3.0, 9.0]
    assert [row["low"] for row in rows][2] == ""
    assert rows[2]["generator"] == FALLBACK[1]
    assert sum(float(row["probability"]) for row in rows) == pytest.approx(1.0)


# -- usable or not -------------------------------------------------------------------------------------------------


STATES = ("T:low_Q:low", "T:high_Q:high")
COLUMNS = ("u_shallow_gen_nli", "u_skip_param_nocheck")


def table(path, questions, clear):
    """A table of questions in two states and two joint actions."""
    rng = np.random.default_rng(7)
    lines = ["id,state," + ",".join(COLUMNS)]
    for number in range(questions):
        state = number % 2
        earned = rng.normal(0.0, 30.0, 2) + (100.0 * np.eye(2)[state] if clear else 0.0)
        lines.append(f"q{number},{STATES[state]},{earned[0]:.3f},{earned[1]:.3f}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def trained(tmp_path, json_of):
    """`trained(questions, clear, *words)`: what the command reports of such a table, and the policy file."""

    def learned(questions, clear, *words):
        source, out = table(tmp_path / "table.csv", questions, clear), tmp_path / "run"
        command = ["train", "grace", "--from-table", str(source), "--temperature", "1", "--floor", "0.01"]
        return json_of([*command, "--out", str(out), *words, "--json"]), out / POLICY

    return learned


def test_a_policy_that_is_not_usable_says_why_and_what_to_do(trained):
    report, _ = trained(40, False)
    assert "32 questions of the cross-validation" in report["verdict"]
    assert "It learned from 32 questions: learn from more" in report["verdict"]


def test_too_few_held_out_questions_are_told_before_the_work(tmp_path, capsys):
    source, out = table(tmp_path / "table.csv", 30, True), str(tmp_path / "run")
    assert (
        run(["train", "grace", "--from-table", str(source), "--temperature", "1", "--floor", "0.01", "--out", out]) == 0
    )
    output = capsys.readouterr()
    note = (
        "6 questions will be held out; a test of the policy takes 30, which is 150 questions in all at --validation 0.2"
    )
    assert output.err.startswith(f"parlour: note: {note}\n")
    assert "No test: 6 held-out questions are too few; accepted: 30 or more." in " ".join(output.out.split())


def test_without_held_out_questions_a_mediator_is_deployed_untested(trained):
    report, _ = trained(30, True, "--validation", "0")
    assert report["usable"]
    assert "Nothing was held out" in report["verdict"]


def test_where_states_differ_the_mediator_is_deployed(trained):
    report, path = trained(200, True)  # the right action of the two earns 100 more
    assert report["verdict"].startswith("Deployed: the learned mediator. The learned mediator is better")
    best = {state: max(row, key=row.get) for state, row in policy_file.read(path).rows.items()}
    assert [best[state][1] for state in STATES] == ["generate", "generate_parametric"]


def test_where_they_do_not_the_best_static_policy_is_deployed(trained):
    report, path = trained(200, False)
    made = policy_file.read(path)
    (row,) = {tuple(row.items()) for row in made.rows.values()}  # the same whatever the state
    assert (len(made.rows), len(row), row[0][1], made.usable) == (10, 1, 1.0, False)
    assert report["verdict"].startswith(f"Deployed: the best static policy ({', '.join(row[0][0])}). ")


def test_what_was_learned_leaves_the_run_where_that_is_wanted(trained):
    report, path = trained(200, False, "--deploy", "learned")
    assert report["verdict"].startswith("Deployed as asked, and not usable: the learned mediator. ")
    assert [len(row) for row in policy_file.read(path).rows.values()] == [2, 2]
    assert policy_file.read(path).usable is False


def test_a_policy_file_with_another_answer_is_refused(trained):
    _, path = trained(200, True)
    path.write_text(path.read_text().replace('"usable": true', '"usable": "yes"'))
    with pytest.raises(Exception, match="accepted: true, false or null"):
        policy_file.read(path)
