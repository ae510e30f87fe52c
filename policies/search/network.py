"""The table that a search plays at: the rules, array tables of any size, and the network that searches."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs import batch, dotted
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.core import ParlourError, View
from parlour.envs.registry import build, known
from parlour.policies.search.others import Array, log_probs
from parlour.policies.trained import TrainedSeat, ViewReader


class SearchTable:
    """One table of a game, for searches with one network.

    Raises:
        ParlourError: The game has no histories or no kernels for this table, or Numba is missing.
    """

    def __init__(self, network: TrainedSeat) -> None:
        self.spec = known(network.game).spec
        self.game: Any = build(self.spec, network.config)
        kernels = batch.kernels_for(self.spec, network.config, network.features)
        # histories and rounds are those of the game itself, not of presets with kernels of their own
        if not (self.spec.histories or self.spec.rounds) or not kernels or kernels is not batch.kernels_of(self.spec):
            raise ParlourError(
                f"search does not play {network.game} at this table; accepted: avalon_v0 or werewolf_v0 with rules that array "
                "tables have, presets of AIWolf excepted"
            )
        self.network = network
        self.histories: Any = dotted.load(self.spec.histories, "histories") if self.spec.histories else None
        self.rounds: Any = None if self.spec.histories else dotted.load(self.spec.rounds, "rounds")(self.game)
        self.frame = self.spec.frame(self.game)
        self.number = {move: number for number, move in enumerate(self.game.catalogue)}
        self._reader = ViewReader(network.game, network.config, network.features)
        self._tables: dict[int, KernelTables] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"network": self.network}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["network"])  # type: ignore[misc]

    def tables(self, games: int) -> KernelTables:
        """Array tables for at least so many games: the same ones for up to the next power of two."""
        size = 1 << (games - 1).bit_length()
        if size not in self._tables:
            made: Any = batch.make(
                self.network.game, num_envs=size, features=self.network.features, autoreset=False, **self.network.config
            )
            made.reset(0)
            self._tables[size] = made
        return self._tables[size]

    def moves_of(self, view: View) -> tuple[Array, Array]:
        """The legal moves of a View in the frame of the seat, in their order, and the network's log-probabilities of them."""
        own, mask = self._reader.numbers(view)
        log_prob = log_probs(self.network, self._reader.observed(view)[None], mask[None])[0]
        return np.array(own), log_prob[own]

    def mask(self, view: View) -> Array:
        """(A,): 1 for the legal moves of a View, in the frame of the seat."""
        return self._reader.numbers(view)[1]
