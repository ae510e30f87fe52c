"""A seat's information set as one line: all that its View holds and the actions it has taken itself.

Two moments have the same line exactly if the seat cannot tell them apart: the line is a function of the View (which
remembers every event) and of the seat's own action numbers (which an event may show only later, such as a secret vote).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from parlour.envs.core import Event, Move, View

_APART = ("seat", "legal", "events")


def infoset(view: View, own: Sequence[int]) -> str:
    """The line.

    Args:
        view: What the seat may know, a named tuple; see `parlour.envs.core.View`.
        own: The numbers of the actions that it has taken in this game, oldest first.
    """
    fields: dict[str, Any] = view._asdict()  # type: ignore[attr-defined]  # see above: a named tuple
    known = tuple([value for name, value in fields.items() if name not in _APART])
    events = " ".join([_event(event) for event in view.events])
    return f"{view.seat} {known!r} | {events} | {','.join(map(str, own))} | {_options(view.legal)}"


@lru_cache(maxsize=20_000)
def _event(event: Event) -> str:
    seen = "" if event.to is None else f">{','.join(map(str, event.to))}"
    return f"{event.seat}:{_move(event.move)}{seen}"


@lru_cache(maxsize=20_000)
def _options(legal: tuple[Move, ...]) -> str:
    return " ".join(map(_move, legal))


def _move(move: Move) -> str:
    return f"{move.kind}({','.join(map(str, move.args))}{f';{move.words!r}' if move.words else ''})"
