"""A mediator is usable only if it earns more than the best static policy on held-out questions; else everybody is told.

The questions are generated: in `clear` tables each state has an action of its own that earns 100 there, in `noisy` ones all actions
are alike and nothing can be learned.
"""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from parlour.policies.agents.mediated_qa import GraceMediator, policy_file
from parlour.training.cli import run
from parlour.training.learn.mediators.baselines import usability
from parlour.training.learn.mediators.train import POLICY
from parlour.training.measure.statistics import Estimate

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


def trained(tmp_path, capsys, questions, clear, *words):
    out = tmp_path / "run"
    source = table(tmp_path / "table.csv", questions, clear)
    command = [
        "train",
        "grace",
        "--from-table",
        str(source),
        "--temperature",
        "1",
        "--floor",
        "0.01",
        "--out",
        str(out),
    ]
    assert run([*command, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out), out / POLICY


@pytest.fixture(params=[True, False], ids=["usable", "not usable"])
def both(request, tmp_path, capsys):
    return request.param, *trained(tmp_path, capsys, 200, request.param)


def test_a_policy_is_called_usable_only_if_its_interval_lies_above_the_best_static_policy(both):
    clear, report, _ = both
    # clear: 100 in every state against 100 in one of two: about +50; else nothing but chance
    assert report["usable"] is clear
    assert report["verdict"].startswith(
        "Usable. The mediator is better than the best static policy" if clear else "Not usable"
    )


def test_the_policy_file_keeps_the_answer(both):
    clear, report, path = both
    stored = policy_file.read(path)
    assert (stored.usable, stored.verdict) == (clear, report["verdict"])
    assert policy_file.loads(stored.dumps()) == stored


def test_recommend_repeats_the_warning_once(both, caplog):
    clear, report, path = both
    mediator = GraceMediator.load(path)
    mediator.reset(0, 0)
    with caplog.at_level(logging.WARNING, "parlour"):
        for _ in range(3):
            mediator.recommend(STATES[0])
    assert [record.getMessage() for record in caplog.records] == ([] if clear else [report["verdict"]])


def test_a_policy_that_is_not_usable_says_why_and_what_to_do(tmp_path, capsys):
    report, _ = trained(tmp_path, capsys, 30, False)
    assert "held-out questions" in report["verdict"]
    assert "It learned from 24 questions: learn from more" in report["verdict"]


def test_without_held_out_questions_a_policy_is_not_usable(tmp_path, capsys):
    report, _ = trained(tmp_path, capsys, 30, True, "--validation", "0")
    assert not report["usable"]
    assert "nothing was held out" in report["verdict"]


@pytest.mark.parametrize(
    ("gain", "usable", "begins"),
    [
        (Estimate(5.0, 1.0, 9.0, 300), True, "Usable. "),
        (Estimate(5.0, 0.0, 10.0, 300), False, "Not usable yet. No difference"),
        (Estimate(-5.0, -9.0, -1.0, 300), False, "Not usable; do not deploy it. The mediator is worse"),
        (None, False, "Not usable: nothing was held out"),
    ],
)
def test_the_interval_decides(gain, usable, begins):
    verdict = usability(gain, "the best static policy", 100)
    assert verdict.usable is usable
    assert verdict.verdict.startswith(begins)


def test_what_is_not_usable_yet_says_how_many_held_out_questions_would_show_its_gain():
    # half an interval of 5 around 5 at 300: 300 x (1.43 x 5 / 5)^2 = 613, in two digits upwards 620
    assert usability(Estimate(5.0, 0.0, 10.0, 300), "it", 100).verdict.endswith(
        "learn from more, and hold out about 620."
    )


def test_a_policy_file_with_another_answer_is_refused(tmp_path, capsys):
    _, path = trained(tmp_path, capsys, 30, True)
    path.write_text(path.read_text().replace('"usable": true', '"usable": "yes"'))
    with pytest.raises(Exception, match="accepted: true, false or null"):
        policy_file.read(path)
