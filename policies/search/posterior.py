"""The posterior of a seat over the histories that it holds possible, given the families that the others may be of (`others.py`).

    P(history | View)  ~  product over the other seats of  sum over families f of  prior(f) product over moves m of the seat of p_f(m)
    p_f(m)  =  (1 - slip) p(m | f)  +  slip / (number of legal moves)

All deals are equally likely before. The moves of the seat itself say nothing to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs.batch.tables import HOLD
from parlour.envs.core import Move, ParlourError, View
from parlour.policies.search.network import SearchTable
from parlour.policies.search.others import Array, Others

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
    log_families: Array
    """(H, n, F) float64: logarithms of how likely each family is for each seat, up to a constant for each seat."""


def posterior(table: SearchTable, view: View, others: Others, rng: np.random.Generator) -> Posterior:
    """Weigh the histories behind a View.

    Args:
        table: The table.
        view: What the seat to move sees.
        others: Who may sit in the other seats.
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
    log_families, actions = others.begun(count, tables.seats), np.full(tables.num_envs, HOLD, np.int32)
    for step in range(seats.shape[1]):
        rows = np.flatnonzero((seats[:, step] >= 0) & (seats[:, step] != view.seat))
        actions[:count] = numbers[:, step]
        if len(rows):
            log_chances = others.log_chances(tables, turns, rows)
            log_families[rows, seats[rows, step]] += log_chances[:, np.arange(len(rows)), actions[rows]].T
        turns = tables.step(actions)
    log_weight = np.logaddexp.reduce(log_families, axis=2).sum(axis=1)
    weight = np.exp(log_weight - log_weight.max())
    return Posterior(weight / weight.sum(), tables.state()[:count], log_families)


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
