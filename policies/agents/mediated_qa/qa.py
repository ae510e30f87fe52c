"""Answers out of the evidence by an extractive question-answering model in a local folder (extra `nli`: transformers, torch).

Such a model gives each token a score as the beginning and as the end of the answer; the answer is the span of the evidence
with the highest sum, or none where the first token, which stands for "no answer", has a higher one (Devlin et al. 2019,
"BERT", section 4.3). It runs on a processor, and knows nothing by heart.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
from parlour.policies.agents.mediated_qa.asks import AskingReader, Worded, sentences

LONGEST: Final = 30
"""Tokens of an answer, at most."""
_WINDOW: Final = 384
"""Tokens of question and evidence that are read at a time."""
_STRIDE: Final = 128
"""Tokens that two windows share."""
Extract = Callable[[str, str], str]
"""Question, evidence -> answer; empty if there is none."""


class SpanScores(NamedTuple):
    """What a model says of one window; arrays of shape (tokens,)."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    inside: NDArray[np.bool_]
    """Whether a token belongs to the evidence."""


class QAReader:
    """A reader that extracts answers by a model. Satisfies `parlour.envs.mediated_qa.readers.Reader`.

    Args:
        folder: The model, as `save_pretrained` leaves it; loaded at the first question.
        extract: In place of such a model.

    Raises:
        ParlourError: There is no such folder.
    """

    def __init__(self, folder: str | Path, extract: Extract | None = None) -> None:
        if extract is None and not (Path(folder) / "config.json").is_file():
            raise accept(
                "folder of a question-answering model", str(folder), "a folder with config.json, as transformers writes"
            )
        self._folder, self._extract, self._rules = folder, extract, AskingReader()

    def generate(self, question: Worded, evidence: str, rng: np.random.Generator) -> str:
        """The answer; empty if the evidence has none. Raises `ParlourError` if the model cannot be loaded."""
        if not evidence.strip():
            return ""
        if self._extract is None:
            self._extract = _loaded(self._folder)
        return self._extract(question.text, " ".join(sentences(evidence)))

    def sample(self, question: Worded, count: int, rng: np.random.Generator) -> list[str]:
        return self._rules.sample(question, count, rng)

    def recall(self, question: Worded) -> Any:
        return self._rules.recall(question)

    def check(self, question: Worded, evidence: str, answer: str) -> str:
        """By shared words."""
        return self._rules.check(question, evidence, answer)


def best_span(scores: SpanScores) -> tuple[float, int, int]:
    """Score, first and last token of the best span, less the score of "no answer" (token 0); -inf if there is none.

    >>> found = SpanScores(np.array([1.0, 0, 4, 0]), np.array([1.0, 0, 2, 3]), np.array([False, True, True, True]))
    >>> score, first, last = best_span(found)
    >>> float(score), first, last
    (5.0, 2, 3)
    """
    places = np.flatnonzero(scores.inside)
    best = (-np.inf, 0, 0)
    for first in places:
        lasts = places[(places >= first) & (places < first + LONGEST)]
        last = lasts[np.argmax(scores.end[lasts])]
        score = float(scores.start[first] + scores.end[last] - scores.start[0] - scores.end[0])
        if score > best[0]:
            best = (score, int(first), int(last))
    return best


def _loaded(folder: str | Path) -> Extract:
    try:
        torch, transformers = import_module("torch"), import_module("transformers")
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[nli]'") from None
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = transformers.AutoModelForQuestionAnswering.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        why = " ".join(str(error).split())[:200]
        raise ParlourError(
            f"{str(folder)!r} is no question-answering model: {why}; accepted: what transformers saved"
        ) from None
    if not tokenizer.is_fast:
        raise ParlourError(f"{str(folder)!r} has no fast tokenizer; accepted: a model with tokenizer.json")
    model.eval()
    lock = Lock()  # tokenizers of this library are not safe for threads

    def extract(question: str, evidence: str) -> str:
        with lock, torch.no_grad():
            return _extracted(tokenizer, model, question, evidence)

    return extract


def _extracted(tokenizer: Any, model: Any, question: str, evidence: str) -> str:
    """The best span of all windows of the evidence."""
    window = min(_WINDOW, model.config.max_position_embeddings)
    settings = {"truncation": "only_second", "max_length": window, "stride": min(_STRIDE, window // 4), "padding": True}
    read = tokenizer(
        question, evidence, **settings, return_overflowing_tokens=True, return_offsets_mapping=True, return_tensors="pt"
    )
    offsets = read.pop("offset_mapping").tolist()
    read.pop("overflow_to_sample_mapping", None)
    told = model(**read)
    best, answer = 0.0, ""
    for k, spans in enumerate(offsets):
        inside = np.array([part == 1 for part in read.sequence_ids(k)])
        scores = SpanScores(told.start_logits[k].double().numpy(), told.end_logits[k].double().numpy(), inside)
        score, first, last = best_span(scores)
        if score > best:
            best, answer = score, evidence[spans[first][0] : spans[last][1]].strip()
    return answer
