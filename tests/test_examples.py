"""The examples run: a mediator in a pipeline of one's own, and as a web service."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.policies.agents.mediated_qa import PolicyTable
from parlour.policies.agents.mediated_qa.joint import PUBLISHED, STATES
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES
from parlour.policies.agents.mediated_qa.recommendation_log import read_log
from parlour.training.cli import run

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CORPUS = generate(seed=21, size=40, difficulty="easy")


@pytest.fixture(scope="module")
def pipeline():
    made = Pipeline(CORPUS)
    made.learn_bins(range(40))
    return made


@pytest.fixture(autouse=True)
def examples_on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield
    for name in ("mediated_pipeline", "mediator_service", "ppo"):
        sys.modules.pop(name, None)


def policy_in(folder, pipeline, joints):
    cuts = dict(zip(SIGNAL_NAMES, pipeline.bins.cuts, strict=True))
    table = PolicyTable({state: dict.fromkeys(joints, 1 / len(joints)) for state in (*STATES, "s0")}, cuts)
    (folder / "policy.json").write_text(table.dumps())
    return folder / "policy.json"


def parts(pipeline):
    """The retriever, generator and verifier of the offline pipeline as plain functions; and a count of their calls."""
    number, calls = {question.text: k for k, question in enumerate(CORPUS.questions)}, Counter()

    def retrieve(question, depth):
        calls[depth] += 1
        return pipeline.retrieve(number[question], ("shallow", "deep").index(depth))

    def check(question, evidence, answer):
        calls["check"] += 1
        return reading.entailment(question, evidence, answer) != "contradiction"

    def recall(question):
        calls["recall"] += 1
        return "from memory"

    functions = {"retrieve": retrieve, "check": check, "recall": recall}
    return functions | {"generate": lambda question, evidence: reading.read(question, evidence).answer}, calls


def langchain_documents():
    return [SimpleNamespace(page_content=" ".join(p.sentences), metadata={"title": p.title}) for p in CORPUS.passages]


def test_a_pipeline_does_what_is_recommended(tmp_path, pipeline):
    from mediated_pipeline import MediatedPipeline

    functions, calls = parts(pipeline)
    made = MediatedPipeline(policy_in(tmp_path, pipeline, PUBLISHED[3:4]), langchain_documents(), **functions)
    answers = [made.invoke(question.text)["answer"] for question in CORPUS.questions]
    asked = [(answer, question.answer) for answer, question in zip(answers, CORPUS.questions, strict=True) if answer]
    assert sum(answer == right for answer, right in asked) >= 15
    assert calls["deep"] == 40
    assert 0 < calls["check"] <= 40
    assert calls["shallow"] == 0


def test_silence_costs_no_answer_and_agreement_five(tmp_path, pipeline):
    from mediated_pipeline import MediatedPipeline

    question = CORPUS.questions[0].text
    for joint, answer, asked in (
        (PUBLISHED[2], None, 0),
        (PUBLISHED[6], "from memory", 5),
        (PUBLISHED[8], "from memory", 1),
    ):
        functions, calls = parts(pipeline)
        made = MediatedPipeline(policy_in(tmp_path, pipeline, (joint,)), langchain_documents(), **functions)
        assert made(question)["answer"] == made.query(question)["answer"] == answer
        assert calls["recall"] == 2 * asked


def test_documents_of_llamaindex_are_read_alike(tmp_path, pipeline):
    from mediated_pipeline import MediatedPipeline, as_document

    functions, _ = parts(pipeline)
    nodes = [SimpleNamespace(text=" ".join(p.sentences), metadata={"title": p.title}) for p in CORPUS.passages]
    policy = policy_in(tmp_path, pipeline, PUBLISHED)
    first, other = (MediatedPipeline(policy, docs, **functions) for docs in (nodes, langchain_documents()))
    assert first.probe.passages == other.probe.passages
    assert as_document("A text.") == "A text."


def test_the_log_of_a_pipeline_is_learned_from(tmp_path, pipeline, capsys):
    from mediated_pipeline import MediatedPipeline

    functions, _ = parts(pipeline)
    policy = policy_in(tmp_path, pipeline, PUBLISHED)
    made = MediatedPipeline(policy, langchain_documents(), **functions, log=tmp_path / "log.jsonl")
    for question in CORPUS.questions:
        result = made.invoke(question.text)
        silence = "wrongly_silent" if question.answer == "from memory" else "rightly_silent"
        came = silence if result["answer"] is None else "right" if result["answer"] == question.answer else "wrong"
        made.log.result(result["id"], came)
    made.log.close()
    assert len(read_log(tmp_path / "log.jsonl")) == 40
    words = ["train", "grace", "--from-log", str(tmp_path / "log.jsonl"), "--temperature", "0.7", "--floor", "0.02"]
    assert run([*words, "--out", str(tmp_path / "better")]) == 0
    assert (tmp_path / "better" / "policy.json").exists()


@pytest.mark.slow
def test_ppo_in_one_file_learns_logs_plots_and_its_policy_sits_down_by_one_command(tmp_path, capsys):
    for module in ("torch", "numba", "matplotlib"):
        pytest.importorskip(module)
    from ppo import Config, main

    main(Config(out=tmp_path, imitations=1, updates=2, tables=16, turns=48, validate=1))
    assert capsys.readouterr().out.count(" steps  ") == 3
    rows = list(csv.DictReader((tmp_path / "progress.csv").read_text("utf-8").splitlines()))
    assert [int(row["step"]) > 0 for row in rows] == [False, True, True]
    assert {"eval/points", "eval/win_rate", "charts/episodic_return", "losses/policy_loss"} <= set(rows[0])
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert (
        run(["evaluate", "avalon_v0", "--policy", str(tmp_path / "policy.npz"), "--games", "2", "--design", "team"])
        == 0
    )


def test_ppo_in_one_file_computes_the_advantages_of_the_library():
    """`training.learn.batch.kernels` is the reference: a network's decisions at turns drawn at random."""
    for module in ("torch", "numba", "matplotlib"):
        pytest.importorskip(module)
    import torch
    from parlour.training.learn.batch import kernels
    from ppo import Rollout, advantages

    rng, (turns, tables, seats) = np.random.default_rng(5), (40, 6, 4)
    own, actor = rng.random((turns, tables)) < 0.7, rng.integers(seats, size=(turns, tables)).astype(np.int32)
    over, value = rng.random((turns, tables)) < 0.1, rng.normal(size=(turns, tables)).astype(np.float32)
    rewards = np.where(over[:, :, None], rng.choice([-1, 1], size=(turns, tables, seats)), 0).astype(np.float32)
    rollout = Rollout(*[torch.zeros(0)] * 5, torch.from_numpy(value), own, actor, np.zeros(0), rewards, over)
    gain, usable = advantages(rollout, 0.9)
    rows = np.where(own, own.ravel().cumsum().reshape(own.shape) - 1, -1).astype(np.int32)
    expected, allowed = np.zeros(own.sum(), np.float32), np.zeros(own.sum(), bool)
    kernels.advantages(rows, actor, rewards, over.astype(np.uint8), value[own], 0.9, expected, allowed)
    assert (usable[own] == allowed).all()
    assert not usable[~own].any()
    assert 0 < allowed.sum() < own.sum()
    assert np.allclose(gain.numpy()[own][allowed], expected[allowed], atol=1e-5)


