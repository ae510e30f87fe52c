"""Questions and documents in a file: JSON or JSON Lines, read field by field.

Whatever is refused is refused in one line with the file, the line, the place within it and the field. The line of a value in
a JSON file is looked for only then, so that reading large files costs nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final

from parlour.envs.common.extras import not_installed
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, listed, value_shown

LINES: Final = (".jsonl", ".ndjson")
"""How the names of files end that hold one value a line."""
_SHEETS: Final = (".csv", ".ods", ".tsv", ".xls", ".xlsx")
"""How the names of spreadsheets end, which are not read."""
_SAVED: Final = ("state.json", "dataset_dict.json")
"""Files in a folder that `datasets` saved: for one data set, for several splits."""
_SPLITS: Final = ("validation", "dev", "test", "train")
"""The first of these splits that exists is read."""
_NOTHING: Final = " \t\r\n"


@dataclass(frozen=True)
class Place:
    """Position of a value in a file."""

    path: Path
    keys: tuple[str | int, ...] = ()
    """From the value of the file, or of the line, inwards."""
    line: int = 0
    """From 1; 0 if the file is one JSON value, whose line is searched."""
    unit: str = "line"
    """What is counted: lines, or rows of a table."""

    def __str__(self) -> str:
        line = self.line or _line_of(self.path.read_text("utf-8-sig"), self.keys)
        inner = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).lstrip(".")
        return f"{str(self.path)!r} {self.unit} {line}" + (f", {inner}" if inner else "")

    def within(self, *keys: str | int) -> Place:
        """A value further inside."""
        return Place(self.path, (*self.keys, *keys), self.line, self.unit)


@dataclass(frozen=True)
class FileEntry:
    """A JSON object, and where it stands."""

    place: Place
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, place: Place, value: Any) -> FileEntry:
        """The object at a place.

        Raises:
            ParlourError: The value is not a JSON object.
        """
        if not isinstance(value, dict):
            raise ParlourError(f"{place}: {value_shown(value)} is not accepted; accepted: a JSON object")
        return cls(place, value)

    def refused(self, key: str, accepted: object) -> ParlourError:
        """The error for a field that is missing or holds something else."""
        fault = f"{value_shown(self.fields[key])} is not accepted" if key in self.fields else "is missing"
        return ParlourError(f"{self.place}: {key} {fault}; accepted: {listed(accepted)}")

    def has(self, key: str) -> bool:
        """Whether a field is there and not null."""
        return self.fields.get(key) is not None

    def _value(self, key: str, fits: Any, accepted: str, default: Any = None) -> Any:
        """A field of a type; true and false are no numbers."""
        value = self.fields.get(key, default)
        if not isinstance(value, fits) or isinstance(value, bool):
            raise self.refused(key, accepted)
        return value

    def words(self, key: str, *, empty: bool = False) -> str:
        """A field of words, in one line with single spaces; with `empty` it may hold none."""
        accepted = "a text" if empty else "words"
        value: str = self._value(key, str, accepted)
        if not (empty or value.strip()):
            raise self.refused(key, accepted)
        return one_line(value)

    def items(self, key: str, accepted: str = "a list") -> list[Any]:
        """A field that is a list."""
        value: list[Any] = self._value(key, list, accepted)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A field that is a list of texts; those without words are left out."""
        values = self.items(key, "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise self.refused(key, "a list of texts")
        return tuple(filter(None, map(one_line, values)))

    def answers(self, key: str) -> tuple[str, ...]:
        """A field that is an answer or a list of answers, each words or a number."""
        value = self.fields.get(key)
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str | int | float) and not isinstance(each, bool) for each in values):
            raise self.refused(key, "words or a number, or a list of them")
        return tuple(filter(None, (one_line(str(each)) for each in values)))

    def identity(self, key: str) -> str:
        """A field that names the entry, words or a whole number; empty if it is not there."""
        return one_line(str(self._value(key, str | int, "words, or a whole number", "")))


