"""A phase of which not all see the turns, such as a night, in cycles: it lasts as long, whoever acts in it and however often.

Who counts cycles must not learn how many others act unseen. So a game that has such phases says in two methods, each a
function of a View, how they go in the parallel form (`parlour.envs.parallel`); its rules and its AEC form stay as they are:

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

from collections.abc import Collection
from typing import Any

from parlour.envs.core import Game, Move, ParlourError, View


def hidden_cycles(game: Game[Any], state: Any) -> int:
    """How many cycles the hidden phase of `state` lasts; 0 if it is in none, and in games that have none."""
    told = getattr(game, "hidden_cycles", None)
    return 0 if told is None else int(told(game.view(state, 0)))


class HiddenPhase:
    """One such phase, from the state in which it begins.

    Args:
        game: A game with `hidden_cycles` and `asked`.
        state: The first state of the phase.
        cycles: How many it lasts.
    """

    def __init__(self, game: Game[Any], state: Any, cycles: int) -> None:
        self._game, self._begin, self._cycles = game, state, cycles
        self._now = state
        self._cycle = -1
        self._asked_in: dict[int, Any] = {}
        self.over = False
        """Whether the game has gone on to another phase, or ended; the cycles may still run."""
        self._shown = [_idle(game.view(state, seat)) for seat in range(game.seats)]

    @property
    def begin(self) -> Any:
        """The first state of the phase: what everybody sees of it until it ends."""
        return self._begin

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
        public = any(event.to is None for event in state.log[len(self._begin.log) :])
        self.over = public or self._game.actor(state) < 0 or not hidden_cycles(self._game, state)
        if not self.over:
            self._now = state

    def _show(self, seat: int, pending: bool) -> View:
        game = self._game
        if not pending and self._asked_in.get(seat) is not self._now:
            view = game.view(self._now, seat)
            moves: tuple[Move, ...] = game.asked(view, self._cycle)  # type: ignore[attr-defined]  # see the top
            if moves:
                self._asked_in[seat] = self._now
                return view._replace(legal=moves)  # type: ignore[attr-defined,no-any-return]  # a named tuple
        return _idle(self._shown[seat])


_WANTED = "accepted: hidden_cycles that are enough, and asked that names every turn"


def _idle(view: View) -> View:
    """The View of a seat that is asked nothing now."""
    return view._replace(legal=()) if view.legal else view  # type: ignore[attr-defined]  # a named tuple
