"""The questions that the pipeline of GRACE puts to a model: answer from evidence, answer from memory, check an answer.

`AskingReader` puts them; with it as reader, `parlour.envs.mediated_qa.pipeline.Pipeline` is a pipeline of language models.
Without any model the heuristics extract from the evidence, know nothing by heart, and compare words.
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal, Protocol

import numpy as np
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.reading import EstimatedAnswer
from parlour.policies.llm.ask import Answer, Ask, Choices, Rounded
from parlour.policies.llm.model import Model, OfflineModel, RequestContext, mixed
from pydantic import Field

UNKNOWN: Final = "I don't know"
LABELS: Final = ("entailment", "neutral", "contradiction")
TEMPERATURE: Final = 0.7
"""Of the samples for self-consistency (the published code's)."""


class ShortAnswer(Answer):
    """An answer in a few words."""

    reason: str
    """What the answer rests on, in one sentence."""
    answer: str
    """A name, a year, a number, yes, no, or that it is not known."""
    confidence: Rounded = Field(ge=0, le=1)
    """How sure it is, 0..1."""


class Generate(Ask[ShortAnswer]):
    """Answer from the evidence."""

    kind: ClassVar[str] = "grace.generate"
    record: ClassVar[tuple[str, ...]] = ("question", "evidence")
    max_tokens: ClassVar[int] = 200

    question: str
    evidence: list[str]
    """Sentences, each with its title."""

    def heuristic(self, rng: np.random.Generator) -> ShortAnswer:
        found = reading.read(self.question, reading.SEPARATOR.join(self.evidence))
        reason = "It stands in the evidence." if found.answer else "The evidence does not tell."
        return ShortAnswer(reason=reason, answer=found.answer or UNKNOWN, confidence=found.confidence)


class Recall(Ask[ShortAnswer]):
    """Answer from memory: the closed-book question. The heuristic has no memory and says so."""

    kind: ClassVar[str] = "grace.recall"
    record: ClassVar[tuple[str, ...]] = ("question",)
    max_tokens: ClassVar[int] = 200

    question: str

    def heuristic(self, rng: np.random.Generator) -> ShortAnswer:
        return ShortAnswer(reason="Nothing is known by heart.", answer=UNKNOWN, confidence=0.0)


class RecallFreely(Recall):
    """The same at a temperature: one of the samples that must agree."""

    kind: ClassVar[str] = "grace.recall_freely"
    temperature: ClassVar[float | None] = TEMPERATURE


class EntailmentVerdict(Answer):
    """What the evidence says of an answer."""

    reason: str
    """What the evidence says, in one sentence."""
    label: Literal["entailment", "neutral", "contradiction"]


class CheckAnswer(Ask[EntailmentVerdict]):
    """Check whether the evidence entails an answer."""

    kind: ClassVar[str] = "grace.check"
    record: ClassVar[tuple[str, ...]] = ("question", "evidence")
    max_tokens: ClassVar[int] = 200

    question: str
    evidence: list[str]
    answer: str

    def heuristic(self, rng: np.random.Generator) -> EntailmentVerdict:
        found = reading.entailment(self.question, reading.SEPARATOR.join(self.evidence), self.answer)
        return EntailmentVerdict.model_validate({"reason": "The words of both were compared.", "label": found})

    def choices(self) -> Choices:
        return {"label": dict.fromkeys(LABELS, "")}


class Worded(Protocol):
    """What is read of a question of the corpus: its words, never its answer."""

    @property
    def text(self) -> str: ...


class AskingReader:
    """A reader that asks a model. Satisfies `parlour.envs.mediated_qa.readers.Reader`.

    Args:
        model: Who answers; the heuristics by default.
        seed: Which samples are asked for; the same seed gets the same answers again.
    """

    def __init__(self, model: Model | None = None, seed: int = 0) -> None:
        self.model, self.seed = model or OfflineModel(), seed
        self._recalled: dict[str, EstimatedAnswer] = {}

    def generate(self, question: Worded, evidence: str, rng: np.random.Generator) -> str:
        asked = Generate(question=question.text, evidence=sentences(evidence))
        return known(self.model.answer(asked, self._context()).value.answer)

    def sample(self, question: Worded, count: int, rng: np.random.Generator) -> list[str]:
        context = RequestContext("generator", mixed(self.seed, int(rng.integers(2**31))))
        found = self.model.answers(RecallFreely(question=question.text), context, count)
        return [known(answered.value.answer) for answered in found]

    def recall(self, question: Worded) -> EstimatedAnswer:
        found = self._recalled.get(question.text)
        if found is None:
            value = self.model.answer(Recall(question=question.text), self._context()).value
            found = self._recalled[question.text] = EstimatedAnswer(known(value.answer), value.confidence)
        return found

    def check(self, question: Worded, evidence: str, answer: str) -> str:
        asked = CheckAnswer(question=question.text, evidence=sentences(evidence), answer=answer)
        return self.model.answer(asked, RequestContext("verifier", mixed(self.seed))).value.label

    def _context(self) -> RequestContext:
        return RequestContext("generator", mixed(self.seed))


def known(answer: str) -> str:
    """The answer; empty for "I don't know", whatever quotation marks or full stop stand around it.

    >>> known("'I don’t know.'"), known("1912")
    ('', '1912')
    """
    bare = answer.strip().strip("\"'“”‘’.").strip()
    return "" if bare.lower().replace("’", "'") == UNKNOWN.lower() else answer.strip()


def sentences(evidence: str) -> list[str]:
    """The sentences of an evidence text, each with its title."""
    return [part for part in evidence.split(reading.SEPARATOR) if part.strip()]
