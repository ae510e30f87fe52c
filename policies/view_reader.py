"""Features, and numbers of legal moves in the frame of the seat, from a View: for networks trained on another kind than the table shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from parlour.envs import dotted
from parlour.envs.core import TABLE, Encoder, Move, SeatEncoder, View
from parlour.envs.frames import Frame
from parlour.envs.registry import known

Array = np.ndarray[Any, np.dtype[np.float32]]


class ViewReader:
    """Makes features, and its numbers of the legal moves, from the View of any seat of one table, or from its prose."""

    def __init__(self, name: str, config: Mapping[str, Any], features: str) -> None:
        self._spec = known(name).spec
        self._game = self._spec.build(**config)
        self._features = features
        actions = len(self._game.catalogue)
        framed = features != TABLE
        self._frame = self._spec.frame(self._game) if framed else Frame.identity(self._game.seats, actions)
        self._number = {move: number for number, move in enumerate(self._game.catalogue)}
        self._encoders: dict[int, Encoder[Any] | SeatEncoder[Any]] = {}
        self._prose: Callable[[str], View] | None = None

    def view_in(self, prose: str) -> View:
        """The View that these words hold. Raises `ParlourError` for words that are not the whole text of a seat."""
        if self._prose is None:
            self._prose = dotted.load(self._spec.prose, "prose")(self._game)
        assert self._prose is not None
        return self._prose(prose)

    def observed(self, view: View) -> Array:
        """The features, shape (features,)."""
        if view.seat not in self._encoders:
            framed = self._features != TABLE
            spec, game = self._spec, self._game
            self._encoders[view.seat] = spec.seat_encoder(game, self._features) if framed else spec.encoder(game)
        return self._encoders[view.seat](view)

    def numbers(self, view: View) -> tuple[list[int], np.ndarray[Any, np.dtype[np.int8]]]:
        """The numbers of the moves of `view.legal`, in their order; and the mask, shape (actions,)."""
        row = self._frame.own[view.seat]
        own = [int(row[self._number[Move(move.kind, move.args)]]) for move in view.legal]
        mask = np.zeros(len(self._number), dtype=np.int8)
        mask[own] = 1
        return own, mask
