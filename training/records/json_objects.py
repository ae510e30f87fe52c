"""A JSON object from outside, read field by field: what it lacks or says wrongly is refused with where it stands.

Used where records of others are brought in (`avalon.records`, `werewolf.published`). Every refusal is one line with the file's line, the place
within it, the value, the reason and what is accepted.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from parlour.envs.common.json_values import json_shown, json_value
from parlour.envs.core import ParlourError, listed
from parlour.policies.files import replacing

_KINDS: Final = (".jsonl", ".json")
FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_FILE_NAME: Final = "a name of up to 200 letters, digits and _ - . that begins with no dot"
_GZIP: Final = b"\x1f\x8b"

T = TypeVar("T")


class UnplayableError(ParlourError):
    """A record of a game that parlour does not play."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason
        """The same for all games of its kind."""


@dataclass(frozen=True)
class JsonObject:
    """A JSON object, with the words for where it stands."""

    where: str
    fields: Mapping[str, Any]

    def error(self, reason: str, accepted: object) -> ParlourError:
        """The refusal of this object."""
        return ParlourError(f"{self.where}: {reason}; accepted: {listed(accepted)}")

    def unplayable(self, reason: str, accepted: object) -> UnplayableError:
        """The refusal of a game that parlour does not play; the reason is the same for all games of its kind."""
        return UnplayableError(str(self.error(reason, accepted)), reason)

    def refused(self, key: str, accepted: object, why: str = "") -> ParlourError:
        """The refusal of a field that is there."""
        because = f" ({why})" if why else ""
        return self.error(f"{key} {json_shown(self.fields[key])} is not accepted{because}", accepted)

    def of(self, kind: type[T], key: str, accepted: object) -> T:
        """A field of exactly this type: true is no number."""
        if key not in self.fields:
            raise self.error(f"{key} is missing", accepted)
        value = self.fields[key]
        if type(value) is not kind:
            raise self.refused(key, accepted)
        return value

    def file_name(self, key: str) -> str:
        """A field that names a game as a file may be called. Raises `ParlourError` for any other."""
        name = self.of(str, key, _FILE_NAME)
        if not FILE_NAME.fullmatch(name):
            raise self.refused(key, _FILE_NAME)
        return name

    def one_of(self, key: str, accepted: Collection[T], why: str = "") -> T:
        """A field that holds one of these values, which are all of one type."""
        kind = type(next(iter(accepted)))
        value = self.of(kind, key, accepted)
        if value not in accepted:
            raise self.refused(key, accepted, why)
        return value

    def some_of(self, key: str, among: range, sizes: range) -> list[int]:
        """A field that holds a list, so long, of different numbers from `among`."""
        many = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        accepted = f"a list of {many} different numbers of {listed(among)}"
        values = self.of(list, key, accepted)
        fit = all(type(value) is int and value in among for value in values)
        if not fit or len(values) not in sizes or len(set(values)) != len(values):
            raise self.refused(key, accepted)
        return values

    def texts(self, key: str) -> list[str]:
        """A field that holds a list of texts."""
        values = self.of(list, key, "a list of texts")
        if any(type(value) is not str for value in values):
            raise self.refused(key, "a list of texts")
        return values

    def record(self, key: str, accepted: object = "an object") -> JsonObject:
        """A field that holds an object."""
        return JsonObject(f"{self.where}, {key}", self.of(dict, key, accepted))

    def records(self, key: str, what: str) -> list[JsonObject]:
        """A field that holds a list of objects and is not empty; `what` is what each of them is called."""
        accepted = f"a list with an object for each {what}, at least one"
        values = self.of(list, key, accepted)
        if not values or any(type(value) is not dict for value in values):
            raise self.refused(key, accepted)
        return [JsonObject(f"{self.where}, {what} {number}", value) for number, value in enumerate(values, 1)]

    def entries(self, key: str, names: Collection[str]) -> JsonObject:
        """A field that holds an object with these names and no others."""
        accepted = f"an object with {listed(names)} and no other names"
        record = self.record(key, accepted)
        if set(record.fields) != set(names):
            raise self.refused(key, accepted)
        return record

    def expect(self, key: str, wanted: object, why: str) -> None:
        """Refuse the field unless it holds exactly this."""
        if key not in self.fields:
            raise self.error(f"{key} is missing", json_shown(wanted))
        if _plain(self.fields[key]) != _plain(wanted):
            raise self.refused(key, json_shown(wanted), why)


def parse(where: str, line: bytes) -> JsonObject:
    """Read a line that holds a JSON object. Raises `ParlourError` if it does not, or names a field twice."""
    return _object(where, _value(where, line, "a JSON object"))


def _value(where: str, text: bytes, accepted: str) -> Any:
    try:
        return json_value(text, _once, finite=False)
    except ValueError as error:
        raise ParlourError(f"{where} cannot be read ({error}); accepted: {accepted} in UTF-8") from None


def _object(where: str, value: Any) -> JsonObject:
    if type(value) is not dict:
        raise ParlourError(f"{where}: {json_shown(value)} is not accepted; accepted: a JSON object")
    return JsonObject(where, value)


