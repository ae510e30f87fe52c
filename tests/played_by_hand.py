"""Games that a test plays move by move."""

from __future__ import annotations

from typing import Any, Self

from parlour.envs.core import NATURE, Event, Move, Outcome

M, P, S, G, A, D, O, N = (  # noqa: E741 - one letter for each role of Avalon: deals are read at a glance
    "Merlin",
    "Percival",
    "Loyal Servant",
    "Morgana",
    "Assassin",
    "Mordred",
    "Oberon",
    "Minion",
)


def announced(kind: str, *args: int, to: tuple[int, ...] | None = None) -> Event:
    """What nature tells all, or some seats."""
    return Event(NATURE, Move(kind, args), to)


def said(seat: int, kind: str, *args: int) -> Event:
    """What a seat says or does for all to see."""
    return Event(seat, Move(kind, args), None)


class Course:
    """A game and the state that it is in."""

    game: Any
    state: Any

    def do(self, *moves: Move) -> Self:
        for move in moves:
            self.state = self.game.apply(self.state, move)
        return self

    @property
    def legal(self) -> tuple[Move, ...]:
        return self.game.legal(self.state)

    @property
    def kinds(self) -> set[str]:
        return {move.kind for move in self.legal}

    @property
    def actor(self) -> int:
        return self.game.actor(self.state)

    @property
    def outcome(self) -> Outcome | None:
        return self.game.outcome(self.state)

    def view(self, seat: int = 0) -> Any:
        return self.game.view(self.state, seat)
