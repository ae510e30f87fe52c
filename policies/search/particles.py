"""The posterior of a seat in a game with too many hidden moves to list: games that fit what it has seen, drawn and weighed.

Many array games start from deals that the seat holds possible and play its rounds again. Moves that it knows are given, and weigh
the games by how likely the network makes them; hidden moves are drawn from the network, with more weight on those that lead to what
is known, and the weights are corrected for that (importance sampling). Games that do not fit are dropped, and the others multiplied
(a particle filter: Gordon, Salmond and Smith 1993). Rounds that are over are played once in a game.

`Deduction` is what a seat can conclude about the sides: the posterior for players of known kinds, which is exact where the histories
behind a View can be listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs.batch.tables import HOLD
from parlour.envs.core import Move, View
from parlour.policies.names import HEURISTIC, RANDOM
from parlour.policies.network import softmax
from parlour.policies.search.others import OWN, Array, Others, others_of
from parlour.policies.search.posterior import Posterior, SearchTable, UnknownHistoryError, posterior
from parlour.policies.trained import TrainedSeat

GAMES: Final = 256
"""Games that a searching seat follows."""
_ATTEMPTS: Final = 3
_LEAST: Final = -20.0
"""Games whose log-weight is so far below the largest are dropped."""
_PHASES: Final = 64  # more than any game has


@dataclass(frozen=True, eq=False)
class Cloud:
    """G games, and what they weigh."""

    states: Array
    """(G, bytes of a game)."""
    log_weight: Array
    """(G,) float64; minus infinity for games that do not fit."""
    log_families: Array
    """(G, n, F); see `Posterior`."""


class Particles:
    """Follows what one seat sees in one game.

    Args:
        table: The table.
        others: Who may sit in the other seats.
        games: How many games are followed; a power of two.
        dealt: How many are dealt, and followed until the first resampling; a power of two.
    """

    def __init__(self, table: SearchTable, others: Others, games: int = GAMES, dealt: int = GAMES) -> None:
        self._table, self._others, self._games, self._first = table, others, games, dealt
        self._rounds: list[Any] = []
        self._cloud: Cloud | None = None

    def posterior(self, view: View, rng: np.random.Generator) -> Posterior:
        """Weigh games that fit a View, each at the turn of its seat.

        Raises:
            UnknownHistoryError: No drawn game fits.
        """
        for _ in range(_ATTEMPTS):
            cloud = self._followed(view, rng)
            if cloud is not None:
                weight = np.exp(cloud.log_weight - cloud.log_weight.max())
                kept = np.flatnonzero(weight > 0)
                return Posterior(weight[kept] / weight[kept].sum(), cloud.states[kept], cloud.log_families[kept])
            self._cloud = None  # other deals, which fit all that is known of roles by now
        raise UnknownHistoryError(f"none of {self._first} drawn games fits; accepted: a game in which some do")

    # -- inside ------------------------------------------------------------------------------------------------

    def _followed(self, view: View, rng: np.random.Generator) -> Cloud | None:
        """The games at the turn of the seat; None if none fits. Those after the last round that is over are kept."""
        rounds = self._table.rounds.of(view)
        past = [round for round in rounds if round.closed]
        if self._cloud is None or past[: len(self._rounds)] != self._rounds:
            self._cloud, self._rounds = self._dealt(view, rng), []
        cloud: Cloud | None = self._cloud
        for round in rounds[len(self._rounds) :]:
            if cloud is None:
                return None
            if not round.once:
                cloud = spread(cloud, self._games, rng)
            cloud = _Replay(self._table, self._others, round, view, cloud).played(rng)
            if cloud is not None and round.closed:
                self._cloud = cloud
                self._rounds.append(round)
        return cloud

    def _dealt(self, view: View, rng: np.random.Generator) -> Cloud | None:
        """Games that begin with deals that fit; None if none is found."""
        tables, deals = self._table.tables(self._first), self._table.rounds.deals(view, self._first, rng)
        if not len(deals):
            return None
        tables.reset(int(rng.integers(2**63)))
        tables.deal(deals)
        families = np.zeros((self._first, tables.seats, len(self._others.families)))
        return Cloud(tables.state(), np.zeros(self._first), families)


class _Replay:
    """One round, played again in all games of a cloud."""

    def __init__(self, table: SearchTable, others: Others, key: Any, view: View, cloud: Cloud) -> None:
        self._table, self._others, self._one, self._view = table, others, key, view
        self._tables = table.tables(len(cloud.states))
        self._turns = self._tables.restore(cloud.states)
        self._log_weight, self._log_families = cloud.log_weight.copy(), cloud.log_families.copy()

    def played(self, rng: np.random.Generator) -> Cloud | None:
        """The games after it, or at the seat's turn in a round that is not over; None if none fits."""
        rows = self._active()
        while len(rows):
            self._turns = self._tables.step(self._actions(rows, rng))
            rows = np.flatnonzero([]) if self._one.once else self._active()
        self._log_weight[~self._table.rounds.fits(self._one, self._tables.games, self._view)] = -np.inf
        if not self._one.closed:
            others = self._turns.actor != self._view.seat
            self._log_weight[others | (self._turns.mask != self._table.mask(self._view)).any(axis=1)] = -np.inf
        if self._log_weight.max() == -np.inf:
            return None
        self._log_weight -= self._log_weight.max()
        self._log_weight[self._log_weight < _LEAST] = -np.inf
        return Cloud(self._tables.state(), self._log_weight, self._log_families)

    def _active(self) -> Array:
        """The games in which the round goes on, without those that wait for a move that the seat has not made."""
        on = self._table.rounds.goes_on(self._one, self._tables.games) & (self._log_weight > -np.inf)
        asked = np.flatnonzero(on & (self._turns.actor == self._view.seat))
        waits = asked[self._given(asked) == HOLD]
        on[waits] = False
        if self._one.closed:
            self._log_weight[waits] = -np.inf
        return np.flatnonzero(on)

    def _given(self, rows: Array) -> Array:
        """The moves of the seats to move that are known, int32 (m,); `HOLD` for hidden ones."""
        games, given = self._tables.games, np.full(len(rows), HOLD, np.int32)
        asked = games.actor[rows].astype(np.int64) * _PHASES + games.phase[rows]
        for key in np.unique(asked):
            seat, phase = divmod(int(key), _PHASES)
            move = self._table.rounds.given(self._one, seat, phase)
            if move is not None:
                given[asked == key] = self._table.frame.own[seat, self._table.number[Move(move.kind, move.args)]]
        return given

    def _actions(self, rows: Array, rng: np.random.Generator) -> Array:
        """What is played in all games; `HOLD` where nothing fits. Weights are brought up to date."""
        moves = self._given(rows)
        others = np.flatnonzero(self._turns.actor[rows] != self._view.seat)
        if len(others):
            moves[others] = self._of_others(rows[others], moves[others], rng)
        illegal = (moves == HOLD) | (self._turns.mask[rows, np.maximum(moves, 0)] == 0)
        self._log_weight[rows[illegal]], moves[illegal] = -np.inf, HOLD
        actions = np.full(self._tables.num_envs, HOLD, np.int32)
        actions[rows] = moves
        return actions

    def _of_others(self, rows: Array, moves: Array, rng: np.random.Generator) -> Array:
        """The moves of other seats, hidden ones drawn; weights, and what they tell of families, are brought up to date."""
        seats, at = self._turns.actor[rows], np.arange(len(rows))
        log_chances = self._others.log_chances(self._tables, self._turns, rows)
        with np.errstate(divide="ignore"):
            before = np.log(self._others.chances_of_seats(self._log_families[rows])[at, seats])
        likely = np.logaddexp.reduce(before.T[:, :, None] + log_chances, axis=0)
        hidden = np.flatnonzero(moves == HOLD)
        if len(hidden) and not self._one.once:
            leaning = likely[hidden].copy()
            self._table.rounds.lean(self._one, self._tables.games, rows[hidden], leaning)
            moves[hidden], drawn = _drawn(leaning, rng)
            self._log_weight[rows[hidden]] -= drawn
        self._log_weight[rows] += likely[at, moves]
        self._log_families[rows, seats] += log_chances[:, at, moves].T
        return moves


def _drawn(scores: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """A number of each row of scores (m, A), in proportion to their exponentials, and the logarithm of its probability."""
    share = softmax(scores)
    left = rng.random(len(scores))[:, None]
    chosen = np.minimum((share.cumsum(axis=1) <= left).sum(axis=1), share.shape[1] - 1)
    return chosen, np.log(share[np.arange(len(scores)), chosen])


def spread(cloud: Cloud, games: int, rng: np.random.Generator) -> Cloud:
    """Multiply likely games and drop unlikely ones where few carry the weight (systematic resampling).

    Games are drawn by the square root of their weights and keep the other half. Drawn by the whole weight, deals would be lost that
    later moves make likely.

    Args:
        cloud: The games.
        games: How many are drawn.
        rng: Draws them.
    """
    weight = np.exp(cloud.log_weight)
    weight /= weight.sum()
    if 1 / (weight**2).sum() >= len(weight) / 2:
        return cloud
    root = np.sqrt(weight)
    places = (np.arange(games) + rng.random()) / games
    rows = np.minimum(np.searchsorted(root.cumsum() / root.sum(), places), len(weight) - 1)
    return Cloud(cloud.states[rows], np.log(root[rows] / root.max()), cloud.log_families[rows])


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
