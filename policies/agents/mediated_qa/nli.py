"""Checking answers by a natural-language-inference model (extra `nli`): the verifier of the GRACE paper.

The evidence is the premise, question and answer are the hypothesis. Labels are read whatever their case: the published
code expects upper case where its checkpoint writes lower case, and so never sees a verdict. If something must be cut, it
is the evidence, never the hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from threading import Lock
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.policies.agents.mediated_qa.asks import LABELS, AskingReader, Worded

CHECKPOINT: Final = "cross-encoder/nli-deberta-v3-small"
Classify = Callable[[str, str], str]
"""Premise, hypothesis -> label."""


class NLIReader:
    """A reader whose answers are checked by an inference model; all else is left to another reader.

    Args:
        inner: Who answers.
        classify: The inference model; by default `checkpoint` of the `transformers` library, loaded at the first check.
        checkpoint: Its name or folder.
    """

    def __init__(self, inner: AskingReader, classify: Classify | None = None, checkpoint: str = CHECKPOINT) -> None:
        self._inner, self._classify, self._checkpoint = inner, classify, checkpoint

    def generate(self, question: Worded, evidence: str, rng: np.random.Generator) -> str:
        return self._inner.generate(question, evidence, rng)

    def sample(self, question: Worded, count: int, rng: np.random.Generator) -> list[str]:
        return self._inner.sample(question, count, rng)

    def recall(self, question: Worded) -> Any:
        return self._inner.recall(question)

    def check(self, question: Worded, evidence: str, answer: str) -> str:
        """`"entailment"`, `"neutral"` or `"contradiction"`.

        Raises:
            ParlourError: The extra is not installed, or the model gives another label.
        """
        if self._classify is None:
            self._classify = _loaded(self._checkpoint)
        label = self._classify(evidence, f"{question.text} {answer}").lower()
        if label not in LABELS:
            raise accept("label of the inference model", label, LABELS)
        return label


def _loaded(checkpoint: str) -> Classify:
    try:
        transformers = import_module("transformers")
    except ModuleNotFoundError:
        raise ParlourError("transformers is not installed; accepted: pip install 'parlour[nli]'") from None
    model = transformers.pipeline("text-classification", model=checkpoint, truncation="only_first")

    lock = Lock()  # tokenizers of this library are not safe for threads

    def classify(premise: str, hypothesis: str) -> str:
        with lock:
            found = model({"text": premise, "text_pair": hypothesis})
        best = found[0] if isinstance(found, list) else found
        return str(best["label"])

    return classify