def test_ppo_in_one_file_has_at_most_250_lines():
    assert len((EXAMPLES / "ppo.py").read_text("utf-8").splitlines()) <= 250


def test_a_web_service_recommends_and_keeps_its_log(tmp_path, pipeline):
    pytest.importorskip("fastapi")
    testclient = pytest.importorskip("fastapi.testclient")
    from mediator_service import make_app

    policy = policy_in(tmp_path, pipeline, PUBLISHED[:1])
    with testclient.TestClient(make_app(policy, CORPUS.passages, tmp_path / "log.jsonl")) as client:
        advice = client.post("/recommend", json={"question": CORPUS.questions[0].text}).json()
        assert (advice["id"], advice["retriever"], advice["verifier"]) == ("1", "retrieve_shallow", "run_nli_check")
        assert advice["probability"] == 1.0
        assert advice["state"] == pipeline.bins.state(pipeline.signals(0))
        assert client.post("/results/1", json={"outcome": "right", "cost": 7}).status_code == 204
        assert client.post("/results/2", json={"outcome": "right"}).status_code == 404
        assert client.post("/results/1", json={"outcome": "good"}).status_code == 422
        assert client.post("/recommend", json={"question": " "}).status_code == 422
    (kept,) = read_log(tmp_path / "log.jsonl")
    assert (kept.outcome, kept.cost, kept.question) == ("right", 7.0, CORPUS.questions[0].text)


def test_the_service_is_made_from_the_environment(tmp_path, pipeline, monkeypatch):
    pytest.importorskip("fastapi")
    from mediator_service import from_environment

    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Edda Marlow.txt").write_text("Edda Marlow wrote The Glass Harbour in 1912.")
    monkeypatch.setenv("POLICY", str(policy_in(tmp_path, pipeline, PUBLISHED)))
    monkeypatch.setenv("DOCUMENTS", str(tmp_path / "notes"))
    monkeypatch.setenv("LOG", str(tmp_path / "log.jsonl"))
    assert {route.path for route in from_environment().routes} >= {"/recommend", "/results/{number}"}
