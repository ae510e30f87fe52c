"""`parlour grace explain`: it tells what the mediator goes by, and of calibrated questions what each action came to."""

from __future__ import annotations

import csv
import json

import pytest
from parlour.envs.mediated_qa.corpus import generate
from parlour.policies import GraceMediator
from parlour.policies.agents.mediated_qa.joint import PUBLISHED
from parlour.training.cli import run
from parlour.training.learn.mediators.experiment import UNSEEN

CORPUS = generate(seed=UNSEEN, size=60, difficulty="medium")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "grace"
    words = ["train", "grace", "--questions", "40", "--held-out", "20", "--temperature", "0.7", "--floor", "0.02"]
    assert run([*words, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents")
    for passage in CORPUS.passages:
        (path / f"{passage.title}.txt").write_text("\n\n".join(passage.sentences))
    return path


def explained(capsys, *words):
    capsys.readouterr()
    assert run(["grace", "explain", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_question_of_the_run_has_what_each_action_came_to(trained, capsys):
    rows = list(csv.DictReader((trained / "calibration" / "table.csv").read_text().splitlines()))
    question = CORPUS.questions[3].text
    told = explained(capsys, question, "--run", str(trained))
    assert (told["question"], told["part"], told["state"]) == (question, "training", rows[3]["state"])
    nets = {tuple(one["joint"]): one["net"] for one in told["actions"]}
    assert set(nets) == set(PUBLISHED)
    assert nets[PUBLISHED[0]] == float(rows[3]["u_shallow_gen_nli"])
    assert nets[PUBLISHED[8]] == float(rows[3]["u_skip_param_nocheck"])
    assert sum(one["probability"] for one in told["actions"]) == pytest.approx(1)
    utilities = {"right": 120, "wrong": -40, "rightly_silent": 10, "wrongly_silent": -20}
    assert all(one["net"] == pytest.approx(utilities[one["outcome"]] - one["cost"]) for one in told["actions"])
    assert explained(capsys, "3", "--run", str(trained)) == told
    assert explained(capsys, "50", "--run", str(trained))["part"] == "held out"


def test_documents_in_a_folder_tell_what_the_mediator_goes_by(trained, folder, capsys):
    question = CORPUS.questions[0].text
    policy = trained / "policy.json"
    told = explained(capsys, question, "--policy", str(policy), "--documents", str(folder))
    mediator = GraceMediator.load(policy)
    advice = mediator.advise(question, [(passage.title, list(passage.sentences)) for passage in CORPUS.passages])
    assert told["state"] == advice.state
    assert len(told["signals"]) == 5
    assert told["linked"]
    assert {one["outcome"] for one in told["actions"]} == {None}
    by_run = explained(capsys, question, "--run", str(trained))
    assert (by_run["state"], by_run["linked"]) == (told["state"], told["linked"])


def test_it_is_shown_for_people(trained, capsys):
    capsys.readouterr()
    assert run(["grace", "explain", "0", "--run", str(trained)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for words in ("question: ", "linked to: ", "reliability", "state: ", "net utility", "retrieve_deep"):
        assert words in shown


def test_a_new_question_to_a_run_has_no_results(trained, capsys):
    told = explained(capsys, "What is the matter?", "--run", str(trained))
    assert (told["state"], told["linked"], told["signals"], told["part"]) == ("s0", [], [], "")
    assert {one["net"] for one in told["actions"]} == {None}


@pytest.mark.parametrize(
    "words", [[], ["--documents", "here"], ["--documents", "here", "--run", "there"], ["--run", "nowhere"]]
)
def test_it_takes_documents_with_a_policy_or_a_run(words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["grace", "explain", "Who?", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
