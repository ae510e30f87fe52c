"""Games that kernels play, followed by the scalar rules: their states hold what records of kernels do not, such as events."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.batch.tables import Array
from parlour.envs.core import NATURE, OVER


class FollowedGames:
    """The scalar states beside array tables.

    Args:
        tables: Made with `autoreset=None`, and just dealt.
        count: How many games are followed, from the first table on.
    """

    def __init__(self, tables: KernelTables, count: int) -> None:
        self._tables, self._game = tables, tables.game
        start = self._game.initial()
        deal = self._game.nature(start, np.random.default_rng(0))  # its kind; the kernels have dealt
        self.states: list[Any] = [self._game.apply(start, deal._replace(args=tables.dealt(b))) for b in range(count)]

    def step(self, actions: Array) -> None:
        """Follow the actions that the tables have just played, (B,), in the frames of the seats."""
        game, order = self._game, self._tables.frame.order
        for b, state in enumerate(self.states):
            actor = game.actor(state)
            if actor == OVER:
                continue
            state = game.apply(state, game.catalogue[order[actor, actions[b]]])
            while game.actor(state) == NATURE:
                move = game.nature(state, np.random.default_rng(0))
                state = game.apply(state, move._replace(args=self._tables.drawn(b)))
            self.states[b] = state
