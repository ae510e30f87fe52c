"""What documents of your own say about a question: the graph of them, and the five signals that a mediator's state is made of.

For a mediator in use, outside the game: documents are cut into sentences as in a corpus, and the game provides graph, search and
signals (`parlour.envs.mediated_qa.graph`, `retrieve`, `signals`); only this file of the
policies knows them. No reader is asked, and no answer is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from parlour.envs.core import ParlourError, accept, value_shown
from parlour.envs.language import english
from parlour.envs.mediated_qa.context import measure
from parlour.envs.mediated_qa.corpora.documents import passage
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.graph import KnowledgeGraph, Normalisation
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.retrievers import Depth
from parlour.envs.mediated_qa.signals import Bins, Signals, probe
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES, Thresholds

_LONGEST_TITLE: Final = 100
"""Letters; a longer first line is a sentence, not a title."""
_ACCEPTED: Final = "texts, objects {title, text}, or passages (title, sentences)"


class SignalBin(NamedTuple):
    """One signal of a question, and where it lies between its cut points."""

    name: str
    value: float
    low: float
    high: float
    bin: int
    """0, 1 or 2: below `low`, below `high`, or not."""


class DocumentProbe:
    """The graph of some documents, built once, and the signals of any question in it.

    Args:
        documents: Each a text, an object with `title` and `text`, or a passage (title, sentences). A text without a title
            has its first line, if more lines follow it, else the first name in it.
        normalisation: Normalisation of the graph that the policy was trained with.

    Raises:
        ParlourError: There are no documents with a sentence, or one of them is something else.
    """

    def __init__(self, documents: Iterable[Any], normalisation: Normalisation = "ours") -> None:
        self.passages = passages_of(documents)
        self.graph = KnowledgeGraph(self.passages, normalisation=normalisation)
        self.search = Search(guide=1.0 if normalisation == "ours" else 0.0)

    def starts(self, question: str) -> list[int]:
        """The nodes of the documents that a question is linked to, best match first."""
        return self.graph.link(question)

    def linked(self, question: str) -> tuple[str, ...]:
        """Their titles."""
        return tuple(self.graph.text[node] for node in self.starts(question))

    def signals(self, question: str) -> Signals | None:
        """The raw signals of a question; None if it is linked to no document."""
        return probe(self.graph, self.search, self.starts(question), question)

    def evidence(self, question: str, depth: Depth) -> str:
        """What the search of the graph finds, as `reading.join` writes it."""
        return self.search.evidence(self.graph, self.starts(question), question, depth)

    def context(self, question: str) -> tuple[float, ...]:
        """All that may be known about a question before anything is paid for, in the order of `vocabulary.FEATURES`."""
        return measure(self.graph, self.search, question, self.starts(question), self.signals(question))


def passages_of(documents: Iterable[Any]) -> tuple[Passage, ...]:
    """Documents as passages. Raises `ParlourError` for what is none."""
    return tuple(_passage(*content) for content in content_of(documents))


def content_of(documents: Iterable[Any]) -> tuple[tuple[str, str | tuple[str, ...]], ...]:
    """Title and text, or sentences, of each document: what is equal for equal documents. Raises as `passages_of` does."""
    if isinstance(documents, (str, bytes, Mapping)):
        raise accept("documents", documents, f"a list of {_ACCEPTED}")
    return tuple(_content(number, document) for number, document in enumerate(documents, 1))


def state_of(signals: Iterable[float] | None, thresholds: Thresholds) -> str:
    """The state T x Q of raw signals by the cut points of a policy file; `s0` without signals.

    Raises:
        ParlourError: The cut points of a signal are missing, or there are not five numbers.
    """
    return bins_of(thresholds).state(None if signals is None else five(signals))


def binned(signals: Iterable[float], thresholds: Thresholds) -> tuple[SignalBin, ...]:
    """Each signal with its cut points and bin. Raises `ParlourError` as `state_of` does."""
    bins, values = bins_of(thresholds), five(signals)
    return tuple(
        SignalBin(name, value, *bins.cuts[k], bins.bin(k, value))
        for k, (name, value) in enumerate(zip(SIGNAL_NAMES, values, strict=True))
    )


def bins_of(thresholds: Thresholds) -> Bins:
    """The cut points of a policy file. Raises `ParlourError` where one is missing."""
    if missing := [name for name in SIGNAL_NAMES if name not in thresholds]:
        raise ParlourError(
            f"the policy has no signal_thresholds of {', '.join(missing)}; accepted: a policy that `train grace` learned from "
            "questions, or recommend(state)"
        )
    return Bins(tuple(thresholds[name] for name in SIGNAL_NAMES))


def five(signals: Iterable[float]) -> Signals:
    """Five numbers as signals. Raises `ParlourError` for anything else."""
    try:
        return Signals(*map(float, signals))
    except (TypeError, ValueError):
        raise accept("signals", signals, f"five numbers: {', '.join(SIGNAL_NAMES)}; or None") from None


def _content(number: int, document: Any) -> tuple[str, str | tuple[str, ...]]:
    if isinstance(document, str):
        return "", document
    if isinstance(document, Mapping):
        title, text = document.get("title", ""), document.get("text")
        if isinstance(title, str) and isinstance(text, str):
            return title, text
    elif isinstance(document, tuple) and len(document) == 2:
        title, sentences = document
        if isinstance(title, str) and isinstance(sentences, str):
            return title, sentences
        if (
            isinstance(title, str)
            and isinstance(sentences, (list, tuple))
            and all(isinstance(text, str) for text in sentences)
        ):
            return title, tuple(sentences)
    raise ParlourError(f"document {number}: {value_shown(document)} is not accepted; accepted: {_ACCEPTED}")


def _passage(title: str, text: str | tuple[str, ...]) -> Passage:
    if isinstance(text, tuple):
        return Passage(title, text)
    if not title.strip():
        title, text = _first_line(text)
    return passage(title, text)


def _first_line(text: str) -> tuple[str, str]:
    """The title of a text without one, and the rest."""
    first, _, rest = text.strip().partition("\n")
    if rest.strip() and len(first) <= _LONGEST_TITLE:
        return first, rest
    return next(iter(english.proper_names(text)), " ".join(text.split()[:6])), text
