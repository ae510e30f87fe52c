"""The posterior of a seat over the histories that it holds possible, given that the others play as a network does.

    P(history | View)  ~  product over the moves m of the others of  (1 - slip) p_network(m) + slip / (number of legal moves)

All deals are equally likely before. The moves of the seat itself say nothing to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs.batch.tables import HOLD
from parlour.envs.core import Move, ParlourError, View
from parlour.policies.search.network import Array, SearchTable

MOST: Final = 512
"""Histories that are weighed; of more, so many are drawn, each as likely as the others."""


class UnknownHistoryError(ParlourError):
    """Array tables cannot play a history again, because nature has moved after the deal."""


@dataclass(frozen=True)
class Posterior:
    """Histories with their probabilities, as states of array tables."""

    probability: Array
    """(H,) float64."""
    states: Array
    """(H, bytes of a game): as `BatchTables.state` gives them."""


def posterior(table: SearchTable, view: View, slip: float, rng: np.random.Generator) -> Posterior:
    """Weigh the histories behind a View.

    Args:
        table: The table.
        view: What the seat to move sees.
        slip: Share of the others' moves that are taken for random ones, above 0.
        rng: Draws histories where there are more than `MOST`.

    Raises:
        UnknownHistoryError: Nature has moved after the deal.
    """
    possible = list(table.histories(table.game, view))
    if len(possible) > MOST:
        possible = [possible[k] for k in np.sort(rng.choice(len(possible), MOST, replace=False))]
    seats, numbers = _as_arrays(table, possible)
    count = len(possible)
    tables = table.tables(count)
    deals = np.array([history.deal for history in possible])
    turns = tables.deal(deals[np.minimum(np.arange(tables.num_envs), count - 1)])
    log_weight, actions = np.zeros(count), np.full(tables.num_envs, HOLD, np.int32)
    for step in range(seats.shape[1]):
        others = np.flatnonzero((seats[:, step] >= 0) & (seats[:, step] != view.seat))
        actions[:count] = numbers[:, step]
        log_prob = table.log_probs(turns.observation[others], turns.mask[others])
        likely = np.exp(log_prob[np.arange(len(others)), actions[others]])
        log_weight[others] += np.log((1 - slip) * likely + slip / turns.mask[others].sum(axis=1))
        turns = tables.step(actions)
    weight = np.exp(log_weight - log_weight.max())
    return Posterior(weight / weight.sum(), tables.state()[:count])


def _as_arrays(table: SearchTable, possible: list[Any]) -> tuple[Array, Array]:
    """The seat of each move of each history, and its number in the frame of this seat: int32 (H, T); -1 and `HOLD` after the end."""
    longest = max(len(history.moves) for history in possible)
    seats = np.full((len(possible), longest), -1, np.int32)
    numbers = np.full(seats.shape, HOLD, np.int32)
    for row, history in enumerate(possible):
        for step, (seat, move) in enumerate(history.moves):
            if seat < 0:
                raise UnknownHistoryError("nature has moved after the deal; accepted: a game in which it has not")
            seats[row, step] = seat
            numbers[row, step] = table.frame.own[seat, table.number[Move(move.kind, move.args)]]
    return seats, numbers