def read_lines(path: str | Path) -> Iterator[JsonObject]:
    """The objects of a file with one a line; empty lines are passed over. Raises `ParlourError` as `parse`."""
    for number, line in enumerate(_content(path).split(b"\n"), 1):
        if line.strip():
            yield parse(f"{str(path)!r} line {number}", line)


def read_records(path: str | Path) -> Iterator[JsonObject]:
    """The objects of a file, or of the files of a folder in the order of their names.

    A file has one object a line. A `*.json` file, and a file without a name of its kind that has more than one line, is one
    object or a list of them. Each may be compressed (`.gz`). In a folder the `*.jsonl` files are read, or if there are none
    the `*.json` files, or if there are none all files that begin with `{`.

    Raises:
        ParlourError: As `parse`; or a file cannot be read, or the folder has none.
    """
    for file in _files(Path(path)):
        yield from _listed(file) if _is_one_value(file) else read_lines(file)


def _content(path: str | Path) -> bytes:
    try:
        content = Path(path).read_bytes()
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except OSError as error:
        raise ParlourError(f"file {str(path)!r} cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error) as error:
        raise ParlourError(f"file {str(path)!r} cannot be read: {error}") from None


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    for kind in _KINDS:
        if chosen := [file for file in files if file.name.removesuffix(".gz").endswith(kind)]:
            return chosen
    if chosen := [file for file in files if _content(file).lstrip()[:1] == b"{"]:
        return chosen
    raise ParlourError(
        f"folder {str(path)!r} holds no records; accepted: a folder with *.jsonl, *.json or other files with JSON objects"
    )


def _is_one_value(file: Path) -> bool:
    """Whether a file is one JSON value and not an object a line."""
    name = file.name.removesuffix(".gz")
    if name.endswith(_KINDS):
        return name.endswith(".json")
    try:
        json_value(_content(file).lstrip().partition(b"\n")[0])
    except ValueError:
        return True
    return False


def _listed(file: Path) -> Iterator[JsonObject]:
    where = repr(str(file))
    value = _value(where, _content(file), "JSON")
    if type(value) is list:
        yield from (_object(f"{where} record {number}", record) for number, record in enumerate(value, 1))
    else:
        yield _object(where, value)


def named_games(
    path: str | Path,
    records: Iterable[JsonObject],
    key: str,
    name: Callable[[JsonObject], str],
    other: Callable[[JsonObject], str | None] = lambda at: None,
) -> Iterator[tuple[str, JsonObject]]:
    """The games of a file or folder, by name; `name` reads it from the record, mostly from the field `key`.

    `other` is what a game is called whose name an earlier one has, if it has another.

    Raises:
        ParlourError: As `read_records` or `name`; or there is no game, or two have the same name.
    """
    taken: set[str] = set()
    for at in records:
        game = name(at)
        if game.casefold() in taken:
            game = other(at) or game
        # names that differ in case only are one file on some systems
        if game.casefold() in taken:
            raise at.error(
                f"{key} {json_shown(game)} is not accepted (an earlier line has it)", "a name of its own for each game"
            )
        taken.add(game.casefold())
        yield game, JsonObject(f"{at.where}, game {game}", at.fields)
    if not taken:
        raise ParlourError(f"file {str(path)!r} holds no game; accepted: one game a line, as JSON")


Hold = Callable[[Path], AbstractContextManager[object]]
"""Holds a folder while files are written to it, such as `parlour.training.runs.folder.locked_directory`."""


def write_games(out_dir: str | Path, texts: Mapping[str, str], hold: Hold) -> list[Path]:
    """`write_all` of the texts of games: `<out_dir>/<name>.jsonl` for each."""
    folder = Path(out_dir)
    return write_all(folder, {folder / f"{name}.jsonl": text.encode() for name, text in texts.items()}, hold)


def write_all(folder: Path, texts: Mapping[Path, bytes], hold: Hold) -> list[Path]:
    """Write all files of a folder, or none; an existing identical file is left alone.

    Raises:
        ParlourError: Another file is in the way, or the folder cannot be written to.
    """
    try:
        new = {target: text for target, text in texts.items() if not _there(target, text)}
        folder.mkdir(parents=True, exist_ok=True)
        with hold(folder), ExitStack() as places:  # all under other names first, then each in its place
            for target, text in new.items():
                places.enter_context(replacing(target)).write_bytes(text)
    except OSError as error:
        raise ParlourError(f"folder {str(folder)!r} cannot be written to: {error.strerror}") from None
    return list(texts)


def _there(target: Path, text: bytes) -> bool:
    if not target.exists():
        return False
    if target.read_bytes() != text:
        raise ParlourError(f"{str(target)!r} exists and is another game; accepted: a folder without it")
    return True


def _plain(value: object) -> str:
    """JSON in which equal values are equal, true differs from 1, and 1 from 1.0."""
    return json.dumps(value, sort_keys=True)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{max(names, key=names.count)!r} stands twice in one object")
    return fields
