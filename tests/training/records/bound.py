"""A record with one field changed."""

from __future__ import annotations

from typing import Any

Way = tuple[Any, ...]
GONE = object()
"""In place of a value: the field is taken away."""


def changed(game, way, value):
    """The record with one field changed; what is not on the way to it is shared."""
    step, *further = way
    if further:
        value = changed(game[step], tuple(further), value)
    if isinstance(game, list):
        return [*game[:step], value, *game[step + 1 :]]
    return {key: part for key, part in {**game, step: value}.items() if part is not GONE}
