"""Coin's rules: nature tosses, the keeper (seat 0) sees it and says something, the guesser (seat 1) guesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from parlour.envs._template.vocabulary import GUESSER, GUESSES, KEEPER, SIDES, SPEECHES, TOSS, CoinView
from parlour.envs.core import NATURE, OVER, Event, Game, IllegalMove, Move, Outcome

if TYPE_CHECKING:
    import numpy as np


class CoinState(NamedTuple):
    """How far the game is: nothing, the toss, the speech, the guess."""

    coin: int
    """The face that lies up; -1 before the toss."""
    moves: int
    log: tuple[Event, ...]


class Coin(Game[CoinState]):
    """The rules of a toss."""

    seats = 2
    catalogue: tuple[Move, ...] = (*SPEECHES, *GUESSES)
    max_moves = 3
    config: Mapping[str, Any] = {}

    def initial(self) -> CoinState:
        return CoinState(-1, 0, ())

    def actor(self, s: CoinState) -> int:
        return (NATURE, KEEPER, GUESSER, OVER)[s.moves]

    def legal(self, s: CoinState) -> tuple[Move, ...]:
        return ((), SPEECHES, GUESSES, ())[s.moves]

    def nature(self, s: CoinState, rng: np.random.Generator) -> Move:
        return Move(TOSS, (int(rng.integers(2)),))

    def chances(self, s: CoinState) -> Iterator[tuple[Move, float]]:
        """Both sides of the coin."""
        if s.moves == 0:
            yield from ((Move(TOSS, (face,)), 0.5) for face in range(2))

    def apply(self, s: CoinState, move: Move) -> CoinState:
        if s.moves == 0:
            if move not in (Move(TOSS, (0,)), Move(TOSS, (1,))):
                raise IllegalMove(f"{move!r} is not a toss; accepted: side 0 or 1")
            return CoinState(move.args[0], 1, (Event(NATURE, move, (KEEPER,)),))
        if Move(move.kind, move.args) not in self.legal(s):
            raise IllegalMove(f"{move.kind} {list(move.args)} is not accepted; accepted: {list(self.legal(s))}")
        return CoinState(s.coin, s.moves + 1, (*s.log, Event(self.actor(s), move, None)))

    def outcome(self, s: CoinState) -> Outcome | None:
        if s.moves < self.max_moves:
            return None
        right = s.log[-1].move.args[0] == s.coin
        return Outcome((-1.0, 1.0) if right else (1.0, -1.0), SIDES[GUESSER if right else KEEPER], "guess")

    def view(self, s: CoinState, seat: int) -> CoinView:
        legal = self.legal(s) if self.actor(s) == seat else ()
        events = tuple(e for e in s.log if e.to is None or seat in e.to)
        return CoinView(seat, legal, events, s.coin if seat == KEEPER else -1, SIDES[seat])
