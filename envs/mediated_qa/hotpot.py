"""HotpotQA's distractor files as a corpus (Yang et al. 2018): a JSON list of questions, each with ten articles.

Read are `_id`, `question`, `answer`, `type` and `context` (title and sentences). The supporting facts, which say what the
right sentences are, are left alone, so that nothing of them can get into a graph.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from parlour.envs import english
from parlour.envs.core import ParlourError, value_shown
from parlour.envs.json_values import json_value
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion, Passage
from parlour.envs.mediated_qa.world import WorldFact

FAME: Final = 0.4
"""How well known the answers are taken to be by a simulated memory: the files do not tell."""
_DECOYS: Final = 5
_KINDS: Final = ("bridge", "comparison")


def load(path: str | Path, limit: int | None = None) -> Corpus:
    """The questions of a file, and their articles, each title once.

    Args:
        path: A file in the form of `hotpot_dev_distractor_v1.json`.
        limit: Number of questions to read, from the beginning; None for all.

    Raises:
        ParlourError: The file cannot be read, or an entry is not as described; the message says which.
    """
    try:
        entries = json_value(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ParlourError(f"{str(path)!r} cannot be read as HotpotQA: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise ParlourError(f"{str(path)!r} is no list of questions; accepted: HotpotQA's distractor files")
    passages: dict[str, Passage] = {}
    questions = []
    for number, entry in enumerate(entries[:limit]):
        try:
            question, articles = _entry(entry)
        except (KeyError, TypeError, ValueError) as error:
            raise ParlourError(f"{str(path)!r}, question {number}: {type(error).__name__} {error}") from None
        questions.append(question)
        for article in articles:
            passages.setdefault(article.title, article)
    return Corpus(tuple(passages.values()), tuple(questions))


def _entry(entry: Any) -> tuple[CorpusQuestion, list[Passage]]:
    articles = [_article(title, sentences) for title, sentences in entry["context"]]
    text, answer, kind = _words(entry["question"]), _words(entry["answer"]), entry["type"]
    if kind not in _KINDS:
        raise ValueError(f"type {value_shown(kind)}; accepted: {', '.join(_KINDS)}")
    if answer.lower() in ("yes", "no"):
        kind = "yes_no"
    fact = WorldFact(_words(entry["_id"]), "answer", FAME)
    return CorpusQuestion(text, answer, kind, (fact,), _decoys(answer, articles)), articles


def _article(title: Any, sentences: Any) -> Passage:
    if not isinstance(sentences, list):
        raise TypeError(f"sentences of {value_shown(title)}; accepted: a list")
    return Passage(_words(title), tuple(text for text in (_words(one, empty=True) for one in sentences) if text))


def _words(value: Any, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (empty or value.strip()):
        raise TypeError(f"{value_shown(value)}; accepted: words")
    return " ".join(value.split())


def _decoys(answer: str, articles: list[Passage]) -> tuple[str, ...]:
    """Wrong answers of the kind of the right one, from the articles: the other of yes and no, years, or names."""
    if answer.lower() in ("yes", "no"):
        return ("no" if answer.lower() == "yes" else "yes",)
    text = " ".join(sentence for article in articles for sentence in article.sentences)
    found = english.years(text) if english.years(answer) else english.proper_names(text)
    return tuple(one for one in found if english.normal(one) != english.normal(answer))[:_DECOYS]
