"""Results and records as plain values, for JSON: one function for every dataclass and named tuple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any


def plain(value: Any, *, sparse: bool = False) -> Any:
    """A value as plain values: what has an `as_json` by that, other dataclasses and named tuples by their fields.

    >>> from parlour.envs.core import Move
    >>> plain({"moves": (Move("vote", (1,)),)})
    {'moves': [{'kind': 'vote', 'args': [1], 'words': ''}]}

    Args:
        value: The value.
        sparse: Whether fields of dataclasses that have their default are left out.
    """
    if hasattr(value, "as_json"):
        return value.as_json()
    if is_dataclass(value):
        return fields_of(value, sparse=sparse)
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: plain(part, sparse=sparse) for key, part in value.items()}
    return [plain(part, sparse=sparse) for part in value] if isinstance(value, list | tuple) else value


def fields_of(value: Any, *, sparse: bool = False) -> dict[str, Any]:
    """The fields of a dataclass as plain values, whether or not it has an `as_json`; arguments as of `plain`."""
    return {name: plain(part, sparse=sparse) for name, part in _named(value, sparse=sparse)}


def _named(value: Any, *, sparse: bool) -> Iterator[tuple[str, Any]]:
    for entry in fields(value):
        part = getattr(value, entry.name)
        default = entry.default if entry.default_factory is MISSING else entry.default_factory()
        if not sparse or part != default or isinstance(part, bool) is not isinstance(default, bool):
            yield entry.name, part
