"""Twins: other games that a seat cannot distinguish from the played game.

In a twin nature deals otherwise and the others do otherwise wherever the seat is not shown it; all that it is shown, in what
order, and what it did itself and knowing what, is the same. Roles are dealt again by swapping what the deal gave, so that the
seat holds what it held; where the hidden part of a game is no move of nature, its spec names a function that changes it
(`REDEALT`). The search goes from one thing shown to the next and tries again from there; a twin may thus be
shorter than the game.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.common import dotted
from parlour.envs.core import NATURE, OVER, Event, GameText, IllegalMove, Move
from parlour.envs.plugins import Places
from parlour.envs.spec import GameSpec

REDEALT: Final = Places("parlour.redealt", {"murder_mystery_v0": "parlour.envs.murder_mystery.redealt:redealt"})
"""Game -> dotted name of `(game, seat, events, rng) -> game`: the same table with all changed that `seat`, who has seen `events`,
cannot know. For games that keep hidden things in their rules; of others only nature's and hidden moves are changed."""
TRIES: Final = 40
"""How often a way to the next thing shown is sought."""
_DEALS: Final = 120
"""How often another deal is."""
_ONCE_MORE: Final = 0.3
"""Share of the deals in which two more are swapped."""
_LONGEST: Final = 200
"""Moves that the seat is not shown, one after another."""
_FEW: Final = 2
"""Arguments of a move of nature that is no deal of roles."""
_DRAWN: Final = 4
"""How often nature draws for another move than in the game that was played."""
_ALIKE: Final = (1.0, 0.9, 0.5, 0.0)
"""How often others do unseen what they did in the game that was played; one is drawn for each try."""

At = tuple[int, int]
"""Where a seat is in a game, as far as it knows: how many events it has seen and how many moves it has made."""


class Played(NamedTuple):
    """A game, or its beginning."""

    game: Any
    moves: tuple[Move, ...]


class _Way(NamedTuple):
    """From one place to the next."""

    moves: tuple[Move, ...]
    state: Any
    at: At


def new_events(before: Any, after: Any, seat: int) -> tuple[Event, ...]:
    """What a move showed to a seat."""
    return tuple(event for event in after.log[len(before.log) :] if event.to is None or seat in event.to)


def redealt(spec: GameSpec, game: Any, seat: int, moves: Sequence[Move], rng: np.random.Generator) -> Any:
    """The rules of the twin: the same, unless the game keeps what is hidden in them."""
    if spec.id not in REDEALT:
        return game
    state = reduce(game.apply, moves, game.initial())
    return dotted.load(REDEALT[spec.id], "redealt")(game, seat, game.view(state, seat).events, rng)


