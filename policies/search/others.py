"""Who may sit in the other seats: families of players, each with the probabilities of its moves.

A network says its probabilities. A player over arrays that only draws moves is asked `DRAWS` times for the same decision, and the
shares of its answers stand for them. Before the game all other seats are of one family with the probability `together`, and otherwise
each of any, independently. Moves make each family more or less likely (Bayes' rule). A share `slip` of them is taken for random ones, so
that no move is impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.batch.drawing import draw
from parlour.envs.batch.players import BatchPlayer, HeuristicSeats
from parlour.envs.batch.tables import BatchTables, Turns
from parlour.envs.core import ParlourError
from parlour.policies.experts.catalogue import EXPERT, expert
from parlour.policies.names import HEURISTIC, LOGIC, RANDOM, ZOO
from parlour.policies.network import log_softmax, softmax
from parlour.policies.registry import settings_read
from parlour.policies.trained import TrainedSeat
from parlour.policies.zoo import policy as zoo

Array = np.ndarray[Any, Any]
OWN: Final = "own"
DRAWS: Final = 16
"""How often a player is asked for one decision."""


class Family(Protocol):
    """Players of one kind."""

    def chances(self, tables: BatchTables, turns: Turns, rows: Array) -> Array:
        """Probabilities of the actions of the seats to move at the tables `rows`, (m, A)."""

    def play(self, tables: BatchTables, turns: Turns, rows: Array, stream: Array, actions: Array) -> None:
        """Write to `actions`, (B,), what the seats to move at `rows` do; chance comes from `stream`, (B,), or the tables."""


@dataclass(frozen=True, eq=False)
class NetworkFamily:
    """A network with the features of the tables."""

    network: TrainedSeat

    def chances(self, tables: BatchTables, turns: Turns, rows: Array) -> Array:
        return np.exp(log_probs(self.network, turns.observation[rows], turns.mask[rows]))

    def play(self, tables: BatchTables, turns: Turns, rows: Array, stream: Array, actions: Array) -> None:
        logits = self.network.scores(turns.observation[rows])
        draw(logits, turns.mask, rows.astype(np.int32), stream, actions, np.empty(len(rows), np.float32))


@dataclass(frozen=True, eq=False)
class DrawnFamily:
    """A player that draws its moves."""

    player: BatchPlayer

    def chances(self, tables: BatchTables, turns: Turns, rows: Array) -> Array:
        chances, actions = np.zeros((len(rows), tables.actions)), np.zeros(tables.num_envs, np.int32)
        self.player.reset(tables, range(tables.num_envs))
        for _ in range(DRAWS):
            self.player.choose(turns, rows.astype(np.int32), actions)
            chances[np.arange(len(rows)), actions[rows]] += 1 / DRAWS
        return chances

    def play(self, tables: BatchTables, turns: Turns, rows: Array, stream: Array, actions: Array) -> None:
        self.player.reset(tables, range(tables.num_envs))
        self.player.choose(turns, rows.astype(np.int32), actions)


@dataclass(frozen=True, eq=False)
class RandomFamily:
    """Any legal move, each as likely as the others: whoever plays like none of the other families."""

    def chances(self, tables: BatchTables, turns: Turns, rows: Array) -> Array:
        mask = turns.mask[rows].astype(np.float64)
        uniform: Array = mask / mask.sum(axis=1, keepdims=True)
        return uniform

    def play(self, tables: BatchTables, turns: Turns, rows: Array, stream: Array, actions: Array) -> None:
        level = np.zeros((len(rows), tables.actions), np.float32)
        draw(level, turns.mask, rows.astype(np.int32), stream, actions, np.empty(len(rows), np.float32))


@dataclass(frozen=True, eq=False)
class Others:
    """The families of a table."""

    families: tuple[Family, ...]
    """The first one is the searching network, which plays the own seat."""
    prior: Array
    """(F,): how likely each is for another seat, before the game."""
    slip: float
    """Share of their moves that are taken for random ones, above 0."""
    together: float = 0.0
    """How likely it is, before the game, that all other seats are of one family."""

    def log_chances(self, tables: BatchTables, turns: Turns, rows: Array) -> Array:
        """Log-probabilities of the actions at some tables by each family, (F, m, A); minus infinity for those that are not legal."""
        uniform = RandomFamily().chances(tables, turns, rows)
        chances = np.zeros((len(self.families), *uniform.shape))
        for k, family in enumerate(self.families):
            if self.prior[k] > 0:
                chances[k] = family.chances(tables, turns, rows)
        with np.errstate(divide="ignore"):
            mixed: Array = np.log((1 - self.slip) * chances + self.slip * uniform)
        return mixed

    def log_weights(self, log_families: Array) -> Array:
        """How likely the moves of the other seats are in each history, as logarithms, float64 (H,).

        Args:
            log_families: (H, n, F): for each seat, how likely its moves are if it is of a family; 0 for the own seat.
        """
        one, apart = self._cases(log_families)
        weights: Array = np.logaddexp(one, apart)
        return weights

    def chances_of_seats(self, log_families: Array) -> Array:
        """Which family each other seat is of, given the moves of all in a history: probabilities, float64 (H, n, F)."""
        together = self._together(log_families)[:, None, None]
        of_all, of_each = softmax(self._one(log_families))[:, None], softmax(self._log_prior + log_families)
        chances: Array = together * of_all + (1 - together) * of_each
        return chances

    def drawn(self, log_families: Array, own: int, rng: np.random.Generator) -> Array:
        """A family for each seat of each history: int (H, n); the own seat is of the first.

        Args:
            log_families: See `log_weights`.
            own: The own seat.
            rng: All chance.
        """
        together = rng.random(len(log_families)) < self._together(log_families)
        scores = np.where(together[:, None, None], self._one(log_families)[:, None], self._log_prior + log_families)
        left = rng.random(scores.shape[:2])
        left[together] = left[together, :1]
        last = len(self.families) - 1
        chosen: Array = np.minimum((softmax(scores).cumsum(axis=2) <= left[:, :, None]).sum(axis=2), last)
        chosen[:, own] = 0
        return chosen

    @property
    def _log_prior(self) -> Array:
        with np.errstate(divide="ignore"):
            logs: Array = np.log(self.prior)
        return logs

    def _one(self, log_families: Array) -> Array:
        """Log-probabilities of a family and the moves of all others, if all are of it: (H, F)."""
        scores: Array = self._log_prior + log_families.sum(axis=1)
        return scores

    def _cases(self, log_families: Array) -> tuple[Array, Array]:
        """Log-probabilities of the moves of all others, and that they are of one family, (H,), or each of any, (H,)."""
        one = np.logaddexp.reduce(self._one(log_families), axis=1)
        apart = np.logaddexp.reduce(self._log_prior + log_families, axis=2).sum(axis=1)
        with np.errstate(divide="ignore"):
            return np.log(self.together) + one, np.log1p(-self.together) + apart

    def _together(self, log_families: Array) -> Array:
        """How likely it is in each history that all others are of one family, (H,)."""
        one, apart = self._cases(log_families)
        share: Array = np.exp(one - np.logaddexp(one, apart))
        return share


def log_probs(network: TrainedSeat, observation: Array, mask: Array) -> Array:
    """Log-probabilities of all actions, float64 (rows, A); minus infinity for those that are not legal."""
    return log_softmax(np.where(mask != 0, network.scores(observation), -np.inf).astype(np.float64))


def usual(network: TrainedSeat) -> tuple[str, ...]:
    """Who may sit at the network's table if nobody says it: other kinds of player only where `logic` plays."""
    return (OWN, HEURISTIC, LOGIC, RANDOM) if zoo.plays(network.game, network.config) else (OWN,)


