"""Readers of the pipeline of GRACE: by a language model, with an inference model for checks, or by an extractive model.

`AskingReader` puts three questions to a model: answer from evidence, answer from memory, check an answer. With it as reader,
`parlour.envs.mediated_qa.pipeline.Pipeline` is a pipeline of language models. Without any model the heuristics extract from
the evidence, know nothing by heart, and compare words.

`NLIReader` and `QAReader` need the extra `nli`. An inference model takes the evidence as premise, question and answer as
hypothesis; labels are read whatever their case (the published code expects upper case where its checkpoint writes lower case,
and so never sees a verdict; decisions 2.6). An extractive model gives each token a score as the beginning and as the end of the answer; the
answer is the span of the evidence with the highest sum, or none where the first token, which stands for "no answer", has a
higher one (Devlin et al. 2019, "BERT", section 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from math import exp
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from parlour.envs.common.extras import not_installed
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.reading import EstimatedAnswer
from parlour.policies.llm.ask import Answer, Ask, Choices, Fraction
from parlour.policies.llm.model import Model, OfflineModel, RequestContext, mixed
from parlour.policies.llm.transport.request import TokenLogProbs

UNKNOWN: Final = "I don't know"
LABELS: Final = ("entailment", "neutral", "contradiction")
TEMPERATURE: Final = 0.7
"""Temperature of the samples for self-consistency (from the published code)."""


class ShortAnswer(Answer):
    """An answer in a few words."""

    reason: str
    """What the answer rests on, in one sentence."""
    answer: str
    """A name, a year, a number, yes, no, or that it is not known."""
    confidence: Fraction
    """How sure it is, 0..1."""


class Generate(
    Ask[ShortAnswer], kind="grace.generate", general="plain", record=("question", "evidence"), max_tokens=200
):
    """Answer from the evidence."""

    question: str
    evidence: list[str]
    """Sentences, each with its title."""

    def heuristic(self, rng: np.random.Generator) -> ShortAnswer:
        estimate = reading.read(self.question, reading.SEPARATOR.join(self.evidence))
        reason = "It stands in the evidence." if estimate.answer else "The evidence does not tell."
        return ShortAnswer(reason=reason, answer=estimate.answer or UNKNOWN, confidence=estimate.confidence)


class GenerateFreely(Generate, kind="grace.generate_freely", temperature=TEMPERATURE):
    """The same at a temperature: one of the samples that must agree."""


class Recall(
    Ask[ShortAnswer], kind="grace.recall", general="plain", logprobs=True, record=("question",), max_tokens=200
):
    """Answer from memory: the closed-book question. The heuristic has no memory and says so."""

    question: str

    def heuristic(self, rng: np.random.Generator) -> ShortAnswer:
        return ShortAnswer(reason="Nothing is known by heart.", answer=UNKNOWN, confidence=0.0)


class RecallFreely(Recall, kind="grace.recall_freely", logprobs=False, temperature=TEMPERATURE):
    """The same at a temperature: one of the samples that must agree."""


class EntailmentVerdict(Answer):
    """What the evidence says about an answer."""

    reason: str
    """What the evidence says, in one sentence."""
    label: Literal["entailment", "neutral", "contradiction"]


class CheckAnswer(
    Ask[EntailmentVerdict], kind="grace.check", general="plain", record=("question", "evidence"), max_tokens=200
):
    """Check whether the evidence entails an answer."""

    question: str
    evidence: list[str]
    answer: str

    def heuristic(self, rng: np.random.Generator) -> EntailmentVerdict:
        label = reading.entailment(self.question, reading.SEPARATOR.join(self.evidence), self.answer)
        return EntailmentVerdict.model_validate({"reason": "The words of both were compared.", "label": label})

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

    def sample(self, question: Worded, evidence: str, count: int, rng: np.random.Generator) -> list[str]:
        context = RequestContext("generator", mixed(self.seed, int(rng.integers(2**31))))
        asked: Ask[ShortAnswer] = RecallFreely(question=question.text)
        if evidence:
            asked = GenerateFreely(question=question.text, evidence=sentences(evidence))
        answers = self.model.answers(asked, context, count)
        return [known(answered.value.answer) for answered in answers]

    def recall(self, question: Worded) -> EstimatedAnswer:
        estimate = self._recalled.get(question.text)
        if estimate is None:
            answered = self.model.answer(Recall(question=question.text), self._context())
            value, sure = answered.value, token_confidence(answered.logprobs, answered.value.answer)
            confidence = value.confidence if sure is None else sure
            estimate = EstimatedAnswer(known(value.answer), confidence, sure is not None)
            self._recalled[question.text] = estimate
        return estimate

    def check(self, question: Worded, evidence: str, answer: str) -> str:
        asked = CheckAnswer(question=question.text, evidence=sentences(evidence), answer=answer)
        return self.model.answer(asked, RequestContext("verifier", mixed(self.seed))).value.label

    def _context(self) -> RequestContext:
        return RequestContext("generator", mixed(self.seed))


def token_confidence(logprobs: TokenLogProbs, answer: str) -> float | None:
    """Mean probability of the tokens that write the answer in a reply's JSON; None if they are not known.

    >>> token_confidence((('{"answer":', 0.0), (' "Tel', -1.0), ('by', 0.0), ('"}', -9.0)), "Telby")  # (e^-1 + 1) / 2
    0.6839397205857212
    """
    text, chances = "".join(token for token, _ in logprobs), list[float]()
    first, end = text.find(answer, text.rfind('"answer"') + len('"answer"')), 0
    for token, logprob in logprobs:
        begin, end = end, end + len(token)
        if first < end and begin < first + len(answer):
            chances.append(exp(logprob))
    return fmean(chances) if first >= 0 and chances else None


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


CHECKPOINT: Final = "cross-encoder/nli-deberta-v3-small"
Classify = Callable[[str, str], Mapping[str, float]]
"""Premise, hypothesis -> label, in any case -> probability."""


class NLIReader:
    """A reader whose answers are checked by an inference model; all else is left to another reader.

    Args:
        inner: Who answers.
        classify: The inference model; by default `checkpoint` of the `transformers` library, loaded at the first check.
        checkpoint: Its name or folder.
    """

    def __init__(self, inner: AskingReader, classify: Classify | None = None, checkpoint: str = CHECKPOINT) -> None:
        self._classify, self._checkpoint = classify, checkpoint
        self.generate, self.sample, self.recall = inner.generate, inner.sample, inner.recall

    def check(self, question: Worded, evidence: str, answer: str) -> str:
        """`"entailment"`, `"neutral"` or `"contradiction"`.

        Raises:
            ParlourError: The extra is not installed, or the model gives another label.
        """
        chances = self._chances(question, evidence, answer)
        return max(chances, key=chances.__getitem__)

    def entailment(self, question: Worded, evidence: str, answer: str) -> float:
        """The probability of entailment. Raises `ParlourError` as `check` does."""
        return self._chances(question, evidence, answer).get(LABELS[0], 0.0)

    def _chances(self, question: Worded, evidence: str, answer: str) -> dict[str, float]:
        if self._classify is None:
            self._classify = _classifier(self._checkpoint)
        found = self._classify(evidence, f"{question.text} {answer}")
        chances = {label.lower(): chance for label, chance in found.items()}
        for label in chances:
            check_one_of("label of the inference model", label, LABELS)
        return chances


def _imported(*names: str) -> list[Any]:
    """Modules of the extra. Raises `ParlourError` where one is not installed."""
    try:
        return [import_module(name) for name in names]
    except ModuleNotFoundError as error:
        raise not_installed(error.name, "nli") from None


def _classifier(checkpoint: str) -> Classify:
    (transformers,) = _imported("transformers")
    model = transformers.pipeline("text-classification", model=checkpoint, truncation="only_first")
    lock = Lock()  # tokenizers of this library are not safe for threads

    def classify(premise: str, hypothesis: str) -> dict[str, float]:
        with lock:
            labels = model({"text": premise, "text_pair": hypothesis}, top_k=None)
        return {str(of["label"]): float(of["score"]) for of in labels}

    return classify


LONGEST: Final = 30
"""Tokens of an answer, at most."""
_WINDOW: Final = 384
"""Tokens of question and evidence that are read at a time."""
_STRIDE: Final = 128
"""Tokens that two windows share."""
Extract = Callable[[str, str], str]
"""Question, evidence -> answer; empty if there is none."""


class SpanScores(NamedTuple):
    """What a model says about one window; arrays of shape (tokens,)."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    inside: NDArray[np.bool_]
    """Whether a token belongs to the evidence."""


