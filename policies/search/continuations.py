"""Continuations: games played on from states drawn by a posterior, with every move of a seat in the same deals.

What a cut continuation is worth says a critic: a small network that sees all roles, fitted to games of the network with itself. A
search that cuts its continuations plays these games before its first decision. The inputs are the features of the seat to move and the
role of each seat; the target is what that seat got in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import numpy as np
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.batch.players import HeuristicSeats
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import HOLD, Turns
from parlour.policies.network import forward
from parlour.policies.search.others import Array, DrawnFamily, Family, NetworkFamily, Others
from parlour.policies.search.posterior import Posterior, SearchTable

PRACTICE: Final = 8192
"""Games that are played for a critic."""
SHARE: Final = 1 / 8
"""Share of the decisions that are kept."""
LITERAL_DRAWS: Final = 64
"""How often the heuristic is asked what it does in the seat."""
_HIDDEN: Final = 64
_PASSES: Final = 6
_ROWS: Final = 256
_RATE: Final = 2e-3


@dataclass(frozen=True, eq=False)
class Critic:
    """A perceptron with one hidden layer."""

    first: Array
    """(inputs, hidden) float32."""
    bias: Array
    """(hidden,)."""
    last: Array
    """(hidden + 1,): weights of the hidden units, then the bias."""

    def __call__(self, seen: Array) -> Array:
        """What the seats to move will get, -1 to 1; float32 (rows,).

        Args:
            seen: (rows, inputs) float32.
        """
        layers = [(self.first.T, self.bias), (self.last[None, :-1], self.last[-1:])]
        value: Array = np.tanh(forward(layers, seen, "tanh")[:, 0])
        return value


def fitted(seen: Array, target: Array, rng: np.random.Generator) -> Critic:
    """The least squares, by Adam (Kingma and Ba 2015) in a few passes.

    Args:
        seen: (rows, inputs) float32.
        target: (rows,): -1 to 1.
        rng: First weights, and the order of the rows.
    """
    inputs = seen.shape[1]
    first = (rng.standard_normal((inputs, _HIDDEN)) / np.sqrt(inputs)).astype(np.float32)
    critic = Critic(first, np.zeros(_HIDDEN, np.float32), np.zeros(_HIDDEN + 1, np.float32))
    weights = (critic.first, critic.bias, critic.last)
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
    batches = max(1, len(seen) // _ROWS)
    for step in range(_PASSES * batches):
        if step % batches == 0:
            order = rng.permutation(len(seen))
        rows = order[step % batches :: batches]
        rate, t = _RATE * (1 - step / (_PASSES * batches)), step + 1
        gradients = _gradient(critic, seen[rows], target[rows])
        for w, gradient, (mean, square) in zip(weights, gradients, moments, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            w -= rate * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    return critic


def _gradient(critic: Critic, seen: Array, target: Array) -> tuple[Array, Array, Array]:
    """Of the mean of the squared errors, halved."""
    hidden = np.tanh(seen @ critic.first + critic.bias)
    value = np.tanh(hidden @ critic.last[:-1] + critic.last[-1])
    slope = (value - target) * (1 - value**2) / np.float32(len(seen))
    inner = slope[:, None] * critic.last[:-1] * (1 - hidden**2)
    return seen.T @ inner, inner.sum(axis=0), np.append(slope @ hidden, slope.sum())


@dataclass(frozen=True, eq=False)
class Continuations:
    """Plays on from the states of a posterior: the own seat with the network, each other seat as a family that is drawn for it."""

    table: SearchTable
    others: Others
    """Who may sit in the other seats."""
    known: Posterior
    """The posterior of the seat to move."""
    seat: int
    """Which seat that is."""
    depth: int | None = None
    """Moves after which a game is cut; None: all are played to the end."""
    critic: Critic | None = None
    """Values games that are cut."""

    def play(self, moves: Array, deals: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """The return of the seat after each of its moves, and who sat in the other seats.

        Deal k has the same history, the same families and the same streams of random numbers for all moves.

        Args:
            moves: (M,): numbers of legal moves, in the frame of the seat.
            deals: How many histories are drawn.
            rng: All chance.

        Returns:
            (M, deals) float: -1 to 1; and (deals, F) float: the share of the other seats that each family holds.
        """
        histories = np.sort(rng.choice(len(self.known.probability), deals, p=self.known.probability))
        seeds = rng.integers(0, 2**63, deals)
        count = len(moves) * deals
        tables = self.table.tables(count)
        at = np.arange(tables.num_envs) % deals  # beyond `count`: games that nobody looks at
        turns = tables.restore(self.known.states[histories[at]])
        seated = self.others.drawn(self.known.log_families[histories], self.seat, rng)
        of = seated[at]
        drawn, nature, players = (started(seeds.tolist(), stream)[at] for stream in range(3))
        tables.games.nature, tables.games.players = nature, players
        run = _Run(self.others.families, of, tables, turns, drawn)
        run.until_turn_of(self.seat)
        run.move(np.repeat(moves, deals))
        run.play_on(self.depth, self.critic)
        strangers = np.delete(seated, self.seat, axis=1)
        share: Array = (strangers[:, :, None] == np.arange(len(self.others.families))).mean(axis=1)
        return run.returns[:count, self.seat].reshape(len(moves), deals), share

    def strangers(self) -> float:
        """How many of the other seats are not of the searching network's family, as a share, given all moves."""
        own = self.others.chances_of_seats(self.known.log_families)[:, :, 0]
        return float(1 - self.known.probability @ np.delete(own, self.seat, axis=1).mean(axis=1))

    def literal_chances(self, rng: np.random.Generator) -> Array:
        """The shares of the moves that the heuristic takes in the seat, float (A,), in `LITERAL_DRAWS` draws."""
        tables = self.table.tables(LITERAL_DRAWS)
        histories = rng.choice(len(self.known.probability), tables.num_envs, p=self.known.probability)
        turns = tables.restore(self.known.states[histories])
        seeds = rng.integers(0, 2**63, tables.num_envs).tolist()
        tables.games.players = started(seeds, 2)
        everybody = np.zeros((tables.num_envs, tables.seats), np.int64)
        heuristic = DrawnFamily(HeuristicSeats())
        run = _Run((heuristic,), everybody, tables, turns, started(seeds, 3))
        run.until_turn_of(self.seat)
        chosen = np.zeros(tables.num_envs, np.int32)
        heuristic.play(tables, run.turns, np.arange(tables.num_envs), tables.games.players, chosen)
        chances: Array = np.bincount(chosen, minlength=tables.actions) / len(chosen)
        return chances


