"""Continuations: games played on to their end from states drawn by a posterior, with every move of a seat in the same deals."""

from __future__ import annotations

import numpy as np
from parlour.envs.batch.drawing import draw
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import HOLD, BatchTables, Turns
from parlour.policies.search.network import Array, SearchTable
from parlour.policies.search.posterior import Posterior


class Continuations:
    """Plays on with the network at all seats, from the histories of a posterior.

    Args:
        table: The table.
        known: The posterior of the seat to move.
        seat: Which seat that is.
    """

    def __init__(self, table: SearchTable, known: Posterior, seat: int) -> None:
        self._table, self._known, self._seat = table, known, seat

    def play(self, moves: Array, deals: int, rng: np.random.Generator) -> Array:
        """The return of the seat after each of its moves.

        Deal k has the same history and the same stream of random numbers for all moves.

        Args:
            moves: (M,): numbers of legal moves, in the frame of the seat.
            deals: How many histories are drawn.
            rng: All chance.

        Returns:
            (M, deals) float: -1 to 1.
        """
        histories = np.sort(rng.choice(len(self._known.probability), deals, p=self._known.probability))
        seeds = rng.integers(0, 2**63, deals)
        count = len(moves) * deals
        tables = self._table.tables(count)
        at = np.arange(tables.num_envs) % deals  # beyond `count`: games that nobody looks at
        turns = tables.restore(self._known.states[histories[at]])
        run = _Run(self._table, tables, turns, started(seeds[at].tolist(), 0))
        run.until_turn_of(self._seat)
        run.move(np.repeat(moves, deals))
        run.to_the_end()
        returns: Array = run.returns[:count, self._seat].reshape(len(moves), deals)
        return returns


class _Run:
    """Array tables on their way to the end."""

    def __init__(self, table: SearchTable, tables: BatchTables, turns: Turns, stream: Array) -> None:
        self._table, self._tables, self._turns, self._stream = table, tables, turns, stream
        self._actions = np.full(tables.num_envs, HOLD, np.int32)
        self._log_probs = np.empty(tables.num_envs, np.float32)
        self.returns = np.zeros((tables.num_envs, tables.seats))

    def until_turn_of(self, seat: int) -> None:
        """Let those move who have moved in this round already, unseen by the seat."""
        while len(rows := np.flatnonzero((self._turns.actor >= 0) & (self._turns.actor != seat))):
            self._draw(rows)

    def move(self, numbers: Array) -> None:
        """Play these moves, at the first tables."""
        self._actions[:] = HOLD
        self._actions[: len(numbers)] = numbers
        self._step()

    def to_the_end(self) -> None:
        """Let the network play all seats until all games that moved are over."""
        moved = self._actions != HOLD
        while len(rows := np.flatnonzero((self._turns.actor >= 0) & moved)):
            self._draw(rows)

    def _draw(self, rows: Array) -> None:
        turns, rows = self._turns, rows.astype(np.int32)
        self._actions[:] = HOLD
        logits = self._table.network.scores(turns.observation[rows])
        draw(logits, turns.mask, rows, self._stream, self._actions, self._log_probs)
        self._step()

    def _step(self) -> None:
        self._turns = self._tables.step(self._actions)
        self.returns += self._turns.rewards