def others_of(
    names: Sequence[str], network: TrainedSeat, slip: float, own_prior: float | None = None, together: float = 0.0
) -> Others:
    """The families of these names.

    Args:
        names: `own` for the searching network, `expert`, `heuristic`, `random`, a name of the zoo, or the file of a trained seat;
            `expert` and the zoo with a setting or without, such as `expert:style=selfplay`.
        network: The searching network.
        slip: See `Others`.
        own_prior: How likely the searching network is before the game, if others are possible; these share the rest equally.
            None: as likely as each other one.
        together: See `Others`.

    Raises:
        ParlourError: A name is not accepted, or a network has other features than the searching one.
    """
    others = [_family(name, network) for name in names if name != OWN]
    own = float(OWN in names)
    if own and others:
        own = 1 / (1 + len(others)) if own_prior is None else own_prior
    prior = np.array([own, *[(1 - own) / max(1, len(others))] * len(others)])
    return Others((NetworkFamily(network), *others), prior, slip, together)


def _family(name: str, network: TrainedSeat) -> Family:
    at = network.game, network.config
    plain = name.partition(":")[0]
    if name == HEURISTIC:
        return DrawnFamily(HeuristicSeats())
    if name == RANDOM:
        return RandomFamily()
    if plain in ZOO:
        zoo.check_table(*at)
        return DrawnFamily(zoo.kernel_seats(name))
    other = expert(*at, style=settings_read(name).style) if plain == EXPERT else TrainedSeat.load_for(name, *at)
    if other.features != network.features:
        raise ParlourError(
            f"{name!r} among others has the features {other.features}; accepted: {network.features}, as the network has"
        )
    return NetworkFamily(other)
