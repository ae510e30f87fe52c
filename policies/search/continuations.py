"""Continuations: games played on from states drawn by a posterior, with every move of a seat in the same deals."""

from __future__ import annotations

import numpy as np
from parlour.envs.batch.drawing import draw
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import HOLD, BatchTables, Turns
from parlour.policies.search.critic import GAMES, SHARE, Critic, fitted
from parlour.policies.search.network import Array, SearchTable
from parlour.policies.search.posterior import Posterior


class Continuations:
    """Plays on with the network at all seats, from the states of a posterior.

    Args:
        table: The table.
        known: The posterior of the seat to move.
        seat: Which seat that is.
        depth: Moves after which a game is cut; None: all are played to the end.
        critic: Values games that are cut.
    """

    def __init__(
        self,
        table: SearchTable,
        known: Posterior,
        seat: int,
        depth: int | None = None,
        critic: Critic | None = None,
    ) -> None:
        self._table, self._known, self._seat, self._depth, self._critic = table, known, seat, depth, critic

    def play(self, moves: Array, deals: int, rng: np.random.Generator) -> Array:
        """The return of the seat after each of its moves.

        Deal k has the same history and the same streams of random numbers for all moves.

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
        tables.games.nature = started(seeds.tolist(), 1)[at]
        run = _Run(self._table, tables, turns, started(seeds.tolist(), 0)[at])
        run.until_turn_of(self._seat)
        run.move(np.repeat(moves, deals))
        run.play_on(self._depth, self._critic)
        returns: Array = run.returns[:count, self._seat].reshape(len(moves), deals)
        return returns


def practised(table: SearchTable) -> Critic:
    """The critic of a network, from games with itself; always the same one."""
    rng = np.random.default_rng(0)
    tables = table.tables(GAMES)
    run = _Run(table, tables, tables.reset(0), started(range(tables.num_envs), 2))
    kept: list[tuple[Array, Array, Array]] = []
    while len(rows := run.active):
        chosen = rows[rng.random(len(rows)) < SHARE]
        kept.append((chosen, run.turns.actor[chosen].copy(), run.seen(chosen)))
        run.draw(rows)
    games, actors, seen = (np.concatenate(part) for part in zip(*kept, strict=True))
    return fitted(seen, run.returns[games, actors].astype(np.float32), rng)


class _Run:
    """Array tables on their way to the end."""

    def __init__(self, table: SearchTable, tables: BatchTables, turns: Turns, stream: Array) -> None:
        self._table, self._tables, self.turns, self._stream = table, tables, turns, stream
        self._actions = np.full(tables.num_envs, HOLD, np.int32)
        self._log_probs = np.empty(tables.num_envs, np.float32)
        self.returns = np.zeros((tables.num_envs, tables.seats))

    @property
    def active(self) -> Array:
        """The tables that are not over."""
        return np.flatnonzero(self.turns.actor >= 0)

    def until_turn_of(self, seat: int) -> None:
        """Let those move who have moved in this round already, unseen by the seat."""
        while len(rows := np.flatnonzero((self.turns.actor >= 0) & (self.turns.actor != seat))):
            self.draw(rows)

    def move(self, numbers: Array) -> None:
        """Play these moves, at the first tables."""
        self._actions[:] = HOLD
        self._actions[: len(numbers)] = numbers
        self._step()

    def play_on(self, depth: int | None, critic: Critic | None) -> None:
        """Let the network play all seats, until all games that moved are over or this many moves deep."""
        moved = self._actions != HOLD
        steps = 0
        while len(rows := np.flatnonzero((self.turns.actor >= 0) & moved)):
            if critic is not None and steps == depth:
                self._cut(rows, critic)
                return
            self.draw(rows)
            steps += 1

    def seen(self, rows: Array) -> Array:
        """What a critic sees of these tables, (rows, inputs) float32."""
        return np.concatenate((self.turns.observation[rows], self._tables.hidden()[rows]), axis=1)

    def draw(self, rows: Array) -> None:
        """Let the network move at these tables; where there is one legal move, without asking it."""
        turns, rows = self.turns, rows.astype(np.int32)
        self._actions[:] = HOLD
        mask = turns.mask[rows]
        free = mask.sum(axis=1, dtype=np.int32) > 1
        self._actions[rows] = mask.argmax(axis=1)
        rows = rows[free]
        if len(rows):
            logits = self._table.network.scores(turns.observation[rows])
            draw(logits, turns.mask, rows, self._stream, self._actions, self._log_probs)
        self._step()

    def _cut(self, rows: Array, critic: Critic) -> None:
        """Pay what the critic says: to the side of the seat to move, and the opposite to the other side."""
        value, side = critic(self.seen(rows)), self._tables.side[rows]
        own = side[np.arange(len(rows)), self.turns.actor[rows]]
        self.returns[rows] += np.where(side == own[:, None], value[:, None], -value[:, None])

    def _step(self) -> None:
        self.turns = self._tables.step(self._actions)
        self.returns += self.turns.rewards
