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

FAME: Final = 0.4
"""How well known the answers are taken to be by a simulated memory: the files do not tell."""
KINDS: Final = ("bridge", "comparison", "yes_no")
DECOYS: Final = 5


def own_question(entry: FileEntry) -> tuple[CorpusQuestion, list[Passage]]:
    """A question and the documents that come with it.

    Raises:
        ParlourError: A field is missing or of another type.
    """
    kind = entry.words("type") if entry.has("type") else ""
    identity = entry.identity("id")
    found = question(identity, entry.words("question"), answers_of(entry), kind if kind in KINDS else "")
    return found, _context(entry, identity)


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