_CRITICS: Final[dict[str, Critic]] = {}
"""Checksum of a network and its table -> its critic: the seats of a table share it."""


def practised(table: SearchTable) -> Critic:
    """The critic of a network, from games with itself; always the same one."""
    network = table.network
    digest = sha256(repr((network.game, network.config, network.features, network.activation)).encode())
    for layer in network.layers:
        for array in layer:
            digest.update(array.tobytes())
    key = digest.hexdigest()
    if key not in _CRITICS:
        _CRITICS[key] = _from_practice(table)
    return _CRITICS[key]


def _from_practice(table: SearchTable) -> Critic:
    rng = np.random.default_rng(0)
    tables = table.tables(PRACTICE)
    everybody = np.zeros((tables.num_envs, tables.seats), np.int64)
    run = _Run((NetworkFamily(table.network),), everybody, tables, tables.reset(0), started(range(tables.num_envs), 2))
    kept: list[tuple[Array, Array, Array]] = []
    while len(rows := np.flatnonzero(run.turns.actor >= 0)):
        chosen = rows[rng.random(len(rows)) < SHARE]
        kept.append((chosen, run.turns.actor[chosen].copy(), run.seen(chosen)))
        run.draw(rows)
    games, actors, seen = (np.concatenate(part) for part in zip(*kept, strict=True))
    return fitted(seen, run.returns[games, actors].astype(np.float32), rng)


class _Run:
    """Array tables on their way to the end, with the number of a family for each seat, (B, n)."""

    def __init__(
        self, families: Sequence[Family], of: Array, tables: KernelTables, turns: Turns, stream: Array
    ) -> None:
        self._families, self._of, self._tables, self.turns, self._stream = families, of, tables, turns, stream
        self._actions = np.full(tables.num_envs, HOLD, np.int32)
        self.returns = np.zeros((tables.num_envs, tables.seats))

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
        """Let all seats play, until all games that moved are over or this many moves deep."""
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
        """Let the seats to move at these tables play; where there is one legal move, without asking them."""
        self._actions[:] = HOLD
        mask = self.turns.mask[rows]
        self._actions[rows] = mask.argmax(axis=1)
        rows = rows[mask.sum(axis=1, dtype=np.int32) > 1]
        family = self._of[rows, self.turns.actor[rows]]
        for number, player in enumerate(self._families):
            own = rows[family == number]
            if len(own):
                player.play(self._tables, self.turns, own, self._stream, self._actions)
        self._step()

    def _cut(self, rows: Array, critic: Critic) -> None:
        """Pay what the critic says: to the side of the seat to move, and the opposite to the other side."""
        value, side = critic(self.seen(rows)), self._tables.side[rows]
        own = side[np.arange(len(rows)), self.turns.actor[rows]]
        self.returns[rows] += np.where(side == own[:, None], value[:, None], -value[:, None])

    def _step(self) -> None:
        self.turns = self._tables.step(self._actions)
        self.returns += self.turns.rewards