class Twins:
    """Makes twins of one game for one seat.

    Args:
        text: The wording; only `who` is used.
        played: The game.
        seat: Who cannot tell.
        rng: All chance.
    """

    def __init__(self, text: GameText[Any], played: Played, seat: int, rng: np.random.Generator) -> None:
        self._text, self._seat, self._rng, self._alike = text, seat, rng, 1.0
        self._shown: list[Event] = []
        self._own: list[tuple[int, Move]] = []
        """The seat's moves, each with how many events it had seen."""
        self._unseen: dict[tuple[int, int], list[Move]] = defaultdict(list)
        """By how many events the seat had seen, and who moved: what others and nature did."""
        self._who = ""
        game, state = played.game, played.game.initial()
        for move in played.moves:
            actor, after = game.actor(state), game.apply(state, move)
            if actor == seat:
                self._own.append((len(self._shown), move))
            else:
                self._unseen[len(self._shown), actor].append(move)
            self._shown += new_events(state, after, seat)
            state = after
            if not self._who and game.actor(state) >= 0:
                self._who = text.who(game.view(state, seat))

    def find(self, game: Any) -> Played:
        """A twin by these rules, as far as one is found; perhaps without any move.

        Where the seat's turn is next and no way leads to it, the last step is taken back: after secret bids another has the floor.
        """
        way = _Way((), game.initial(), (0, 0))
        ways = [way]
        while way.at != (len(self._shown), len(self._own)) and game.actor(way.state) != OVER:
            tries = TRIES if len(ways) > 1 else _DEALS
            onward = next(filter(None, (self._try(game, way.state, way.at) for _ in range(tries))), None)
            if onward is None:
                if len(ways) > 2 and game.actor(way.state) != self._seat and self._is_next(way.at):
                    ways.pop()
                break
            ways.append(way := onward)
        return Played(game, tuple(move for step in ways for move in step.moves))

    def _try(self, game: Any, state: Any, at: At) -> _Way | None:
        """A way to the next thing that the seat is shown or does; None if this one leads elsewhere."""
        self._alike = _ALIKE[int(self._rng.integers(len(_ALIKE)))]
        seen, own_moves = at
        moves: list[Move] = []
        while len(moves) < _LONGEST:
            actor = game.actor(state)
            move = None if actor == OVER else self._move(game, state, actor, (seen, own_moves))
            if move is None:
                return None
            try:
                after = game.apply(state, move)
            except IllegalMove:
                return None
            new = new_events(state, after, self._seat)
            now = seen + len(new), own_moves + (actor == self._seat)
            # whether the seat has seen what it saw only after its next move
            early = now[1] < len(self._own) and self._own[now[1]][0] < now[0]
            if list(new) != self._shown[seen : now[0]] or early or not self._is_itself(game, after):
                return None
            moves.append(move)
            state = after
            if new or actor == self._seat:
                return _Way(tuple(moves), state, now) if self._fits(game.actor(state), now) else None
        return None

    def _fits(self, actor: int, at: At) -> bool:
        """Whether the seat has its turn only where it had one: after secret bids it may be another's turn instead."""
        return actor != self._seat or self._is_next(at)

    def _is_next(self, at: At) -> bool:
        """Whether the seat moved there before it was shown anything more."""
        seen, own_moves = at
        return own_moves < len(self._own) and self._own[own_moves][0] == seen

    def _is_itself(self, game: Any, state: Any) -> bool:
        """Whether the seat is who it was, as far as it is dealt."""
        return game.actor(state) < 0 or self._text.who(game.view(state, self._seat)) == self._who

    def _move(self, game: Any, state: Any, actor: int, at: At) -> Move | None:
        seen, own_moves = at
        if actor == self._seat:
            return self._legal(game, state, self._own[own_moves][1]) if self._fits(actor, at) else None
        event = self._shown[seen] if seen < len(self._shown) else None
        if actor == NATURE:
            return self._of_nature(game, state, seen, event)
        if event is not None and event.seat == actor and self._legal(game, state, event.move):
            return event.move
        return self._of_other(game, state, actor, seen)

    @staticmethod
    def _legal(game: Any, state: Any, move: Move) -> Move | None:
        return move if Move(move.kind, move.args) in game.legal(state) else None

    def _of_nature(self, game: Any, state: Any, seen: int, event: Event | None) -> Move:
        rng, before = self._rng, self._unseen.get((seen, NATURE))
        if event is not None and event.seat == NATURE and before and event.move in before:
            return event.move
        chance = rng.random()
        if before and chance < 0.9 and len(before[0].args) > _FEW:
            return _swapped(before[0], rng) if chance < 0.85 else before[0]
        if before and chance < 0.2:
            return before[int(rng.integers(len(before)))]
        drawn: list[Move] = []
        while len(drawn) < _DRAWN and (not drawn or drawn[-1] in (before or ())):
            drawn.append(game.nature(state, rng))
        return drawn[-1]

    def _of_other(self, game: Any, state: Any, actor: int, seen: int) -> Move:
        """What it did then, what has to do with what is shown next, or anything."""
        rng, legal = self._rng, game.legal(state)
        same = [move for move in self._unseen.get((seen, actor), ()) if self._legal(game, state, move)]
        if same and rng.random() < self._alike:
            return same[int(rng.integers(len(same)))]
        wanted = {arg for event in self._shown[seen : seen + 3] for arg in event.move.args}
        fitting = [move for move in legal if not wanted.isdisjoint(move.args)] if rng.random() < 0.5 else []
        options = fitting or legal
        move: Move = options[int(rng.integers(len(options)))]
        return move


def _swapped(move: Move, rng: np.random.Generator) -> Move:
    """The move with two of its arguments, or a few, in each other's places; another move, if it has different ones."""
    args = list(move.args)
    if len(set(args)) == 1:
        return move
    while tuple(args) == move.args or rng.random() < _ONCE_MORE:
        first, other = (int(k) for k in rng.integers(len(args), size=2))
        args[first], args[other] = args[other], args[first]
    return move._replace(args=tuple(args))
