"""What a seat can conclude about the sides: the posterior for players of known kinds.

It is exact where the histories behind a View can be listed. In Werewolf it comes from a particle filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from parlour.envs.core import View
from parlour.policies.names import HEURISTIC, RANDOM
from parlour.policies.search.others import OWN, Array, others_of
from parlour.policies.search.particles import Particles
from parlour.policies.search.posterior import Posterior, SearchTable, posterior
from parlour.policies.trained import TrainedSeat

KINDS: Final = (OWN, HEURISTIC, RANDOM)
"""Who may sit in the other seats, each as likely as the others: the network, the heuristic, anybody else."""
SLIP: Final = 0.05
DEALT: Final = 4096
"""Games of the particle filter until the second night: a villager of eight holds 840 deals possible."""
FOLLOWED: Final = 1024
"""Its games after that."""


class Deduction:
    """The posterior of one table, summed by sides.

    Args:
        network: A player of the table whose conduct is known.
        side: The side that is looked for, one of the game's.

    Raises:
        ParlourError: A search cannot play at the table (`SearchTable`).
    """

    def __init__(self, network: TrainedSeat, side: str) -> None:
        self._table = SearchTable(network)
        self._others = others_of(KINDS, network, SLIP)
        self._side = list(self._table.spec.sides).index(side)

    def chances(self, views: Sequence[View], rng: np.random.Generator) -> list[Array]:
        """Probability that each seat is of the side, given what a seat saw, at each of its Views: float64 (n,).

        Args:
            views: Views of one seat in one game, in order.
            rng: Draws histories.

        Raises:
            UnknownHistoryError: Nature has moved after the deal, or no drawn game fits.
        """
        if self._table.rounds is None:
            return [self._by_side(posterior(self._table, view, self._others, rng)) for view in views]
        particles = Particles(self._table, self._others, FOLLOWED, DEALT)
        return [self._by_side(particles.posterior(view, rng)) for view in views]

    def _by_side(self, known: Posterior) -> Array:
        count = len(known.states)
        tables = self._table.tables(count)
        last = np.repeat(known.states[-1:], tables.num_envs - count, axis=0)
        tables.restore(np.concatenate([known.states, last]))
        chances: Array = known.probability @ (tables.side[:count] == self._side)
        return chances
