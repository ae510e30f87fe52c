"""A reader that is real on any machine: it takes answers from the evidence by rule, and remembers nothing.

The rules are those of `parlour.envs.mediated_qa.reading`. Unlike `pipeline.OfflineReader` it has no simulated memory: what
is asked without evidence it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import CorpusQuestion
from parlour.envs.mediated_qa.reading import EstimatedAnswer

_NOTHING: Final = EstimatedAnswer("", 0.0)


@dataclass(frozen=True)
class ExtractiveReader:
    """Satisfies `parlour.envs.mediated_qa.pipeline.Reader`."""

    def generate(self, question: CorpusQuestion, evidence: str, rng: np.random.Generator) -> str:
        return reading.read(question.text, evidence).answer

    def sample(self, question: CorpusQuestion, count: int, rng: np.random.Generator) -> list[str]:
        return [""] * count

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        return _NOTHING

    def check(self, question: CorpusQuestion, evidence: str, answer: str) -> str:
        return reading.entailment(question.text, evidence, answer)
