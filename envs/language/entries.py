"""Reports about a game in progress, and moves read from words: shared by environments, wrappers and records."""

from __future__ import annotations

from typing import Any, NamedTuple

from parlour.envs.core import NATURE, Game, Move


class Entry(NamedTuple):
    """One line of the history of a game: a move with what came with it, or words that were no move."""

    seat: int
    move: Move | None
    """None for words that could not be used and for a forfeit."""
    to: tuple[int, ...] | None
    """The seats that saw it at once; None for everybody."""
    raw: str | None = None
    """The words as they came in, where the move was given in words."""
    fault: str = ""
    """Empty, or why the words could not be used: `unreadable`, `ambiguous`, `illegal`, `forfeit`."""
    replaced: str = ""
    """Empty, or which move was made instead of words that could not be used: `default`, `random`; `clock`: the `default`, because
    a person's time was over."""


class TextAction(NamedTuple):
    """A move that was read from words, as an action: wrappers pass it on like any other."""

    move: Move
    raw: str | None
    """The words; None if the move was made in their place."""
    replaced: str = ""
    """As in `Entry`."""


def entry_of(game: Game[Any], before: Any, after: Any, move: Move, raw: str | None, replaced: str) -> Entry:
    """The entry of a move that led from the state `before` to `after`: who made it and who saw it."""
    seat = game.actor(before)
    hearers = [event.to for event in after.log[len(before.log) :] if event.seat == seat and event.move == move]
    hidden = () if seat == NATURE else (seat,)
    return Entry(seat, move, hearers[0] if hearers else hidden, raw, replaced=replaced)
