"""The examples run: a mediator in a pipeline of one's own and as a web service, PPO in one file, rewards of one's own."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from types import SimpleNamespace

import pytest
from parlour.envs import registry
from parlour.envs.core import Move
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.policies.agents.mediated_qa import PolicyTable
from parlour.policies.agents.mediated_qa.joint import PUBLISHED, STATES
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES
from parlour.training.cli import run

from tests import ROOT
from tests.integrations.pages import PAGES, commands_of

EXAMPLES = ROOT / "examples"
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
    for name in ("mediated_pipeline", "mediator_service", "ppo", "quest_rewards"):
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


class Found(SimpleNamespace):
    """What retrievers give: a document of LangChain, a node of LlamaIndex."""

    def get_content(self):
        return self.page_content


def by_library(name, texts, answer):
    """A retriever and a model as a library has them, and the prompts that the model got."""
    prompts = []

    def replies(prompt):
        prompts.append(prompt)
        return answer(prompt)

    found = lambda question: [Found(page_content=text) for text in texts]  # noqa: E731
    if name == "langchain":
        return (
            SimpleNamespace(invoke=found),
            SimpleNamespace(invoke=lambda p: SimpleNamespace(content=replies(p))),
            prompts,
        )
    return SimpleNamespace(retrieve=found), SimpleNamespace(complete=replies), prompts


@pytest.mark.parametrize("library", ["langchain", "llamaindex"])
def test_parts_of_other_libraries_make_a_pipeline(tmp_path, pipeline, library):
    import mediated_pipeline

    texts = [f"Text {k}." for k in range(9)]
    question, made = CORPUS.questions[0].text, getattr(mediated_pipeline, f"{library}_parts")

    def answers(joint, answer):
        retriever, model, prompts = by_library(library, texts, answer)
        policy = policy_in(tmp_path, pipeline, [joint])
        of = mediated_pipeline.MediatedPipeline(policy, langchain_documents(), **made(retriever, model))
        return of.query(question)["answer"], prompts

    deep_checked, shallow, book = PUBLISHED[3], PUBLISHED[1], PUBLISHED[8]
    answer, (read, check) = answers(deep_checked, lambda p: "no" if "contradict" in p else "Telby")
    assert answer == "Telby"
    assert "Text 7." in read
    assert "Text 8." not in read
    assert "Answer: Telby" in check
    assert answers(deep_checked, lambda p: "Yes." if "contradict" in p else "Telby")[0] is None
    answer, (read,) = answers(shallow, lambda p: "Unknown.")
    assert answer is None
    assert "Text 2." in read
    assert "Text 3." not in read
    answer, (recalled,) = answers(book, lambda p: " Vik ")
    assert answer == "Vik"
    assert "Text" not in recalled


def test_a_reply_of_langchain_may_be_a_list_of_pieces():
    from mediated_pipeline import langchain_parts

    pieces = [
        {"type": "reasoning", "reasoning": "Long."},
        {"type": "text", "text": "Tel"},
        {"type": "text", "text": "by"},
    ]
    _, model, _ = by_library("langchain", [], lambda prompt: pieces)
    assert langchain_parts(None, model)["recall"]("Where?") == "Telby"


def test_a_document_without_a_title_has_that_of_its_file():
    from mediated_pipeline import as_document

    for metadata in (
        {"source": "notes/Edda_Marlow.txt"},
        {"file_name": "Edda Marlow.md"},
        {"title": "Edda Marlow", "source": "x.pdf"},
    ):
        assert as_document(SimpleNamespace(page_content="A director.", metadata=metadata))["title"] == "Edda Marlow"
    assert as_document(SimpleNamespace(text="A director.", metadata={})) == {"title": "", "text": "A director."}
    assert as_document(("Edda Marlow", "A director.")) == ("Edda Marlow", "A director.")


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


def test_ppo_in_one_file_has_at_most_250_lines():
    assert len((EXAMPLES / "ppo.py").read_text("utf-8").splitlines()) <= 250


@pytest.mark.parametrize("library", ["agilerl", "openspiel", "rllib", "tianshou", "torchrl"])
def test_a_page_of_a_marl_library_shows_its_whole_example_and_three_commands(library):
    """`tests/integrations` runs the commands, where the library is installed."""
    example = f"examples/train_{library}.py"
    assert len((ROOT / example).read_text("utf-8").splitlines()) <= 60
    assert f"```{{literalinclude}} ../../{example}\n" in (PAGES / f"{library}.md").read_text("utf-8")
    install, training, comparison = commands_of(library)[:3]
    assert install.startswith(f"pip install -c docs/integrations/{library}.txt")
    assert training == f"python {example}"
    assert re.match(r"parlour evaluate .*--policy expert\b", comparison)


def test_a_web_service_recommends(tmp_path, pipeline):
    pytest.importorskip("fastapi")
    testclient = pytest.importorskip("fastapi.testclient")
    from mediator_service import make_app

    policy = policy_in(tmp_path, pipeline, PUBLISHED[:1])
    with testclient.TestClient(make_app(policy, CORPUS.passages)) as client:
        advice = client.post("/recommend", json={"question": CORPUS.questions[0].text}).json()
        assert (advice["retriever"], advice["verifier"]) == ("retrieve_shallow", "run_nli_check")
        assert advice["probability"] == 1.0
        assert advice["state"] == pipeline.bins.state(pipeline.signals(0))
        assert client.post("/recommend", json={"question": " "}).status_code == 422


# -- rewards on the way ------------------------------------------------------------------------------------------


def test_quest_rewards_come_when_a_quest_is_scored():
    from quest_rewards import QuestRewards

    env = QuestRewards(registry["avalon_v0"].raw_env(num_players=5, talk=False, info="full"), bonus=0.25)
    env.reset(options={"nature": [Move("deal", (0, 1, 2, 3, 4, 0))]})
    game = env.unwrapped
    for move in (Move("propose", (0, 4)), *[Move("vote", (1,))] * 5, Move("card", (1,)), Move("card", (0,))):
        env.step(game.number(move))
        assert set(env.rewards.values()) == {0.0}
    env.step(game.number(Move("guess")))
    assert env.rewards == {f"player_{k}": -0.25 if k < 3 else 0.25 for k in range(5)}
    assert env.last()[1] == -0.25  # what player_1, who leads next, has got since its last turn
    env.step(game.number(Move("propose", (0, 1, 2))))
    assert set(env.rewards.values()) == {0.0}
