"""Texts by language: the files `data/<language>.toml` of a package, checked by a schema when they are read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any, Final, TypeVar

from parlour.envs.core import ParlourError, accept
from pydantic import BaseModel, ConfigDict, ValidationError

REFERENCE: Final = "en"
"""All languages have the keys of this one."""


class LanguageTable(BaseModel):
    """A table of texts: frozen, and without other keys than its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


T = TypeVar("T", bound=LanguageTable)


def languages(package: str) -> tuple[str, ...]:
    """The languages of a package, by the names of its files."""
    names = (entry.name for entry in (files(package) / "data").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def read_language(package: str, language: str, schema: type[T]) -> T:
    """The texts of a package in a language.

    Raises:
        ParlourError: There is no file of the language, or it is not complete.
    """
    if language not in (accepted := languages(package)):
        raise accept("language", language, accepted)
    file = files(package) / "data" / f"{language}.toml"
    return checked(file.read_text("utf-8"), file.name, schema)


def checked(source: str, name: str, schema: type[T]) -> T:
    """Texts from the content of a file. Raises `ParlourError`, in one line, with the place of the fault."""
    try:
        return schema.model_validate(tomllib.loads(source))
    except tomllib.TOMLDecodeError as error:
        raise ParlourError(f"{name} is not TOML: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise ParlourError(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def compare(texts: T, reference: T, name: str, counted: Sequence[str] = ()) -> T:
    """The texts themselves, if they have the keys of the reference, and lists as long as its in the tables `counted`.

    Raises:
        ParlourError: An entry is missing or superfluous.
    """
    own, expected = (set(_entries(table.model_dump(), counted)) for table in (texts, reference))
    for entries, fault in ((expected - own, "is missing"), (own - expected, f"is not in {REFERENCE}.toml")):
        if entries:
            raise ParlourError(f"{name}: {min(entries)} {fault}")
    return texts


def _entries(value: Any, counted: Sequence[str], name: str = "") -> Iterator[str]:
    """Names of all entries: keys of tables, and the numbers of counted lists."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _entries(part, counted, f"{name}.{key}" if name else str(key))
    elif isinstance(value, tuple) and name.split(".")[0] in counted:
        for number, part in enumerate(value):
            yield from _entries(part, counted, f"{name}.{number}")
    else:
        yield name
