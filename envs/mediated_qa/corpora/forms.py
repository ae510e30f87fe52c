"""Forms of questions in files: your own, and the forms of published corpora.

| form | after | read |
|---|---|---|
| `own` | | `{id, question, answer or answers, context?}` |
| `hotpotqa` | Yang et al. 2018 (distractor) | `_id`, `question`, `answer`, `type`, `context`: `[title, [sentences]]` |
| `2wikimultihopqa` | Ho et al. 2020 | the same; more types |

For your own questions, `answer` is one answer, words or a number; `answers` are several, and each counts as right. A question without an answer
(null, an empty text, an empty list) is unanswerable: whatever is answered is wrong. `context` are documents that come with it: a
text, or a list of texts, of `{title, text}` or of `[title, [sentences]]`.

Supporting facts and evidences are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError, value_shown
from parlour.envs.language import english
from parlour.envs.mediated_qa.corpora.documents import document, passage, sentences_of
from parlour.envs.mediated_qa.corpora.fields import FileEntry, Place, entries, one_line
from parlour.envs.mediated_qa.corpus import CorpusQuestion, Passage
from parlour.envs.mediated_qa.world import WorldFact

QuestionWithContext = tuple[CorpusQuestion, list[Passage]]
"""A question, and the documents that come with it."""
FAME: Final = 0.4
"""How well known the answers are taken to be by a simulated memory: the files do not tell."""
DECOYS: Final = 5
_OWN_KINDS: Final = ("bridge", "comparison", "yes_no")
# Types of questions in the files -> kinds here.
_HOTPOT_KINDS: Final = {"bridge": "bridge", "comparison": "comparison"}
_WIKI_KINDS: Final = {"comparison": "comparison", "bridge_comparison": "comparison"} | dict.fromkeys(
    ("inference", "compositional"), "bridge"
)


def questions_in(path: Path, form: str, limit: int | None = None) -> Iterator[QuestionWithContext]:
    """The questions of a file in a form, one of the package's `FORMS` except `auto`; from its first `limit` entries.

    Raises:
        ParlourError: The file or a field of it is not as described.
    """
    yield from map(READERS[form], entries(path, limit))


def form_of_fields(fields: Mapping[str, Any]) -> str:
    """The form of an entry; empty if it is none."""
    if "question" not in fields:
        return ""
    if "supporting_facts" in fields or ("_id" in fields and "type" in fields):
        kind = fields.get("type")
        wiki = "evidences" in fields or (isinstance(kind, str) and kind in {*_WIKI_KINDS} - {*_HOTPOT_KINDS})
        return "2wikimultihopqa" if wiki else "hotpotqa"
    return "own"


def _question(
    entry: FileEntry,
    answers: Sequence[str],
    articles: list[Passage],
    *,
    identity: str = "",
    kind: str = "",
) -> QuestionWithContext:
    """A question with its articles; without answers it is unanswerable. Raises `ParlourError` for a wrong field.

    Its decoys are wrong answers of the kind of the first right one, from the articles: years or names; of no answer, names.
    """
    said = " ".join(sentence for article in articles for sentence in article.sentences)
    text = entry.words("question")
    decoys = english.years(said) if answers and english.years(answers[0]) else english.proper_names(said)
    answer, *others = tuple(dict.fromkeys(filter(None, answers))) or ("",)
    if answer.lower() in ("yes", "no"):
        kind, decoys = "yes_no", ("no" if answer.lower() == "yes" else "yes",)
    right = set(map(english.normal, (answer, *others)))
    wrong = tuple(name for name in decoys if english.normal(name) not in right)[:DECOYS]
    fact = WorldFact(identity or text, "answer", FAME)
    return CorpusQuestion(text, answer, kind or "bridge", (fact,), wrong, identity, tuple(others)), articles


def with_decoys(questions: Sequence[CorpusQuestion]) -> tuple[CorpusQuestion, ...]:
    """Questions with answers of others instead of decoys that are missing: years for years, words for words.

    They serve only a simulated memory, which would otherwise guess right whenever it has no wrong answer.
    """
    pools: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for question in questions:
        if question.answer and question.kind != "yes_no":
            pools[bool(english.years(question.answer))][question.answer] = None
    lists = {years: list(pool) for years, pool in pools.items()}
    return tuple(_filled(question, number, lists) for number, question in enumerate(questions))


def _filled(question: CorpusQuestion, number: int, pools: Mapping[bool, list[str]]) -> CorpusQuestion:
    pool = pools[bool(english.years(question.answer))]
    if question.kind == "yes_no" or len(question.decoys) > 1 or not pool:
        return question
    taken = set(map(english.normal, (question.answer, *question.others, *question.decoys)))
    candidates = (pool[(number + step) % len(pool)] for step in range(min(len(pool), 2 * DECOYS)))
    further = [other for other in candidates if english.normal(other) not in taken]
    return question._replace(decoys=(*question.decoys, *further)[:DECOYS])


# -- one's own -------------------------------------------------------------------------------------------------


def _own(entry: FileEntry) -> QuestionWithContext:
    kind = entry.words("type") if entry.has("type") else ""
    identity = entry.identity("id")
    answers = _own_answers(entry)
    context = entry.fields["context"] if entry.has("context") else []
    values = context if isinstance(context, list) else [context]
    articles = [_own_article(entry, value, k, identity) for k, value in enumerate(values)]
    return _question(entry, answers, articles, identity=identity, kind=kind if kind in _OWN_KINDS else "")


def _own_answers(entry: FileEntry) -> tuple[str, ...]:
    """The answers that count as right, of `answer` or `answers`; none if the question is unanswerable."""
    if "answers" in entry.fields:
        return entry.answers("answers") if entry.has("answers") else ()
    if "answer" not in entry.fields:
        raise entry.refused("answer", "words; null or answers: [] for an unanswerable question")
    return entry.answers("answer") if entry.has("answer") else ()


def _own_article(entry: FileEntry, value: Any, number: int, identity: str) -> Passage:
    place = entry.place.within("context", number)
    if isinstance(value, dict):
        return document(FileEntry(place, value))
    if isinstance(value, str):
        first = next(iter(sentences_of(value)), "")
        names = english.proper_names(first)
        return passage(names[0] if names else identity or first or "untitled", value)
    if isinstance(value, list):
        return _article(place, value)
    raise entry.refused("context", "a text, or a list of texts, of {title, text} or of [title, [sentences]]")


def _article(place: Place, value: Any) -> Passage:
    """An article written as `[title, [sentences]]`."""
    fits = isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], list)
    if not fits or not value[0].strip() or not all(isinstance(sentence, str) for sentence in value[1]):
        raise ParlourError(f"{place}: {value_shown(value)} is not accepted; accepted: [title, [sentences]]")
    return Passage(one_line(value[0]), tuple(filter(None, map(one_line, value[1]))))


# -- over several articles -------------------------------------------------------------------------------------


def _hotpot(entry: FileEntry, kinds: Mapping[str, str] = _HOTPOT_KINDS) -> QuestionWithContext:
    articles = _articles(entry)
    kind = entry.words("type")
    if kind not in kinds:
        raise entry.refused("type", kinds)
    answers = (entry.words("answer"),)
    identity = entry.identity("_id") or entry.identity("id")
    return _question(entry, answers, articles, identity=identity, kind=kinds[kind])


def _articles(entry: FileEntry) -> list[Passage]:
    """The context, a list of articles; or `{title, sentences}`, two lists, as the library `datasets` keeps it."""
    place, context = entry.place.within("context"), entry.fields.get("context")
    if isinstance(context, dict):
        inner = FileEntry(place, context)
        lists = inner.items("sentences" if "sentences" in context else "content")
        pairs = [list(pair) for pair in zip(inner.items("title"), lists, strict=False)]
    else:
        pairs = entry.items("context", "a list of [title, [sentences]]")
    return [_article(place.within(k), pair) for k, pair in enumerate(pairs)]


READERS: Final[Mapping[str, Callable[[FileEntry], QuestionWithContext]]] = {
    "own": _own,
    "hotpotqa": _hotpot,
    "2wikimultihopqa": partial(_hotpot, kinds=_WIKI_KINDS),
}
"""Form -> what reads an entry of it."""
