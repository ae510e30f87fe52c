"""Rows of WellPlay's question files, as they were published: what is irregular is put right where it can be, and listed.

The files are CSV with the header `value,type,question,a,b,c,d,e,truth`: value a, b, c = 10, 5, 2 points; type a, b =
single choice, two picks; truth = one letter, in a few rows two, misplaced or missing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from parlour.envs.core import ParlourError, accept
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS, QuestionKind, QuizQuestion

HEADER: Final = ("value", "type", "question", *LETTERS, "truth")
_POINTS: Final[dict[str, Literal[10, 5, 2]]] = {"a": 10, "b": 5, "c": 2}
_PICKS: Final[dict[str, Literal[1, 2]]] = {"a": 1, "b": 2}


class Irregularity(NamedTuple):
    """A fault or contradiction in a folder."""

    lang: str
    slug: str
    file: str | None
    """Path from the root of the collection; None: it concerns the whole script."""
    line: int | None
    """Physical line of a CSV, the header being 1."""
    kind: str
    detail: str
    handled: str
    """What the loader does about it."""


class Row(NamedTuple):
    """One question as it is used."""

    line: int
    value: str
    type: str
    text: str
    options: tuple[str, ...]
    keys: tuple[int, ...]

    @property
    def key(self) -> str:
        """The first option that counts as right."""
        return self.options[self.keys[0]]

    @property
    def content(self) -> tuple[object, ...]:
        """All but the line, to compare rows of different files."""
        return self[1:]


@dataclass(frozen=True)
class Source:
    """Where a file belongs, and what is irregular in it."""

    lang: str
    slug: str
    file: str | None
    irregular: list[Irregularity] = field(default_factory=list)

    def report(self, line: int | None, kind: str, detail: str, handled: str) -> Irregularity:
        """Note an irregularity in this file."""
        self.irregular.append(Irregularity(self.lang, self.slug, self.file, line, kind, detail, handled))
        return self.irregular[-1]


def read_rows(path: Path, source: Source) -> list[Row]:
    """The rows of a question file. Rows without any key are left out; what is irregular is reported to the source.

    Raises:
        ParlourError: The file cannot be read, or its header or a row's value or type is not WellPlay's.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ParlourError(f"{source.file} cannot be read: {error}") from None
    reader = csv.reader(io.StringIO(text))
    header = tuple(cell.strip() for cell in next(reader, ()))
    if header[: len(HEADER)] != HEADER:
        raise ParlourError(f"{source.file}: the header is {','.join(header)!r}; accepted: {','.join(HEADER)}")
    rows: list[Row | None] = []
    line = reader.line_num + 1
    for cells in reader:
        rows.append(_row([cell.strip() for cell in cells], line, source))
        line = reader.line_num + 1
    return [row for row in rows if row is not None]


def _row(cells: list[str], line: int, source: Source) -> Row | None:
    if not any(cells):
        source.report(line, "blank_line", "an empty line", "passed over")
        return None
    fields = len(cells)
    cells, surplus = [*cells, *[""] * len(HEADER)][: len(HEADER)], cells[len(HEADER) :]
    value, choice, text, *options, truth = cells
    value, choice = value.lower(), choice.lower()
    if value not in _POINTS:
        raise accept(f"{source.file}, line {line}: value", value, list(_POINTS))
    if choice not in _PICKS:
        raise accept(f"{source.file}, line {line}: type", choice, list(_PICKS))
    if any(surplus):
        raise ParlourError(f"{source.file}, line {line}: {fields} fields; accepted: {len(HEADER)}")
    if surplus:
        source.report(line, "field_count", f"{fields} fields", "the empty ones at the end are dropped")
    if not truth and re.fullmatch("[a-eA-E]", options[-1]) and any(options[:-1]):
        truth, options[-1] = options[-1], ""
        short = fields < len(HEADER)
        detail = f"{fields} fields: the key {truth!r} stands in column e" if short else "the key stands in column e"
        source.report(line, "field_count_key_shift" if short else "key_shift", detail, "read from there")
        if re.match(r"(?:Is|Are|Was|Were|Do|Does|Did)\b|.*吗[?？]?$", text):
            detail = "a misplaced key of a yes-or-no question, which may be wrong"
            source.report(line, "key_doubtful", detail, "kept as published")
    elif fields < len(HEADER):
        source.report(line, "field_count", f"{fields} fields", "filled with empty ones")
    places = [k for k, cell in enumerate(options) if cell]
    row = Row(line, value, choice, text, tuple(options[k] for k in places), ())
    keys = _keys(row, truth, [LETTERS[k] for k in places], source)
    if keys and not text:
        source.report(line, "empty_question", "no text", "taken from a row with the same options, if any")
    return row._replace(keys=keys) if keys else None


