"""The posterior of a seat over the histories that it holds possible, given the families that the others may be of (`others.py`).

    P(history | View)  ~  together * sum over f of prior(f) product over seats of L(seat, f)
                          + (1 - together) * product over seats of sum over f of prior(f) L(seat, f)
    L(seat, f)  =  product over moves m of the seat of  (1 - slip) p(m | f)  +  slip / (number of legal moves)

The seats are the other ones, the f families.
All deals are equally likely before. The moves of the seat itself say nothing to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs import batch
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.batch.tables import HOLD
from parlour.envs.common import dotted
from parlour.envs.core import Move, ParlourError, View
from parlour.envs.registry import build, known
from parlour.policies.histories import HISTORIES, ROUNDS
from parlour.policies.network import softmax
from parlour.policies.search.others import Array, Others, log_probs
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
        histories, rounds = HISTORIES.get(self.spec.id), ROUNDS.get(self.spec.id)
        if not (histories or rounds) or not kernels:
            raise ParlourError(
                f"search does not play {network.game} at this table; accepted: avalon_v0 or werewolf_v0 with rules that array "
                "tables have"
            )
        self.network = network
        self.histories: Any = dotted.load(histories, "histories") if histories else None
        self.rounds: Any = dotted.load(rounds, "rounds")(self.game) if rounds and not histories else None
        self.frame = self.spec.encoder(self.game).frame()
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
                self.network.game, num_envs=size, features=self.network.features, autoreset=None, **self.network.config
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
    """(H, n, F) float64: logarithms of how likely the moves of each other seat are if it is of a family; 0 for the own seat."""


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
    log_families = np.zeros((count, tables.seats, len(others.families)))
    actions = np.full(tables.num_envs, HOLD, np.int32)
    for step in range(seats.shape[1]):
        rows = np.flatnonzero((seats[:, step] >= 0) & (seats[:, step] != view.seat))
        actions[:count] = numbers[:, step]
        if len(rows):
            log_chances = others.log_chances(tables, turns, rows)
            log_families[rows, seats[rows, step]] += log_chances[:, np.arange(len(rows)), actions[rows]].T
        turns = tables.step(actions)
    return Posterior(softmax(others.log_weights(log_families)), tables.state()[:count], log_families)


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
