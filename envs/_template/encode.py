"""Coin in numbers: own seat, the coin if known (+1 tails, -1 heads), what the keeper said (likewise)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from parlour.envs._template.vocabulary import SUMMARY, CoinView
from parlour.envs.core import TABLE
from parlour.envs.language import speech
from parlour.envs.spec import Encoders


class CoinEncoders(Encoders):
    """The features of a table. Keeper and guesser differ by their place, so that each sees from its own what it sees at the table."""

    kinds = (TABLE, SUMMARY)

    def at_table(self) -> CoinEncoder:
        return CoinEncoder()

    def of_seat(self, kind: str) -> CoinEncoder:
        if kind != SUMMARY:
            raise self.refused(kind)
        return CoinEncoder()


class CoinEncoder:
    """Satisfies `parlour.envs.core.Encoder` and `SeatEncoder`."""

    names: Sequence[str] = ("my place", "the coin, as I know it", "what was said of it")
    size = len(names)

    def __call__(self, view: CoinView) -> np.ndarray[Any, np.dtype[np.float32]]:
        coin = 0 if view.coin < 0 else 2 * view.coin - 1
        promises = [2 * e.move.args[0] - 1 for e in view.events if e.move.kind == speech.PROMISE]
        return np.array([view.seat, coin, promises[0] if promises else 0], dtype=np.float32)
