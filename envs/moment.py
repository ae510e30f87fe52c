"""Who decides at the same moment: seats whose turns come one after another without their learning anything in between.

Secret votes, quest cards and actions of a night are such turns. They are found by looking ahead, with moves that stand for
whatever will be played. So are the seats that will hear nothing but players before their turn comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from parlour.envs.core import Game, Move


def moment(game: Game[Any], now: Any, move: Move | None = None) -> Iterator[tuple[int, Any]]:
    """The seats that decide now, in the order of their turns, each with the state in which it will be its turn.

    A seat belongs to the moment if it has seen the same events at its turn as now; the seat to move in `now` is the first.

    Args:
        game: The rules.
        now: A state; where no seat is to move, there is nobody.
        move: What is played by those who may in looking ahead; others, and all by default, play their first legal move.
    """
    passed: set[int] = set()
    state, seat = now, game.actor(now)
    while seat >= 0 and seat not in passed and game.view(state, seat).events == game.view(now, seat).events:
        passed.add(seat)
        yield seat, state
        legal = game.legal(state)
        state = game.apply(state, move if move in legal else legal[0])
        seat = game.actor(state)


def certain_moment(game: Game[Any], now: Any) -> list[tuple[int, Any]]:
    """As `moment`, up to the first turn that may not come, or not with the same View, as when all agree on another move.

    In the games of parlour every turn found comes, whatever is played (`tests/test_moment.py`).
    """
    found = list(moment(game, now))
    if len(found) < 2:
        return found
    for move in dict.fromkeys(move for _, state in found for move in game.legal(state)):
        pairs = zip(found, moment(game, now, move), strict=False)
        found = [one for one, _ in takewhile(lambda pair: _same(game, *pair), pairs)]
    return found


def before_moderator(game: Game[Any], now: Any) -> list[int]:
    """The seats that move before the moderator says anything, in the order of their next turns.

    Until then all they can learn is what players say and do. A seat is left out whose turn may not come, as when all agree on
    another move; in the games of parlour the others' turns come, whatever is played (`tests/test_moment.py`).
    """
    first = list(_until_told(game, now))
    found = list(dict.fromkeys(seat for seat, _ in first))
    for move in dict.fromkeys(move for _, state in first for move in game.legal(state)):
        coming = {seat for seat, _ in _until_told(game, now, move)}
        found = [seat for seat in found if seat in coming]
    return found


def _until_told(game: Game[Any], state: Any, move: Move | None = None) -> Iterator[tuple[int, Any]]:
    """The turns until the moderator speaks; `move` as in `moment`."""
    told = len(state.log)
    while (seat := game.actor(state)) >= 0 and all(event.seat >= 0 for event in state.log[told:]):
        yield seat, state
        legal = game.legal(state)
        state = game.apply(state, move if move in legal else legal[0])


def _same(game: Game[Any], one: tuple[int, Any], other: tuple[int, Any]) -> bool:
    return one[0] == other[0] and game.view(one[1], one[0]) == game.view(other[1], other[0])