def entries(path: Path, limit: int | None = None) -> Iterator[FileEntry]:
    """The objects of a JSON Lines file, of a JSON file that is a list of them, or the rows of a table; the first `limit`.

    Raises:
        ParlourError: The file cannot be read, or is something else; the message says where.
    """
    if path.suffix.lower() in _SHEETS:
        raise ParlourError(
            f"{str(path)!r} is no file of JSON; accepted: a JSON object a line in .jsonl or .ndjson, a JSON list in .json, or .parquet"
        )
    if is_table(path):
        yield from islice(_rows(path), limit)
    elif path.suffix.lower() in LINES:
        yield from islice(_by_line(path), limit)
    else:
        values = whole(path)
        if not isinstance(values, list):
            raise ParlourError(
                f"{str(path)!r} is not a list of questions; accepted: a JSON list, or a file of lines in .jsonl"
            )
        for number, value in enumerate(values[:limit]):
            yield FileEntry.of(Place(path, (number,)), value)


def whole(path: Path) -> Any:
    """The value of a JSON file.

    Raises:
        ParlourError: The file cannot be read, or is not JSON.
    """
    return _parsed(path, read_bytes(path))


def _parsed(path: Path, content: str | bytes, number: int = 0) -> Any:
    """The value of a file or of one of its lines."""
    try:
        return json_value(content)
    except ValueError as error:
        line, why = number, str(error)
        if isinstance(error, json.JSONDecodeError):
            line, why = number or error.lineno, error.msg
        raise ParlourError(f"{str(path)!r}{f' line {line}' if line else ''} is not JSON: {why}") from None


def read_bytes(path: Path) -> bytes:
    """What a file holds.

    Raises:
        ParlourError: It cannot be read, or is not UTF-8; the message names the line.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParlourError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParlourError(f"{str(path)!r} line {line} is not UTF-8; accepted: a text in UTF-8") from None
    return content


def one_line(text: str) -> str:
    """Words with single spaces between them, that UTF-8 can write. The sign that parts pieces of evidence is taken out."""
    written = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8").replace("¶", " ")
    return " ".join(written.split())


def _by_line(path: Path) -> Iterator[FileEntry]:
    for number, line in enumerate(read_bytes(path).decode("utf-8-sig").split("\n"), 1):
        if line.strip():
            yield FileEntry.of(Place(path, (), number), _parsed(path, line, number))


def is_table(path: Path) -> bool:
    """Whether a path is what the library `datasets` reads: a Parquet file, or a folder that it saved."""
    return path.suffix.lower() == ".parquet" or any((path / name).is_file() for name in _SAVED)


def _rows(path: Path) -> Iterator[FileEntry]:
    try:
        library = import_module("datasets")
    except ModuleNotFoundError:
        raise not_installed("datasets", "corpora") from None
    try:
        rows = library.Dataset.from_parquet(str(path)) if path.is_file() else library.load_from_disk(str(path))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ParlourError(f"{str(path)!r} cannot be read as a data set: {' '.join(str(error).split())}") from None
    if isinstance(rows, dict):  # of splits
        rows = rows[next((name for name in _SPLITS if name in rows), sorted(rows)[0])]
    for number, row in enumerate(rows, 1):
        yield FileEntry.of(Place(path, (), number, "row"), row)


def _line_of(text: str, keys: tuple[str | int, ...]) -> int:
    """The line on which a value begins; 1 if it is not found."""
    at = _skipped(text, 0)
    for key in keys:
        inner = _starts(text, at)
        at = inner.get(key, at)
    return text.count("\n", 0, at) + 1


def _starts(text: str, at: int) -> dict[str | int, int]:
    """Where the values of the object or list begin that stands at a place of a JSON text."""
    starts: dict[str | int, int] = {}
    decode, is_object = json.JSONDecoder().raw_decode, text[at] == "{"
    at = _skipped(text, at + 1)
    while text[at] not in "]}":
        key: str | int = len(starts)
        if is_object:
            key, at = decode(text, at)
            at = _skipped(text, at)
        starts[key] = at
        at = _skipped(text, decode(text, at)[1])
    return starts


def _skipped(text: str, at: int) -> int:
    """The next place with something else than spaces, commas and colons."""
    while text[at] in _NOTHING + ",:":
        at += 1
    return at
