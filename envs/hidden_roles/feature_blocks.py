"""The features of a seat in blocks; each block reads the events of a game as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from parlour.envs.common.frames import Frame
from parlour.envs.core import TABLE, Event, Move
from parlour.envs.hidden_roles.rules import FEATURES
from parlour.envs.spec import Encoders

Features = np.ndarray[Any, np.dtype[np.float32]]


class Block(Protocol):
    """Some of the features of one seat, which sees the events of one game in order."""

    names: list[str]

    def see(self, view: Any, event: Event) -> None:
        """Take in the next event; `view` is a View of the seat that holds it."""

    def write(self, view: Any, features: Features) -> None:
        """Write the numbers, shape (len(names),)."""


class BlockEncoder:
    """The features of a seat, block after block, in [-1, 1]. Satisfies `parlour.envs.core.SeatEncoder`.

    Args:
        blocks: Makes the blocks for a new game of a seat, by any View of it; of None for their names alone.
    """

    def __init__(self, blocks: Callable[[Any], Sequence[Block]]) -> None:
        self._new_blocks, self._blocks = blocks, blocks(None)
        self._events: tuple[Event, ...] = ()
        self._key: tuple[Any, ...] = ()
        self.names = [name for block in self._blocks for name in block.names]
        self.size = len(self.names)

    def __call__(self, view: Any) -> Features:
        self._read(view)
        features = np.zeros(self.size, dtype=np.float32)
        at = 0
        for block in self._blocks:
            block.write(view, features[at : at + len(block.names)])
            at += len(block.names)
        return np.clip(features, -1.0, 1.0, out=features)

    def _read(self, view: Any) -> None:
        """Read the events that are new; all of them in another game or for another seat."""
        key, seen = (view.seat, view.role, view.knows), len(self._events)
        if key != self._key or view.events[:seen] != self._events:
            self._blocks, seen = self._new_blocks(view), 0
        for event in view.events[seen:]:
            for block in self._blocks:
                block.see(view, event)
        self._key, self._events = key, view.events


class HiddenRoleEncoders(Encoders):
    """The features of a game with hidden roles, whose seats differ only by where they sit: each counts from itself."""

    kinds = (TABLE, *FEATURES)

    def turned(self, move: Move, by: int) -> Move:
        """The same move with every seat in it counted `by` further."""
        raise NotImplementedError

    def frame(self) -> Frame:
        return Frame.of(self.game.catalogue, self.game.seats, self.turned)


def place_name(place: int) -> str:
    """What a seat is called from oneself: `me`, `+1`, ..."""
    return "me" if place == 0 else f"+{place}"
