"""Who answers and who checks: the protocols, readers that are real on any machine, and what a simulated reader remembers.

Both readers take answers from the evidence by the rules of `parlour.envs.mediated_qa.reading`. `ExtractiveReader` remembers nothing:
what is asked without evidence it does not know. `OfflineReader` has a simulated memory, which is no language model.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import CorpusQuestion
from parlour.envs.mediated_qa.reading import EstimatedAnswer

ENTAILED: Final = {"entailment": 1.0, "neutral": 0.5, "contradiction": 0.0}
"""Score of a label."""
_UNIT: Final = float(2**64)


@runtime_checkable
class Generator(Protocol):
    """Who answers."""

    def generate(self, question: CorpusQuestion, evidence: str, rng: np.random.Generator) -> str:
        """The answer from the evidence; empty for "I don't know"."""

    def sample(self, question: CorpusQuestion, evidence: str, count: int, rng: np.random.Generator) -> list[str]:
        """`count` answers at a temperature, from memory where the evidence is empty; empty strings for "I don't know"."""

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        """The plain answer from memory; always the same for a question."""


@runtime_checkable
class Verifier(Protocol):
    """Who checks."""

    def check(self, question: CorpusQuestion, evidence: str, answer: str) -> str:
        """`entailment`, `neutral` or `contradiction`."""


@runtime_checkable
class Reader(Generator, Verifier, Protocol):
    """Who answers and checks."""


@dataclass(frozen=True)
class ExtractiveReader:
    """Extracts from evidence by heuristic, checks by shared words, remembers nothing. Satisfies `Reader`.

    A sample is the answer that the evidence suggests, with the chance of its confidence; else nothing.
    """

    def generate(self, question: CorpusQuestion, evidence: str, rng: np.random.Generator) -> str:
        return reading.read(question.text, evidence).answer

    def sample(self, question: CorpusQuestion, evidence: str, count: int, rng: np.random.Generator) -> list[str]:
        read = reading.read(question.text, evidence)
        return [read.answer if read.answer and rng.random() < read.confidence else "" for _ in range(count)]

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        return reading.NO_ANSWER

    def check(self, question: CorpusQuestion, evidence: str, answer: str) -> str:
        return reading.entailment(question.text, evidence, answer)


@dataclass(frozen=True)
class Memory:
    """What a simulated reader remembers without a book. Chances are 0..1.

    Each fact of the made-up world is remembered with a chance that grows with the fame of its subject, decided once and for all
    by a hash of the fact and the seed. A question is known if all its facts are. Some that are not known are misremembered: the
    reader then believes in one wrong answer. To the rest it guesses, another time otherwise.

    A sample at a temperature lets slip something else now and then; the plain answer is the belief itself.
    """

    seed: int = 0
    unknown: float = 0.05
    """Chance to remember a fact about an unknown person."""
    famous: float = 0.85
    """... and about a famous person."""
    mistaken: float = 0.25
    """Share of what is not known that is misremembered."""
    slip: float = 0.1
    """Chance that a sample of a belief comes out as a guess."""
    hesitation: float = 0.25
    """How far confidence strays from what it should be, at most."""

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        """The plain answer, always the same."""
        belief = self._belief(question)
        answer = belief or _guess(question, self._hash("guess", question.text))
        strays = (2 * self._hash("sure", question.text) - 1) * self.hesitation
        return EstimatedAnswer(answer, min(max((0.8 if belief else 0.45) + strays, 0.01), 0.99))

    def sample(self, question: CorpusQuestion, count: int, rng: np.random.Generator) -> list[str]:
        """`count` samples of the answer; what is believed is looked up once."""
        belief = self._belief(question)
        return [
            _guess(question, rng.random()) if not belief or rng.random() < self.slip else belief for _ in range(count)
        ]

    def knows(self, question: CorpusQuestion) -> bool:
        """Whether all its facts are remembered; for an unanswerable question, never."""
        spread = self.famous - self.unknown
        return question.answer != "" and all(
            self._hash(subject, relation) < self.unknown + spread * fame for subject, relation, fame in question.facts
        )

    def _belief(self, question: CorpusQuestion) -> str:
        """What the reader takes for true; empty if it takes nothing for true."""
        if self.knows(question):
            return question.answer
        if question.decoys and self._hash("mistaken", question.text) < self.mistaken:
            return question.decoys[int(self._hash("which", question.text) * len(question.decoys))]
        return ""

    def _hash(self, *parts: str) -> float:
        """A number in [0, 1) that these words and the seed decide."""
        key = "\x1f".join((str(self.seed), *parts)).encode()
        return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") / _UNIT


def _guess(question: CorpusQuestion, draw: float) -> str:
    options = (*question.decoys, question.answer) if len(question.decoys) < 2 else question.decoys
    return options[int(draw * len(options))] if options else "nobody knows"


@dataclass(frozen=True)
class OfflineReader(ExtractiveReader):
    """An `ExtractiveReader` that answers from a simulated memory where there is no evidence, or a sample does not trust it."""

    memory: Memory = field(default_factory=Memory)

    def sample(self, question: CorpusQuestion, evidence: str, count: int, rng: np.random.Generator) -> list[str]:
        remembered = self.memory.sample(question, count, rng)
        read = super().sample(question, evidence, count, rng)
        return [first or second for first, second in zip(read, remembered, strict=True)]

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        return self.memory.recall(question)


def entailment_score(verifier: Any, question: CorpusQuestion, evidence: str, answer: str) -> float:
    """How surely the evidence entails an answer, 0..1: what the verifier's method `entailment` says; without one, by its label."""
    scored = getattr(verifier, "entailment", None)
    if scored is None:
        return ENTAILED[verifier.check(question, evidence, answer)]
    return float(scored(question, evidence, answer))


def agreed(answers: list[str], share: float) -> str:
    """The answer that at least this share of the samples give, case left aside; empty if there is none.

    >>> agreed(["1912", "1912", "1912", "1912", "1913"], 0.8)
    '1912'
    """
    keys = [answer.strip().lower() for answer in answers]
    (best, count), *_ = Counter(keys).most_common(1) or [("", 0)]
    return answers[keys.index(best)] if best and count >= share * len(answers) - 1e-9 else ""