def _keys(row: Row, truth: str, columns: list[str], source: Source) -> tuple[int, ...]:
    """The options that count as right: those of the letters, and what is the same as one of them; none for a row to leave out."""
    letters = [letter for letter in truth.lower() if letter in LETTERS]
    keys = {columns.index(letter) for letter in letters if letter in columns}
    if not keys or len(row.options) < 2:
        source.report(row.line, "missing_key", f"{len(row.options)} options, key {truth!r}", "the row is left out")
        return ()
    if len(letters) > 1 and row.type == "a":
        handled = "either letter is right" if len(keys) > 1 else "taken once"
        source.report(row.line, "multi_letter_key_on_single_choice", f"key {truth!r}", handled)
    for option in dict.fromkeys(row.options):
        group = [k for k, other in enumerate(row.options) if other == option]
        if len(group) > 1:
            detail = f"options {', '.join(columns[k] for k in group)} are the same"
            if keys.isdisjoint(group):
                source.report(row.line, "duplicate_option_distractor", detail, "kept; all of them are wrong")
            else:
                keys.update(group)
                source.report(
                    row.line, "duplicate_option_key", f"{detail}, one of them the key", "all of them are right"
                )
    return tuple(sorted(keys))


_DIED: Final = r"\b.*\b(?:die|died|killed|murdered)\b"
# The first pattern that fits decides; those of reasoning questions are tried only on rows of 5 points.
_KINDS: Final[dict[QuestionKind, str]] = {
    "suspect": r"\bmost suspect\b|最怀疑",
    "why": r"\bmotiv|动机",
    "relationship": r"(?:perpetrator|murderer|killer) (?:is|of) the victim|(?:凶手|杀人者)是(?:被害人|受害者|死者)",
    "how": r"^How\b.*\b(?:die|dies|died|killed|murdered)\b|怎么(?:样)?死|如何(?:死|被杀|遇害)|死因|死法",
    "where": rf"^Where{_DIED}|(?:在|于)?(?:哪里|哪儿|何处|什么地方)(?:被|遇害|死)|死在(?:哪|何处)",
    "when": rf"^When{_DIED}|(?:何时|什么时候|什么时间|几点)(?:被|遇害|死)|死于(?:何时|什么时)",
}
_NO_SUCH: Final = re.compile(r"non-?\s?existent|does not exist|not exist|不存在", re.IGNORECASE)
_TWO: Final = re.compile(r"\bis\b.*\band\b.*\bof\b|是.+[和与及].+", re.IGNORECASE)


def kind_of(row: Row) -> QuestionKind:
    """What a row asks for."""
    if row.value == "a":
        return "who"
    if row.value == "c":
        if _NO_SUCH.search(row.text):
            return "three_relations"
        return "two_relations" if all(_TWO.search(option) for option in row.options) else "one_relation"
    return next((kind for kind, words in _KINDS.items() if re.search(words, row.text, re.IGNORECASE)), "individual")


def question(row: Row, name: str, victim: int | None, text: str) -> QuizQuestion:
    """A row as a question of a case."""
    return QuizQuestion(
        id=name,
        points=_POINTS[row.value],
        kind=kind_of(row),
        pick=_PICKS[row.type],
        victim=victim,
        text=text,
        options=row.options,
        keys=row.keys,
    )


def fixed_keys(rows: Iterable[Row]) -> bool:
    """Whether the position of the key gives relation rows away: all rows of a kind have it in one place."""
    places: dict[bool, set[tuple[int, ...]]] = {}
    for row in rows:
        if row.value == "c":
            places.setdefault(kind_of(row) == "three_relations", set()).add(row.keys)
    return bool(places) and all(len(keys) == 1 for keys in places.values())
