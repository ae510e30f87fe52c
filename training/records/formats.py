"""What a format of records is: how it is told, how a game is named, how one becomes a transcript."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from parlour.training.records.json_objects import JsonObject

FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
_ACCEPTED: Final = "a name of up to 200 letters, digits and _ - . that begins with no dot"


@dataclass(frozen=True, kw_only=True)
class RecordFormat:
    """One form in which games are recorded."""

    name: str
    fields: tuple[str, ...]
    """A record is of this format if it has all of these."""
    key: str
    """The field that names a game."""
    named: Callable[[JsonObject], str]
    """The name of a game, as a file may be called."""
    transcript: Callable[[JsonObject, Path | None], str]
    """What is written of a game, mostly its transcript; the second argument is the folder with the logs of the games, if
    one is named."""
    logs: bool = False
    """Whether what was said stands in logs of their own."""
    other: Callable[[JsonObject], str | None] = lambda at: None
    """What a game is called whose name an earlier one has, if it has another."""
    prefix: str = ""
    """Of the names of files."""


def file_name(at: JsonObject, key: str) -> str:
    """A field that names a game as a file may be called. Raises `ParlourError` for any other."""
    name = at.of(str, key, _ACCEPTED)
    if not FILE_NAME.fullmatch(name):
        raise at.refused(key, _ACCEPTED)
    return name


def record_notes(form: str, at: JsonObject, game_id: str | None, names: Sequence[str]) -> dict[str, Any]:
    """What the header of an imported record tells of it: where it is from, and who sat where.

    `memory` is whether players remembered earlier games; a format adds what else it knows.
    """
    told = {"format": form, "source": at.fields.get("source"), "game_id": game_id}
    return told | {"model": None, "reasoning_effort": None, "memory": False, "names": list(names)}
