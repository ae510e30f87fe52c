"""Documents in a file or a folder: plain text, Markdown, or JSON (Lines) of `{title, text}`; and their sentences.

The title of a text is its file's name without the ending, that of a Markdown file its first heading. Lines of a paragraph are
joined; list items and `Field: value` lines are paragraphs of their own. A sentence ends at a stop, question or exclamation mark
before a capital letter, a digit or a quotation mark, unless the stop belongs to an initial or to a common abbreviation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError
from parlour.envs.language import english
from parlour.envs.mediated_qa.corpora.fields import LINES, FileEntry, entries, one_line, read_bytes
from parlour.envs.mediated_qa.corpus import Passage

PLAIN: Final = (".txt", ".md", ".markdown")
READ: Final = (*PLAIN, *LINES, ".json")
"""How the names of files end that are read in a folder; others, and hidden ones, are passed over."""
_HEADING: Final = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_ALONE: Final = re.compile(r"^\s*(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|[A-Z][\w-]{0,30}(?: [\w-]{1,20}){0,2}:(?:\s|$))")
_END: Final = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]*[A-Z0-9])")
_LAST_WORD: Final = re.compile(r"([\w.]+)\.$")
_ABBREVIATED: Final = frozenset(
    english.word_list(
        "mr mrs ms dr prof st jr sr vs etc e.g i.e cf al no nos vol pp fig eq sec ch ed eds rev inc ltd co corp dept univ "
        "jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k approx ca"
    )
)


def read_documents(path: Path) -> tuple[Passage, ...]:
    """The documents of a file, or of a folder and all folders in it, in the order of their paths.

    Raises:
        ParlourError: There are none, one cannot be read, or an entry is not as described; the message says which.
    """
    files = files_in(path)
    if not files:
        raise ParlourError(f"{str(path)!r} has no documents; accepted: files in {', '.join(READ)}")
    return tuple(text for file in files for text in _in_file(file))


def files_in(path: Path) -> list[Path]:
    """The files with documents at a path, in order.

    Raises:
        ParlourError: There is nothing at the path.
    """
    if not path.exists():
        raise ParlourError(f"{str(path)!r} is not there; accepted: a folder of documents, or a file of them")
    if path.is_file():
        return [path]
    files = (file for file in path.rglob("*") if file.is_file() and file.suffix.lower() in READ)
    return sorted(file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts))


def passage(title: str, text: str) -> Passage:
    """A document as an article; without sentences if its text has no words."""
    return Passage(one_line(title).replace(": ", " - "), sentences_of(text))


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences of a text that may be broken into lines.

    >>> sentences_of("Mr. A. Bell wrote it in 1912. Nobody knew.")
    ('Mr. A. Bell wrote it in 1912.', 'Nobody knew.')
    """
    return tuple(sentence for block in _blocks(text) for sentence in _cut(block))


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, list items, and lines that stand alone; each in one line."""
    block: list[str] = []
    for line in text.splitlines():
        alone = _ALONE.match(line)
        if alone or not line.strip():
            yield from _joined_lines(block)
            block = []
        if line.strip():
            block.append(line)
    yield from _joined_lines(block)


def _joined_lines(lines: list[str]) -> Iterator[str]:
    joined = one_line(" ".join(lines))
    text = re.sub(r"^(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+", "", joined)
    if any(map(str.isalnum, text)):
        yield text


def _cut(block: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(block):
        last = _LAST_WORD.search(block[start : end.start() + 1])
        if end[0] == "." and last and (len(last[1]) == 1 or last[1].lower() in _ABBREVIATED):
            continue
        yield block[start : end.end()].strip()
        start = end.end()
    if block[start:].strip():
        yield block[start:].strip()


def _in_file(path: Path) -> Iterator[Passage]:
    if path.suffix.lower() in PLAIN:
        text = read_bytes(path).decode("utf-8-sig")
        heading = _HEADING.search(text) if path.suffix.lower() != ".txt" else None
        named = heading[1] if heading and heading[1] else path.stem.replace("_", " ")
        yield passage(named, text)
        return
    for entry in entries(path):
        yield document(entry)


def document(entry: FileEntry) -> Passage:
    """A document of `{title, text}`; instead of the text there may be a list of sentences.

    Raises:
        ParlourError: A field is missing or of another type.
    """
    title = entry.words("title")
    if entry.has("sentences"):
        return Passage(title.replace(": ", " - "), entry.texts("sentences"))
    text = entry.fields.get("text")
    if not isinstance(text, str):
        raise entry.refused("text", "a text")
    return passage(title, text)
