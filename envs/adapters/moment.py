"""Who decides at the same moment: seats whose turns come one after another without their learning anything in between.

Secret votes, quest cards and actions of a night are such turns. They are found by looking ahead, with moves that stand for
whatever will be played. So are the seats that will hear nothing but players before their turn comes.

A phase with hidden turns, such as a night, always lasts equally long: a seat that counts cycles must not learn how many others
act unseen. So a game that has such phases says in two methods, each a function of a View, how
they go in the parallel form (`parlour.envs.adapters.parallel`); its rules and its AEC form stay as they are:

    hidden_cycles(view) -> int
        How many cycles the phase lasts that the View is in; 0 if all see each turn. The same for all seats, so it rests on
        what everybody sees: the table and the public record.
    asked(view, cycle) -> tuple[Move, ...]
        What the seat may choose from in a cycle of the phase, counted from 0; empty if it waits. `legal` of its turn, whose
        time may come later in the phase, or never: a seer who is killed before his turn is asked like any other.

A seat is shown the phase's private news when it is asked, and else at the end of the phase, as a seat is that looks at the
table only at its own turns. What it gets and when is thus a function of its Views.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import Any

from parlour.envs.core import Game, Move, ParlourError, View


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

    In the games of parlour every turn found comes, whatever is played (`tests/envs/adapters/test_moment.py`).
    """
    turns = list(moment(game, now))
    if len(turns) < 2:
        return turns
    for move in dict.fromkeys(move for _, state in turns for move in game.legal(state)):
        pairs = zip(turns, moment(game, now, move), strict=False)
        turns = [turn for turn, _ in takewhile(lambda pair: _same(game, *pair), pairs)]
    return turns


def before_moderator(game: Game[Any], now: Any) -> list[int]:
    """The seats that move before the moderator says anything, in the order of their next turns.

    Until then all they can learn is what players say and do. A seat is left out whose turn may not come, as when all agree on
    another move; in the games of parlour the others' turns come, whatever is played (`tests/envs/adapters/test_moment.py`).
    """
    first = list(_until_moderator(game, now))
    seats = list(dict.fromkeys(seat for seat, _ in first))
    for move in dict.fromkeys(move for _, state in first for move in game.legal(state)):
        coming = {seat for seat, _ in _until_moderator(game, now, move)}
        seats = [seat for seat in seats if seat in coming]
    return seats


def _until_moderator(game: Game[Any], state: Any, move: Move | None = None) -> Iterator[tuple[int, Any]]:
    """The turns until the moderator speaks; `move` as in `moment`."""
    begin = len(state.log)
    while (seat := game.actor(state)) >= 0 and all(event.seat >= 0 for event in state.log[begin:]):
        yield seat, state
        legal = game.legal(state)
        state = game.apply(state, move if move in legal else legal[0])


def _same(game: Game[Any], turn: tuple[int, Any], other: tuple[int, Any]) -> bool:
    return turn[0] == other[0] and game.view(turn[1], turn[0]) == game.view(other[1], other[0])


def hidden_cycles(game: Game[Any], state: Any) -> int:
    """How many cycles the hidden phase of `state` lasts; 0 if it is in none, and in games that have none."""
    return game.hidden_cycles(game.view(state, 0))


class HiddenPhase:
    """One such phase, from the state in which it begins.

    Args:
        game: A game with `hidden_cycles` and `asked`.
        state: The first state of the phase.
        cycles: How many it lasts.
    """

    def __init__(self, game: Game[Any], state: Any, cycles: int) -> None:
        self._game, self._cycles = game, cycles
        self.begin = self._now = state
        """The first state of the phase: what everybody sees of it until it ends."""
        self._cycle = -1
        self._asked_in: dict[int, Any] = {}
        self.over = False
        """Whether the game has gone on to another phase, or ended; the cycles may still run."""
        self._shown = [_idle(game.view(state, seat)) for seat in range(game.seats)]

    def cycle(self, pending: Collection[int]) -> list[View] | None:
        """What each seat is shown in the next cycle, with what it is asked as `legal`; None if there is no next one.

        Args:
            pending: Seats that have given a move whose turn has not come.

        Raises:
            ParlourError: The phase has not ended with its last cycle: the game declares too few, or asks too little.
        """
        self._cycle += 1
        if self._cycle == self._cycles:
            if not self.over:
                raise ParlourError(f"the hidden phase of seat {self._game.actor(self._now)} is not over: {_WANTED}")
            return None
        for seat in range(self._game.seats):
            self._shown[seat] = self._show(seat, seat in pending)
        return list(self._shown)

    def follow(self, state: Any) -> None:
        """A move was made that led to `state`."""
        public = any(event.to is None for event in state.log[len(self.begin.log) :])
        self.over = public or self._game.actor(state) < 0 or not hidden_cycles(self._game, state)
        if not self.over:
            self._now = state

    def _show(self, seat: int, pending: bool) -> View:
        game = self._game
        if not pending and self._asked_in.get(seat) is not self._now:
            view = game.view(self._now, seat)
            moves = game.asked(view, self._cycle)
            if moves:
                self._asked_in[seat] = self._now
                return view._replace(legal=moves)  # type: ignore[attr-defined,no-any-return]  # a named tuple
        return _idle(self._shown[seat])


_WANTED = "accepted: hidden_cycles that are enough, and asked that names every turn"


def _idle(view: View) -> View:
    """The View of a seat that is asked nothing now."""
    return view._replace(legal=()) if view.legal else view  # type: ignore[attr-defined]  # a named tuple
