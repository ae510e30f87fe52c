"""Forms of questions in files: your own, and the forms of published corpora.

| form | after | read |
|---|---|---|
| `own` | | `{id, question, answer or answers, context?}` |
| `hotpotqa` | Yang et al. 2018 (distractor) | `_id`, `question`, `answer`, `type`, `context`: `[title, [sentences]]` |
| `2wikimultihopqa` | Ho et al. 2020 | the same; more types |
| `musique` | Trivedi et al. 2022 | `id`, `question`, `answer`, `answer_aliases`, `answerable`, `paragraphs` |
| `squad2` | Rajpurkar et al. 2018 | articles with paragraphs with questions, or rows as the library `datasets` keeps them |
| `natural_questions` | Kwiatkowski et al. 2019 | the simplified form (`document_text`) and the full one (`document_tokens`) |

For your own questions, `answer` is one answer; `answers` are several, and each counts as right. A question without an answer
(null, an empty text, an empty list) is unanswerable: whatever is answered is wrong. `context` are documents that come with it: a
text, or a list of texts, of `{title, text}` or of `[title, [sentences]]`.

Supporting facts, evidences, decompositions and places of answers are left alone. SQuAD's `is_impossible` means no answer, and its
plausible answers are wrong ones. In Natural Questions, the short answers and yes/no answers of all annotators count as right. A
question without any annotation has no answer. A question with only a long answer is left out, since its answer is a paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from parlour.envs import english
from parlour.envs.core import ParlourError, value_shown
from parlour.envs.mediated_qa.corpora.documents import document, passage, sentences_of
from parlour.envs.mediated_qa.corpora.fields import LINES, FileEntry, Place, entries, is_table, one_line, whole
from parlour.envs.mediated_qa.corpus import CorpusQuestion, Passage
from parlour.envs.mediated_qa.world import WorldFact

QuestionWithContext = tuple[CorpusQuestion, list[Passage]]
"""A question, and the documents that come with it."""
SQUAD: Final = "squad2"
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
    if form == SQUAD:
        yield from islice(_squad(path), limit)
        return
    yield from filter(None, map(READERS[form], entries(path, limit)))


def form_of_fields(fields: Mapping[str, Any]) -> str:
    """The form of an entry; empty if it is none."""
    if "annotations" in fields and "question_text" in fields:
        return "natural_questions"
    if "question" not in fields:
        return ""
    if "paragraphs" in fields:
        return "musique"
    if isinstance(fields.get("answers"), dict) and "title" in fields:
        return SQUAD
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
    plausible: Sequence[str] = (),
) -> QuestionWithContext:
    """A question with its articles; without answers it is unanswerable. Raises `ParlourError` for a wrong field.

    Its decoys are wrong answers of the kind of the first right one, from the articles: years or names; of no answer, names.
    """
    said = " ".join(sentence for article in articles for sentence in article.sentences)
    text = entry.words("question")
    decoys = english.years(said) if answers and english.years(answers[0]) else english.proper_names(said)
    decoys = (*plausible, *decoys)
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
        return entry.texts("answers") if entry.has("answers") else ()
    if isinstance(entry.fields.get("answer"), list):
        return entry.texts("answer")
    if "answer" not in entry.fields:
        raise entry.refused("answer", "words; null or answers: [] for an unanswerable question")
    return (entry.words("answer", empty=True),) if entry.has("answer") else ()


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


def _musique(entry: FileEntry) -> QuestionWithContext:
    paragraphs = entry.objects("paragraphs")
    articles = [passage(part.words("title"), part.words("paragraph_text")) for part in paragraphs]
    answers: tuple[str, ...] = ()
    if entry.truth("answerable", True):
        aliases = entry.texts("answer_aliases") if entry.has("answer_aliases") else ()
        answers = (entry.words("answer"), *aliases)
    return _question(entry, answers, articles, identity=entry.identity("id"))


# -- SQuAD 2 ---------------------------------------------------------------------------------------------------


def _squad(path: Path) -> Iterator[QuestionWithContext]:
    if is_table(path) or path.suffix.lower() in LINES:
        for row in entries(path):
            yield _squad_question(row, row, row)
        return
    for article in FileEntry.of(Place(path), whole(path)).objects("data"):
        for paragraph in article.objects("paragraphs"):
            for qa in paragraph.objects("qas"):
                yield _squad_question(qa, article, paragraph)


def _squad_question(entry: FileEntry, titled: FileEntry, paragraph: FileEntry) -> QuestionWithContext:
    texts = _texts_of(entry, "answers")
    article = passage(titled.words("title"), paragraph.words("context"))
    impossible = entry.truth("is_impossible", not texts)
    if not impossible and not texts:
        raise entry.refused("answers", "at least one, unless is_impossible is true")
    plausible = _texts_of(entry, "plausible_answers") if entry.has("plausible_answers") else ()
    answers, identity = () if impossible else texts, entry.identity("id")
    return _question(entry, answers, [article], identity=identity, plausible=plausible)


def _texts_of(entry: FileEntry, key: str) -> tuple[str, ...]:
    """Answers as a list of `{text}`, or as `{text: [...]}`."""
    if isinstance(entry.fields.get(key), dict):
        return FileEntry(entry.place.within(key), entry.fields[key]).texts("text")
    return tuple(answer.words("text") for answer in entry.objects(key))


# -- Natural Questions -----------------------------------------------------------------------------------------

_MARK: Final = re.compile(r"^</?[A-Za-z][^>]*>$")
_BLOCK: Final = re.compile(r"^</?(?:P|H\d|Li|Ul|Tr|Table|Dd|Dl|Dt)\b", re.IGNORECASE)
_SPACED: Final = re.compile(r" +(?=[.,;:!?)%])|(?<=\() +")
_HEAD: Final = re.compile(r"<H1>(.*?)</H1>", re.IGNORECASE | re.DOTALL)


def _natural(entry: FileEntry) -> QuestionWithContext | None:
    """An entry of Natural Questions; None if it has a long answer alone."""
    tokens = _tokens(entry)
    annotations = entry.objects("annotations")
    answers = tuple(dict.fromkeys(answer for marked in annotations for answer in _short(marked, tokens)))
    long = (FileEntry.of(marked.place, marked.fields.get("long_answer")) for marked in annotations)
    if not answers and any(map(_span, long)):
        return None
    article = passage(_title(entry), _plain(tokens))
    text = entry.words("question_text")
    question = FileEntry(entry.place, {"question": text if text.endswith("?") else f"{text}?"})
    return _question(question, answers, [article], identity=entry.identity("example_id"))


def _tokens(entry: FileEntry) -> list[str]:
    if entry.has("document_tokens"):
        return [token.words("token", empty=True) for token in entry.objects("document_tokens")]
    text = entry.fields.get("document_text")
    if not isinstance(text, str):
        raise entry.refused("document_text", "a text, or document_tokens")
    return text.split(" ")


def _short(annotation: FileEntry, tokens: list[str]) -> Iterator[str]:
    verdict = annotation.words("yes_no_answer").lower() if annotation.has("yes_no_answer") else "none"
    if verdict not in ("yes", "no", "none"):
        raise annotation.refused("yes_no_answer", "YES, NO or NONE")
    if verdict != "none":
        yield verdict
    for span in map(_span, annotation.objects("short_answers")):
        if words := one_line(_plain(tokens[slice(*span)])) if span else "":
            yield words


def _span(entry: FileEntry) -> tuple[int, ...]:
    """From and to which token; empty where nothing is marked (-1)."""
    start, end = entry.whole_number("start_token"), entry.whole_number("end_token")
    return (start, end) if 0 <= start < end else ()


def _plain(tokens: list[str]) -> str:
    """Words of tokens, without marks of HTML; an empty line where a paragraph, a heading, an item or a row begins or ends."""
    words = ("\n\n" if _BLOCK.match(token) else "" if _MARK.match(token) else token for token in tokens)
    return _SPACED.sub("", " ".join(filter(None, words))).strip()


def _title(entry: FileEntry) -> str:
    """Of the document: as it says, its main heading, or as its address says."""
    if entry.has("document_title"):
        return entry.words("document_title")
    head = _HEAD.search(entry.fields.get("document_text") or "")
    if head and (title := one_line(_plain(head[1].split(" ")))):
        return title
    address = entry.words("document_url").replace("&amp;", "&")
    named = parse_qs(urlsplit(address).query).get("title", []) or [urlsplit(address).path.rpartition("/")[2]]
    if not named[0]:
        raise ParlourError(
            f"{entry.place}: document_url {address!r} names no document; accepted: document_title as well"
        )
    return one_line(named[0].replace("_", " "))


READERS: Final[Mapping[str, Callable[[FileEntry], QuestionWithContext | None]]] = {
    "own": _own,
    "hotpotqa": _hotpot,
    "2wikimultihopqa": partial(_hotpot, kinds=_WIKI_KINDS),
    "musique": _musique,
    "natural_questions": _natural,
}
"""Form -> what reads an entry of it; SQuAD, whose entries lie within each other, is read apart."""
