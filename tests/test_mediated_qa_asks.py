"""The typed questions of the pipeline, and the reader that puts them to a model."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.policies.agents.mediated_qa.readers import (
    AskingReader,
    CheckAnswer,
    EntailmentVerdict,
    Generate,
    Recall,
    RecallFreely,
    ShortAnswer,
    known,
)
from parlour.policies.llm.ask import Ask, read_back
from parlour.policies.llm.model import Answered, Model, OfflineModel, RequestContext

EVIDENCE = ["Edda Marlow: She was born in 1912 in Telby.", "Vik: The river Orra runs through Vik."]
ASKS = [
    Generate(question="In which year was Edda Marlow born?", evidence=EVIDENCE),
    Recall(question="In which year was Edda Marlow born?"),
    RecallFreely(question="In which year was Edda Marlow born?"),
    CheckAnswer(question="In which year was Edda Marlow born?", evidence=EVIDENCE, answer="1912"),
]


class Parrot(Model):
    """Answers what it is told to, sample by sample, and keeps what it was asked."""

    name = "parrot"
    is_language_model: ClassVar[bool] = False

    def __init__(self, replies: list[str], label: str = "entailment") -> None:
        self.replies, self.label, self.asked, self.askers = replies, label, [], []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.asked.append(question)
        self.askers.append(context)
        if isinstance(question, CheckAnswer):
            return Answered(EntailmentVerdict.model_validate({"reason": "", "label": self.label}))
        return Answered(
            ShortAnswer(reason="", answer=self.replies[len(self.asked) % len(self.replies)], confidence=0.6)
        )

    def settings(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.kind)
def test_prompts_hold_the_question_and_are_read_back(ask):
    prompt = ask.prompt()
    assert "Edda Marlow" in prompt
    assert read_back(prompt) == ask
    if not isinstance(ask, CheckAnswer):
        assert "I don't know" in prompt
    if isinstance(ask, Recall):
        assert "Telby" not in prompt


def test_rules_of_thumb():
    rng = np.random.default_rng(0)
    assert ASKS[0].heuristic(rng) == ShortAnswer(reason="It stands in the evidence.", answer="1912", confidence=1.0)
    assert ASKS[0].model_copy(update={"evidence": EVIDENCE[1:]}).heuristic(rng).answer == "I don't know"
    assert ASKS[1].heuristic(rng) == ShortAnswer(
        reason="Nothing is known by heart.", answer="I don't know", confidence=0.0
    )
    assert ASKS[3].heuristic(rng).label == "entailment"
    assert ASKS[3].model_copy(update={"answer": "1913"}).heuristic(rng).label == "contradiction"


@pytest.mark.parametrize("reply", ["I don't know", "i don’t know.", ' "I don\'t know" ', "'I don't know.'"])
def test_not_knowing_is_no_answer(reply):
    assert known(reply) == ""


@pytest.mark.parametrize("reply", ["1912", "I don't know whether it was 1912", "Mr. Sand"])
def test_everything_else_is(reply):
    assert known(reply) == reply


@pytest.fixture
def corpus():
    return generate(seed=1, size=20, difficulty="easy")


def test_a_pipeline_asks_the_model_what_it_needs(corpus):
    model = Parrot(["Telby"])
    pipeline = Pipeline(corpus, reader=AskingReader(model))
    evidence = pipeline.retrieve(0, vocabulary.SHALLOW)
    rng = np.random.default_rng(0)
    assert pipeline.answer(0, vocabulary.FROM_EVIDENCE, evidence, rng) == "Telby"
    assert model.asked[-1].question == corpus.questions[0].text
    assert " ¶ ".join(model.asked[-1].evidence) == evidence
    assert pipeline.answer(0, vocabulary.PARAMETRIC, "", rng) == "Telby"
    assert type(model.asked[-1]) is Recall
    assert pipeline.check(0, evidence, "Telby") == vocabulary.ENTAILED
    assert (model.asked[-1].answer, model.askers[-1].seat) == ("Telby", "verifier")
    assert pipeline.confidence(0) == 0.6


def test_five_samples_without_evidence_must_agree_in_four(corpus):
    for replies, answer in ((["a", "A", "a", "a", "b"], "a"), (["a", "a", "b"], ""), (["I don't know"], "")):
        model = Parrot(replies)
        pipeline = Pipeline(corpus, reader=AskingReader(model))
        reply = pipeline.answer(3, vocabulary.CONSISTENT, "evidence that is not shown", np.random.default_rng(1))
        assert reply.lower() == answer
        assert [type(asked) for asked in model.asked] == [RecallFreely] * 5
        assert len({context.sample for context in model.askers}) == 5
        assert model.asked[0].temperature == 0.7
        pipeline.answer(3, vocabulary.CONSISTENT, "", np.random.default_rng(2))
        assert len({context.sample for context in model.askers}) == 10


def test_what_is_remembered_is_asked_once_a_question(corpus):
    model = Parrot(["a", "b"])
    pipeline = Pipeline(corpus, reader=AskingReader(model))
    assert len({pipeline.answer(2, vocabulary.PARAMETRIC, "", np.random.default_rng(k)) for k in range(4)}) == 1
    assert len(model.asked) == 1


def test_offline_the_asking_reader_reads_as_the_offline_one_and_remembers_nothing(corpus):
    asking, plain = Pipeline(corpus, reader=AskingReader(OfflineModel())), Pipeline(corpus)
    rng = np.random.default_rng(0)
    for number in range(20):
        evidence = plain.retrieve(number, vocabulary.DEEP)
        answer = plain.answer(number, vocabulary.FROM_EVIDENCE, evidence, rng)
        assert asking.answer(number, vocabulary.FROM_EVIDENCE, evidence, rng) == answer
        assert asking.check(number, evidence, answer or "x") == plain.check(number, evidence, answer or "x")
        assert asking.answer(number, vocabulary.PARAMETRIC, "", rng) == ""