class QAReader(AskingReader):
    """A reader that extracts answers by a model. Satisfies `parlour.envs.mediated_qa.readers.Reader`.

    Args:
        folder: The model, as `save_pretrained` leaves it; loaded at the first question.
        extract: A function to use instead of a model.

    Raises:
        ParlourError: There is no such folder.
    """

    def __init__(self, folder: str | Path, extract: Extract | None = None) -> None:
        if extract is None and not (Path(folder) / "config.json").is_file():
            raise accept(
                "folder of a question-answering model", str(folder), "a folder with config.json, as transformers writes"
            )
        super().__init__()
        self._folder, self._extract = folder, extract

    def generate(self, question: Worded, evidence: str, rng: np.random.Generator) -> str:
        """The answer; empty if the evidence has none. Raises `ParlourError` if the model cannot be loaded."""
        if not evidence.strip():
            return ""
        if self._extract is None:
            self._extract = _extractor(self._folder)
        return self._extract(question.text, " ".join(sentences(evidence)))

    def sample(self, question: Worded, evidence: str, count: int, rng: np.random.Generator) -> list[str]:
        """The same answer each time: the model has no temperature."""
        return [self.generate(question, evidence, rng)] * count


def best_span(scores: SpanScores) -> tuple[float, int, int]:
    """Score, first and last token of the best span, minus the score of "no answer" (token 0); -inf if there is none.

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


def _extractor(folder: str | Path) -> Extract:
    torch, transformers = _imported("torch", "transformers")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = transformers.AutoModelForQuestionAnswering.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        why = " ".join(str(error).split())[:200]
        raise ParlourError(
            f"{str(folder)!r} is not a question-answering model: {why}; accepted: what transformers saved"
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
    output = model(**read)
    best, answer = 0.0, ""
    for k, spans in enumerate(offsets):
        inside = np.array([part == 1 for part in read.sequence_ids(k)])
        scores = SpanScores(output.start_logits[k].double().numpy(), output.end_logits[k].double().numpy(), inside)
        score, first, last = best_span(scores)
        if score > best:
            best, answer = score, evidence[spans[first][0] : spans[last][1]].strip()
    return answer
