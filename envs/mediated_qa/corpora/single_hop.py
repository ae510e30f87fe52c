"""SQuAD 2 and Natural Questions as their authors publish them, and rows of SQuAD as the library `datasets` keeps them.

SQuAD 2 (Rajpurkar et al. 2018): articles with paragraphs with questions; `is_impossible` means no answer, and the plausible
answers are wrong ones. Where in a paragraph an answer stands is left alone.

Natural Questions (Kwiatkowski et al. 2019), the simplified form (`document_text`) and the full one (`document_tokens`): the
short answers and yes/no answers of all annotators count as right. A question for which nobody marked anything has no answer; one
with a long answer alone is left out, since its answer is a paragraph. Marks of HTML are taken out of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpora.documents import passage
from parlour.envs.mediated_qa.corpora.fields import LINES, FileEntry, Place, entries, is_table, one_line, whole
from parlour.envs.mediated_qa.corpora.own import Asked, decoys_among, question

_MARK: Final = re.compile(r"^</?[A-Za-z][^>]*>$")
_BLOCK: Final = re.compile(r"^</?(?:P|H\d|Li|Ul|Tr|Table|Dd|Dl|Dt)\b", re.IGNORECASE)
_SPACED: Final = re.compile(r" +(?=[.,;:!?)%])|(?<=\() +")
_HEAD: Final = re.compile(r"<H1>(.*?)</H1>", re.IGNORECASE | re.DOTALL)


# -- SQuAD 2 ---------------------------------------------------------------------------------------------------


def squad_questions(path: Path, limit: int | None = None) -> Iterator[Asked]:
    """The questions of a SQuAD file, or of rows `{id, title, context, question, answers}`; the first `limit`.

    Raises:
        ParlourError: The file or a field of it is not as described.
    """
    yield from islice(_squad_rows(path) if is_table(path) or path.suffix.lower() in LINES else _squad(path), limit)


def _squad_rows(path: Path) -> Iterator[Asked]:
    for entry in entries(path):
        yield _squad_question(entry, _texts_of(entry, "answers"), entry.words("title"), entry.words("context"))


def _squad(path: Path) -> Iterator[Asked]:
    for entry in FileEntry.of(Place(path), whole(path)).objects("data"):
        title = entry.words("title")
        for paragraph in entry.objects("paragraphs"):
            context = paragraph.words("context")
            for asked in paragraph.objects("qas"):
                yield _squad_question(asked, _texts_of(asked, "answers"), title, context)


def _squad_question(entry: FileEntry, texts: tuple[str, ...], title: str, context: str) -> Asked:
    impossible = entry.truth("is_impossible", not texts)
    answers = () if impossible else texts
    if not impossible and not answers:
        raise entry.refused("answers", "at least one, unless is_impossible is true")
    article = passage(title, context)
    plausible = _texts_of(entry, "plausible_answers") if entry.has("plausible_answers") else ()
    decoys = (*plausible, *decoys_among(answers, [article]))
    return question(entry.identity("id"), entry.words("question"), answers, "", decoys), [article]


def _texts_of(entry: FileEntry, key: str) -> tuple[str, ...]:
    """Answers as a list of `{text}`, or as `{text: [...]}`."""
    if isinstance(entry.fields.get(key), dict):
        return FileEntry(entry.place.within(key), entry.fields[key]).texts("text")
    return tuple(one.words("text") for one in entry.objects(key))


# -- Natural Questions -----------------------------------------------------------------------------------------


def natural_question(entry: FileEntry) -> Asked | None:
    """An entry of Natural Questions; None if it has a long answer alone.

    Raises:
        ParlourError: A field is missing or of another type.
    """
    tokens = _tokens(entry)
    annotations = entry.objects("annotations")
    answers = tuple(dict.fromkeys(one for found in annotations for one in _short(found, tokens)))
    if not answers and any(_span(FileEntry.of(one.place, one.fields.get("long_answer"))) for one in annotations):
        return None
    article = passage(_title(entry), _plain(tokens))
    text = entry.words("question_text")
    asked = text if text.endswith("?") else f"{text}?"
    return question(entry.identity("example_id"), asked, answers, "", decoys_among(answers, [article])), [article]


def _tokens(entry: FileEntry) -> list[str]:
    if not entry.has("document_tokens"):
        text = entry.fields.get("document_text")
        if not isinstance(text, str):
            raise entry.refused("document_text", "a text, or document_tokens")
        return text.split(" ")
    return [one.words("token", empty=True) for one in entry.objects("document_tokens")]


def _short(annotation: FileEntry, tokens: list[str]) -> Iterator[str]:
    said = annotation.words("yes_no_answer") if annotation.has("yes_no_answer") else "NONE"
    if said.upper() not in ("YES", "NO", "NONE"):
        raise annotation.refused("yes_no_answer", "YES, NO or NONE")
    if said.upper() != "NONE":
        yield said.lower()
    for one in annotation.objects("short_answers"):
        span = _span(one)
        words = _plain(tokens[slice(*span)]) if span else ""
        if words:
            yield one_line(words)


def _span(entry: FileEntry) -> tuple[int, ...]:
    """From and to which token; empty where nothing is marked (-1)."""
    found = [entry.fields.get(key) for key in ("start_token", "end_token")]
    for key, value in zip(("start_token", "end_token"), found, strict=True):
        if not isinstance(value, int) or isinstance(value, bool):
            raise entry.refused(key, "a whole number")
    start, end = (int(value or 0) for value in found)
    return (start, end) if 0 <= start < end else ()


def _plain(tokens: list[str]) -> str:
    """Words of tokens; an empty line where a paragraph, a heading, an item or a row begins or ends."""
    words = ("\n\n" if _BLOCK.match(one) else "" if _MARK.match(one) else one for one in tokens)
    return _SPACED.sub("", " ".join(filter(None, words))).strip()


def _title(entry: FileEntry) -> str:
    """Of the document: as it says, its main heading, or as its address says."""
    if entry.has("document_title"):
        return entry.words("document_title")
    head = _HEAD.search(entry.fields.get("document_text") or "")
    if head and one_line(_plain(head[1].split(" "))):
        return one_line(_plain(head[1].split(" ")))
    address = entry.words("document_url").replace("&amp;", "&")
    named: list[Any] = parse_qs(urlsplit(address).query).get("title", []) or [urlsplit(address).path.rpartition("/")[2]]
    if not named[0]:
        raise ParlourError(
            f"{entry.place}: document_url {address!r} names no document; accepted: document_title as well"
        )
    return one_line(named[0].replace("_", " "))
