"""Questions of one's own: `{id, question, answer | answers, context?}`, an object a line or a list of them.

`answer` is one answer; `answers` are several, each of which counts as right. A question without an answer (null, an empty text,
an empty list) is unanswerable: whatever is answered is wrong. `context` are documents that come with it: a text, or a
list of texts, of `{title, text}` or of `[title, [sentences]]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from parlour.envs import english
from parlour.envs.core import ParlourError, value_shown
from parlour.envs.mediated_qa.corpora.documents import document, passage, sentences_of
from parlour.envs.mediated_qa.corpora.fields import FileEntry, one_line
from parlour.envs.mediated_qa.corpus import CorpusQuestion, Passage
from parlour.envs.mediated_qa.world import WorldFact

Asked = tuple[CorpusQuestion, list[Passage]]
"""A question, and the documents that come with it."""
FAME: Final = 0.4
"""How well known the answers are taken to be by a simulated memory: the files do not tell."""
KINDS: Final = ("bridge", "comparison", "yes_no")
DECOYS: Final = 5


def own_question(entry: FileEntry) -> Asked:
    """A question of one's own.

    Raises:
        ParlourError: A field is missing or of another type.
    """
    kind = entry.words("type") if entry.has("type") else ""
    identity = entry.identity("id")
    answers, articles = answers_of(entry), _context(entry, identity)
    decoys = decoys_among(answers, articles)
    found = question(identity, entry.words("question"), answers, kind if kind in KINDS else "", decoys)
    return found, articles


def question(
    identity: str, text: str, answers: Sequence[str], kind: str = "", decoys: Sequence[str] = ()
) -> CorpusQuestion:
    """A question read from a file; without answers it is unanswerable."""
    answer, *others = tuple(dict.fromkeys(filter(None, answers))) or ("",)
    if answer.lower() in ("yes", "no"):
        kind, decoys = "yes_no", ("no" if answer.lower() == "yes" else "yes",)
    wrong = tuple(one for one in decoys if english.normal(one) not in set(map(english.normal, (answer, *others))))
    fact = WorldFact(identity or text, "answer", FAME)
    return CorpusQuestion(text, answer, kind or "bridge", (fact,), wrong[:DECOYS], identity, tuple(others))


def decoys_among(answers: Sequence[str], articles: Sequence[Passage]) -> tuple[str, ...]:
    """Wrong answers of the kind of the first right one, from the articles: years or names; of no answer, names."""
    if answers and answers[0].lower() in ("yes", "no"):
        return ()
    text = " ".join(sentence for article in articles for sentence in article.sentences)
    return english.years(text) if answers and english.years(answers[0]) else english.proper_names(text)


def with_decoys(questions: Sequence[CorpusQuestion]) -> tuple[CorpusQuestion, ...]:
    """Questions with answers of others in place of decoys that are missing: years for years, words for words.

    They serve a simulated memory alone, which would otherwise guess right whenever it knows of no wrong answer.
    """
    pools: dict[bool, list[str]] = {True: [], False: []}
    for one in questions:
        if one.answer and one.kind != "yes_no":
            pools[bool(english.years(one.answer))].append(one.answer)
    different = {years: list(dict.fromkeys(pool)) for years, pool in pools.items()}
    return tuple(_filled(one, number, different) for number, one in enumerate(questions))


def _filled(one: CorpusQuestion, number: int, pools: dict[bool, list[str]]) -> CorpusQuestion:
    pool = pools[bool(english.years(one.answer))]
    if one.kind == "yes_no" or len(one.decoys) > 1 or not pool:
        return one
    taken = set(map(english.normal, (one.answer, *one.others, *one.decoys)))
    some = (pool[(number + step) % len(pool)] for step in range(min(len(pool), 2 * DECOYS)))
    more = [other for other in some if english.normal(other) not in taken]
    return one._replace(decoys=(*one.decoys, *more)[:DECOYS])


def answers_of(entry: FileEntry) -> tuple[str, ...]:
    """The answers that count as right, of `answer` or `answers`; none if the question is unanswerable."""
    if "answers" in entry.fields:
        return entry.texts("answers") if entry.has("answers") else ()
    if isinstance(entry.fields.get("answer"), list):
        return entry.texts("answer")
    if "answer" not in entry.fields:
        raise entry.refused("answer", "words; null or answers: [] for an unanswerable question")
    return (entry.words("answer", empty=True),) if entry.has("answer") else ()


def _context(entry: FileEntry, identity: str) -> list[Passage]:
    if not entry.has("context"):
        return []
    context = entry.fields["context"]
    if not isinstance(context, list):
        context = [context]
    return [_one(entry, value, k, identity) for k, value in enumerate(context)]


def _one(entry: FileEntry, value: Any, number: int, identity: str) -> Passage:
    if isinstance(value, dict):
        return document(FileEntry(entry.place.within("context", number), value))
    if isinstance(value, str):
        first = next(iter(sentences_of(value)), "")
        names = english.proper_names(first)
        return passage(names[0] if names else identity or first or "untitled", value)
    if isinstance(value, list):
        return article(entry.place.within("context", number), value)
    raise entry.refused("context", "a text, or a list of texts, of {title, text} or of [title, [sentences]]")


def article(place: Any, value: Any) -> Passage:
    """An article written as `[title, [sentences]]`.

    Raises:
        ParlourError: It is something else.
    """
    fits = isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], list)
    if not fits or not value[0].strip() or not all(isinstance(one, str) for one in value[1]):
        raise ParlourError(f"{place}: {value_shown(value)} is not accepted; accepted: [title, [sentences]]")
    return Passage(one_line(value[0]), tuple(filter(None, map(one_line, value[1]))))
