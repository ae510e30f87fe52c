"""What a simulated reader remembers without a book. It is no language model, and does not pretend to be one.

Each fact of the made-up world is remembered with a chance that grows with the fame of its subject, decided once and for all
by a hash of the fact and a seed. A question is known if all its facts are. Some that are not known are misremembered: the
reader then believes in one wrong answer. To the rest it guesses, another time otherwise.

A sample at a temperature lets slip something else now and then; the plain answer is the belief itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np
from parlour.envs.mediated_qa.corpus import CorpusQuestion
from parlour.envs.mediated_qa.reading import EstimatedAnswer

_UNIT: Final = float(2**64)


@dataclass(frozen=True)
class Memory:
    """A reader's memory. Chances are 0..1."""

    seed: int = 0
    unknown: float = 0.05
    """Chance to remember a fact about somebody whom nobody knows."""
    famous: float = 0.85
    """... and about somebody whom everybody knows."""
    mistaken: float = 0.25
    """Share of what is not known that is misremembered."""
    slip: float = 0.1
    """Chance that a sample of a belief comes out as a guess."""
    hesitation: float = 0.25
    """How far confidence strays from what it should be, at most."""

    def recall(self, question: CorpusQuestion, rng: np.random.Generator | None = None) -> EstimatedAnswer:
        """The plain answer, always the same; with `rng`, a sample of it."""
        belief, firm = self._belief(question)
        if rng is not None:
            belief, firm = self._sample(question, belief, firm, rng)
        elif not belief:
            belief, firm = self._guess(question, self._hash("guess", question.text)), False
        strays = (2 * self._hash("sure", question.text) - 1) * self.hesitation
        return EstimatedAnswer(belief, min(max((0.8 if firm else 0.45) + strays, 0.01), 0.99))

    def sample(self, question: CorpusQuestion, count: int, rng: np.random.Generator) -> list[str]:
        """`count` answers of `recall` with `rng`; what is believed is looked up once."""
        belief, firm = self._belief(question)
        return [self._sample(question, belief, firm, rng)[0] for _ in range(count)]

    def knows(self, question: CorpusQuestion) -> bool:
        """Whether all its facts are remembered; of an unanswerable question nothing is."""
        return question.answer != "" and all(
            self._remembers(subject, relation, fame) for subject, relation, fame in question.facts
        )

    def _belief(self, question: CorpusQuestion) -> tuple[str, bool]:
        """What the reader takes for true, and whether it takes anything for true."""
        if self.knows(question):
            return question.answer, True
        if question.decoys and self._hash("mistaken", question.text) < self.mistaken:
            return question.decoys[int(self._hash("which", question.text) * len(question.decoys))], True
        return "", False

    def _sample(self, question: CorpusQuestion, belief: str, firm: bool, rng: np.random.Generator) -> tuple[str, bool]:
        """What is said of a belief, and whether it is the belief itself."""
        if not belief or (firm and rng.random() < self.slip):
            return self._guess(question, rng.random()), False
        return belief, firm

    def _guess(self, question: CorpusQuestion, draw: float) -> str:
        options = (*question.decoys, question.answer) if len(question.decoys) < 2 else question.decoys
        return options[int(draw * len(options))] if options else "nobody knows"

    def _remembers(self, subject: str, relation: str, fame: float) -> bool:
        return self._hash(subject, relation) < self.unknown + (self.famous - self.unknown) * fame

    def _hash(self, *parts: str) -> float:
        """A number in [0, 1) that these words and the seed decide."""
        key = "\x1f".join((str(self.seed), *parts)).encode()
        return int.from_bytes(blake2b(key, digest_size=8).digest(), "big") / _UNIT


def agreed(answers: list[str], share: float) -> str:
    """The answer that at least this share of the samples give, case left aside; empty if there is none.

    >>> agreed(["1912", "1912", "1912", "1912", "1913"], 0.8)
    '1912'
    """
    keys = [answer.strip().lower() for answer in answers]
    (best, count), *_ = Counter(keys).most_common(1) or [("", 0)]
    return answers[keys.index(best)] if best and count >= share * len(answers) - 1e-9 else ""
