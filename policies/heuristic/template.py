"""Coin by heuristic: the keeper names a random side; the guesser, who knows that, guesses at random."""

from __future__ import annotations

import numpy as np
from parlour.envs._template.vocabulary import CoinView
from parlour.envs.core import Move


class CoinPlayer:
    """One seat of one game."""

    def __init__(self, view: CoinView, rng: np.random.Generator) -> None:
        self._rng = rng

    def act(self, view: CoinView) -> Move:
        """The move, one of `view.legal`."""
        return view.legal[-1 - int(self._rng.integers(2))]
