"""The frame of a seat: seats counted from oneself, and the actions numbered so that they mean the same from every seat.

In its own frame a seat is number 0, its left neighbour 1, and so on round the table: number j is seat (me + j) % n. What
a network learns in one seat then holds in all of them. Where the seats of a game differ by their place (a keeper, a
guesser) the frame is the identity.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.int64]]
M = TypeVar("M", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Frame:
    """How the seats of one table number the actions: two arrays of shape (seats, actions), both read-only."""

    order: Numbers
    """`order[i, k]`: the number in `game.catalogue` of what seat i calls action k."""
    own: Numbers
    """Its inverse: `own[i, order[i, k]] == k`."""

    @classmethod
    def identity(cls, seats: int, actions: int) -> Frame:
        """All seats number the actions as the catalogue does."""
        return cls.from_order(np.tile(np.arange(actions), (seats, 1)))

    @classmethod
    def of(cls, catalogue: Sequence[M], seats: int, turned: Callable[[M, int], M]) -> Frame:
        """The frame of a game whose seats differ only by where they sit.

        Args:
            catalogue: All moves, in the order of their numbers.
            seats: How many there are.
            turned: `turned(move, by)` is the same move with every seat in it counted `by` further, as the catalogue lists it
            (with sorted seats if the game sorts them).

        Raises:
            KeyError: `turned` leads out of the catalogue.
        """
        numbers = {move: number for number, move in enumerate(catalogue)}
        return cls.from_order(np.array([[numbers[turned(move, i)] for move in catalogue] for i in range(seats)]))

    @classmethod
    def from_order(cls, order: Numbers) -> Frame:
        """The frame with this `order`; each row is a permutation."""
        order = np.ascontiguousarray(order, dtype=np.int64)
        own = np.argsort(order, axis=1)
        for numbers in (order, own):
            numbers.setflags(write=False)
        return cls(order, own)
