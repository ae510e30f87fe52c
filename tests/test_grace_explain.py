"""`parlour grace explain`: it tells what the mediator goes by, and of calibrated questions what each action came to."""

from __future__ import annotations

import csv

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


@pytest.fixture
def explained(json_of):
    return lambda *words: json_of(["grace", "explain", *words, "--json"])


def test_a_question_of_the_run_has_what_each_action_came_to(trained, explained):
    rows = list(csv.DictReader((trained / "calibration" / "table.csv").read_text().splitlines()))
    question = CORPUS.questions[3].text
    output = explained(question, "--run", str(trained))
    assert (output["question"], output["part"], output["state"]) == (question, "training", rows[3]["state"])
    nets = {tuple(action["joint"]): action["net"] for action in output["actions"]}
    assert set(nets) == set(PUBLISHED)
    assert nets[PUBLISHED[0]] == float(rows[3]["u_shallow_gen_nli"])
    assert nets[PUBLISHED[8]] == float(rows[3]["u_skip_param_nocheck"])
    assert sum(action["probability"] for action in output["actions"]) == pytest.approx(1)
    utilities = {"right": 120, "wrong": -40, "rightly_silent": 10, "wrongly_silent": -20}
    assert all(
        action["net"] == pytest.approx(utilities[action["outcome"]] - action["cost"]) for action in output["actions"]
    )
    assert explained("3", "--run", str(trained)) == output
    assert explained("50", "--run", str(trained))["part"] == "held out"


def test_documents_in_a_folder_tell_what_the_mediator_goes_by(trained, folder, explained):
    question = CORPUS.questions[0].text
    policy = trained / "policy.json"
    output = explained(question, "--policy", str(policy), "--documents", str(folder))
    mediator = GraceMediator.load(policy)
    advice = mediator.advise(question, [(passage.title, list(passage.sentences)) for passage in CORPUS.passages])
    assert output["state"] == advice.state
    assert len(output["signals"]) == 5
    assert output["linked"]
    assert {action["outcome"] for action in output["actions"]} == {None}
    by_run = explained(question, "--run", str(trained))
    assert (by_run["state"], by_run["linked"]) == (output["state"], output["linked"])


def test_it_is_shown_for_people(trained, capsys, output_of):
    capsys.readouterr()
    shown = " ".join(output_of(["grace", "explain", "0", "--run", str(trained)]).split())
    for words in ("question: ", "linked to: ", "reliability", "state: ", "net utility", "retrieve_deep"):
        assert words in shown


def test_a_new_question_to_a_run_has_no_results(trained, explained):
    output = explained("What is the matter?", "--run", str(trained))
    assert (output["state"], output["linked"], output["signals"], output["part"]) == ("s0", [], [], "")
    assert {action["net"] for action in output["actions"]} == {None}


@pytest.mark.parametrize(
    "words", [[], ["--documents", "here"], ["--documents", "here", "--run", "there"], ["--run", "nowhere"]]
)
def test_it_takes_documents_with_a_policy_or_a_run(words, tmp_path, error_of, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error_of(["grace", "explain", "Who?", *words])
