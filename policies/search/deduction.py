"""What a seat of a game with listed histories can conclude about the sides: the exact posterior, for players of known kinds."""

from __future__ import annotations

from typing import Final

import numpy as np
from parlour.envs.core import ParlourError, View
from parlour.policies.names import HEURISTIC, RANDOM
from parlour.policies.search.network import SearchTable
from parlour.policies.search.others import OWN, Array, others_of
from parlour.policies.search.posterior import posterior
from parlour.policies.trained import TrainedSeat

KINDS: Final = (OWN, HEURISTIC, RANDOM)
"""Who may sit in the other seats, each as likely as the others: the network, the heuristic, anybody else."""
SLIP: Final = 0.05


class Deduction:
    """The posterior of one table (`posterior.py`), summed by sides.

    Args:
        network: A player of the table whose conduct is known.
        side: The side that is looked for, one of the game's.

    Raises:
        ParlourError: There are no kernels or no listed histories for the table.
    """

    def __init__(self, network: TrainedSeat, side: str) -> None:
        self._table = SearchTable(network)
        if self._table.histories is None:
            raise ParlourError(f"{network.game} has no list of histories; accepted: avalon_v0")
        self._others = others_of(KINDS, network, SLIP)
        self._side = list(self._table.spec.sides).index(side)

    def chances(self, view: View, rng: np.random.Generator) -> Array:
        """Probability that each seat is of the side, given what the seat of `view` saw: float64 (n,).

        Raises:
            UnknownHistoryError: Nature has moved after the deal.
        """
        known = posterior(self._table, view, self._others, rng)
        count = len(known.states)
        tables = self._table.tables(count)
        last = np.repeat(known.states[-1:], tables.num_envs - count, axis=0)
        tables.restore(np.concatenate([known.states, last]))
        chances: Array = known.probability @ (tables.side[:count] == self._side)
        return chances
