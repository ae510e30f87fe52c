"""A table in the frames of its seats (`parlour.envs.frames`): how each numbers its moves, what it is offered, its features."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from parlour.envs.core import Game, GameSpec, Move, View
from parlour.envs.frames import Frame
from parlour.envs.wording import Turn

_KEPT: Final = 10_000


class OwnNumbers:
    """The moves of one table as each of its seats numbers them."""

    def __init__(self, frame: Frame, catalogue: tuple[Move, ...]) -> None:
        self.frame = frame
        self.catalogues = tuple(tuple(catalogue[number] for number in order) for order in frame.order.tolist())
        """Of each seat: its moves, in the order of its numbers."""
        self._turns: dict[tuple[int, int], Turn] = {}
        """By seat and identity of `legal`, which the Turn keeps alive."""

    def turn(self, turn: Turn, seat: int) -> Turn:
        """A turn of the table with the numbers of the seat; options and prose in the same order."""
        key = seat, id(turn.legal)
        kept = self._turns.get(key)
        if kept is None:
            if len(self._turns) >= _KEPT:
                self._turns.clear()
            own = self.frame.own[seat]
            indices = tuple(int(own[number]) for number in turn.indices)
            mask = np.ascontiguousarray(turn.mask[self.frame.order[seat]])
            kept = self._turns[key] = turn._replace(mask=mask, indices=indices)
        return kept


_NUMBERS: Final[WeakKeyDictionary[Any, OwnNumbers]] = WeakKeyDictionary()


def own_numbers(spec: GameSpec, game: Game[Any]) -> OwnNumbers:
    """The numbers of a table; the same object for the same Game."""
    found = _NUMBERS.get(game)
    if found is None:
        found = _NUMBERS[game] = OwnNumbers(spec.frame(game), game.catalogue)
    return found


class SeatEncoders:
    """The features of all seats of one table, each in its own frame. Satisfies `parlour.envs.core.Encoder`.

    Args:
        spec: The game's package.
        game: The rules, as `spec.build` made them.
        features: One of `spec.features`, but `"table"`.
    """

    def __init__(self, spec: GameSpec, game: Game[Any], features: str) -> None:
        self._of = [spec.seat_encoder(game, features) for _ in range(game.seats)]
        self.size, self.names = self._of[0].size, self._of[0].names

    def __call__(self, view: View) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The features of the seat whose View it is."""
        return self._of[view.seat](view)
