"""All courses of a game that a seat cannot tell from what it has seen, with their probabilities.

A function of the rules, of the seat's View and of its own actions; the game as it was really played is never asked.
The probabilities assume the game's chance, and other seats that take each legal action equally often: the posterior that a
search like IS-MCTS draws its worlds from. Exact, by going through the courses; so it is for small tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from parlour.envs.core import NATURE, OVER, Event, Game, GameText, Move, ParlourError, View

MOST: Final = 100_000
"""Courses that are gone through at most."""


@dataclass(frozen=True)
class Determinization:
    """One course of the game."""

    moves: tuple[Move, ...]
    """All moves from the beginning, nature's included."""
    probability: float
    """Given what the seat has seen."""


def determinizations(
    game: Game[Any], text: GameText[Any], view: View, own: Sequence[int]
) -> tuple[Determinization, ...]:
    """The courses that lead to this View.

    Args:
        game: The rules; with `chances`, see `parlour.envs.core.Game`.
        text: Its wording; only `who` is used: what is fixed once the roles are dealt.
        view: The View of the seat to move.
        own: The numbers of the actions that it has taken, oldest first.

    Raises:
        ParlourError: It is not the seat's turn; the game tells no chances; the courses are too many, or none.
    """
    if not view.legal:
        raise ParlourError(f"seat {view.seat} is not to move; accepted: the View of the seat to move")
    if game.chances(game.initial()) is None:
        raise ParlourError("this game tells no chances of nature's moves; accepted: a game with `chances`")
    courses = list(_Search(game, text, view, own).courses())
    total = sum(weight for _, weight in courses)
    if not courses:
        raise ParlourError("no course of the game leads to this view; accepted: a view with the seat's own actions")
    return tuple(Determinization(moves, weight / total) for moves, weight in courses)


class _Way(NamedTuple):
    """How a state was reached."""

    moves: tuple[Move, ...] = ()
    weight: float = 1.0
    seen: int = 0
    """Events that the seat has been shown, and moves that it has made."""
    acted: int = 0
    dealt: bool = False
    """Whether it has been checked that the seat is who it is."""


class _Search:
    """Depth first, given up wherever the seat would have been shown something else."""

    def __init__(self, game: Game[Any], text: GameText[Any], view: View, own: Sequence[int]) -> None:
        self._game, self._text, self._seat = game, text, view.seat
        self._own = [game.catalogue[number] for number in own]
        # free words change nothing: legality never reads them, and chance has none
        self._shown = [event._replace(move=event.move._replace(words="")) for event in view.events]
        self._view = view._replace(events=tuple(self._shown))  # type: ignore[attr-defined]  # a named tuple
        self._who = text.who(view)
        self._left = MOST

    def courses(self, s: Any = None, way: _Way | None = None) -> Iterator[tuple[tuple[Move, ...], float]]:
        """From a state and the way to it; without them from the beginning. Each with its weight."""
        s, way = (self._game.initial(), _Way()) if way is None else (s, way)
        actor = self._game.actor(s)
        if actor == OVER:
            return
        if actor >= 0 and not way.dealt:
            if self._text.who(self._game.view(s, self._seat)) != self._who:
                return
            way = way._replace(dealt=True)
        if actor == self._seat and way.acted == len(self._own):
            if way.seen == len(self._shown) and self._game.view(s, self._seat) == self._view:
                yield way.moves, way.weight
            return
        for move, chance in self._options(s, actor, way.acted):
            after = self._game.apply(s, move)
            seen = self._seen(after.log[len(s.log) :], way.seen)
            if seen is not None:
                acted = way.acted + (actor == self._seat)
                yield from self.courses(after, _Way((*way.moves, move), way.weight * chance, seen, acted, way.dealt))

    def _options(self, s: Any, actor: int, acted: int) -> Iterator[tuple[Move, float]]:
        if actor == NATURE:
            options = self._game.chances(s) or iter(())
        elif actor == self._seat:
            move = self._own[acted]
            options = iter([(move, 1.0)] if move in self._game.legal(s) else [])
        else:
            legal = self._game.legal(s)
            options = ((move, 1 / len(legal)) for move in legal)
        for option in options:
            self._left -= 1
            if self._left < 0:
                raise ParlourError(f"the courses of this game are too many; accepted: tables with up to {MOST} to try")
            yield option

    def _seen(self, new: tuple[Event, ...], seen: int) -> int | None:
        """How much the seat has seen after these events; None if it has seen something else."""
        for event in new:
            if event.to is None or self._seat in event.to:
                if seen == len(self._shown) or event != self._shown[seen]:
                    return None
                seen += 1
        return seen
