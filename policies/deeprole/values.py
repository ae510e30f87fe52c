"""Value networks: the probability that good wins in each of the 60 deals, from the public belief over them.

There is one network for each number of successes, fails and rejections. Seat 0 leads; the leaves of a solve have another leader, so
there the weights are turned once instead of every belief.

`solve` is CFR+ from one proposal to the leaves after it, for a public belief over the deals. A leaf is the next proposal, valued by a
network; a lost game; or the Assassin's guess. See `kernels.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.avalon.presets import PROPOSALS, QUESTS_TO_WIN
from parlour.policies.array_files import layer_arrays, read_arrays, write_arrays
from parlour.policies.deeprole import kernels
from parlour.policies.deeprole.deals import APPROVED, DEALS, SAME_EVIL, SEATS, TEAMS, VIEW, VIEWS, Array, turned
from parlour.policies.files import reading

Values = Callable[[Array], Array]
"""Beliefs (B, 60) -> probabilities that good wins (B, 60), float32."""
evil_wins: Final[Values] = np.zeros_like
"""Zeros: (B, 60) -> (B, 60)."""
_EVERY: Final = 2
"""Leaves are valued again after so many iterations; at the beginning after each."""
_BEGINNING: Final = 8
_LEVEL: Final = np.float32(1 - 1e-5)
"""Beliefs in Merlin this close are level: the Assassin names each as often."""


class Leaves(NamedTuple):
    """The values after a proposal; beliefs are in the frame of its leader."""

    rejected: Values
    succeeded: Values
    failed: Values


@dataclass(frozen=True, eq=False)
class Solution:
    """Average strategies by view, without the tremble; seats count from the leader."""

    teams: Array
    """(15, 10): the leader's probability of each team."""
    approvals: Array
    """(10, 5, 15): probability that a seat approves of a team."""
    fails: Array
    """(10, 16, size, 15): probability that a member fails, by the votes that carried the team."""
    values: Array
    """(60,): probability that good wins in each deal."""


def guess(beliefs: Array) -> Array:
    """After three successes the Assassin names the likeliest Merlin: (B, 60) -> (B, 60)."""
    groups = beliefs[:, SAME_EVIL]
    named = groups >= groups.max(axis=2, keepdims=True) * _LEVEL
    values = np.empty_like(beliefs)
    values[:, SAME_EVIL] = 1 - named / named.sum(axis=2, keepdims=True)
    return values


class _Proposal:
    """Regrets, strategies and averages of one proposal: of teams, votes and cards."""

    def __init__(self, belief: Array, size: int, leaves: Leaves) -> None:
        teams, votes, deals = len(TEAMS[size]), len(APPROVED), len(DEALS)
        shapes = (VIEWS, teams), (teams, SEATS, VIEWS), (teams, votes, size, VIEWS)
        self.belief, self.teams, self.leaves = np.ascontiguousarray(belief, np.float32), TEAMS[size], leaves
        self.strategies = tuple(_zeros(*shape) for shape in shapes)
        self.regrets, self.averages = (
            (_zeros(*shapes[0]), *(_zeros(*shape, 2) for shape in shapes[1:])) for _ in range(2)
        )
        self.beliefs = _zeros(teams, votes, deals), _zeros(teams, votes, deals), _zeros(teams, votes, 2, deals)
        self.won = tuple(map(np.zeros_like, self.beliefs))
        self.by_team = _zeros(teams, deals)

    def iterate(self, share: float, *, anew: bool) -> Array:
        """One iteration, which counts as `share` in the averages. Returns the values (60,) by the current strategies."""
        kernels.spread(self.belief, self.teams, self.regrets, self.strategies, *self.beliefs)
        if anew:
            self.won = tuple(
                value(beliefs.reshape(-1, len(DEALS))).reshape(beliefs.shape)
                for value, beliefs in zip(self.leaves, self.beliefs, strict=True)
            )
        weight = np.float32(share)
        kernels.gather(
            *(self.belief, self.teams, self.regrets, self.strategies, self.averages, weight, *self.won, self.by_team)
        )
        values: Array = (self.strategies[0][VIEW[0]].T * self.by_team).sum(axis=0)
        return values


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def solve(belief: Array, size: int, leaves: Leaves, iterations: int) -> Solution:
    """Solve a proposal.

    Args:
        belief: (60,), sums to 1; seat 0 leads.
        size: Members of a team, 2 or 3.
        leaves: What follows.
        iterations: How many; those after the first third count, in proportion to how late they are.
    """
    proposal, delay = _Proposal(belief, size, leaves), iterations // 3
    values, total = np.zeros(len(DEALS)), 0
    for at in range(1, iterations + 1):
        share = max(0, at - delay)
        values += share * proposal.iterate(share, anew=at <= _BEGINNING or at % _EVERY == 0)
        total += share
    teams, votes, cards = proposal.averages
    return Solution(
        _steady(teams / teams.sum(axis=1, keepdims=True), teams.shape[1]),
        _steady(votes[..., 1] / votes[..., 0], 2),
        _steady(cards[..., 1] / np.maximum(cards[..., 0], np.finfo(np.float32).tiny), 2),
        values / total,
    )


def mixed(probability: Array, slip: float, moves: int) -> Array:
    """Probabilities mixed with even play over so many moves; `slip` is its share."""
    with_slip: Array = (1 - slip) * probability + slip / moves
    return with_slip


def by_number_of_fails(fails: Iterable[Array], most: int) -> Array:
    """Probabilities of 0 to `most` fails, (most + 1, ...), from the members' own probabilities of a fail, each (...)."""
    cards = list(fails)
    out = np.zeros((most + 1, *cards[0].shape))
    out[0] = 1
    for p in cards:
        out[1:] = out[1:] * (1 - p) + out[:-1] * p
        out[0] *= 1 - p
    return out


def _steady(probability: Array, moves: int) -> Array:
    """Probabilities without the tremble that every iteration's strategy has."""
    steady: Array = np.clip((probability - kernels.TREMBLE / moves) / (1 - kernels.TREMBLE), 0, 1)
    return steady


_META: Final = "parlour_deeprole"
_SCALE: Final = np.float32(10)
"""What beliefs are multiplied by before the first layer."""
_STEEPEST: Final = np.float32(30)


class Standing(NamedTuple):
    """Which network values a proposal."""

    successes: int
    fails: int
    rejections: int
    """Proposals of this quest that were rejected."""

    @property
    def name(self) -> str:
        """In files: `2-1-0`."""
        return "-".join(map(str, self))


STANDINGS: Final = tuple(
    Standing(good, quests - good, rejections)
    for quests in range(2 * QUESTS_TO_WIN - 2, -1, -1)
    for good in range(QUESTS_TO_WIN)
    if 0 <= quests - good < QUESTS_TO_WIN
    for rejections in range(PROPOSALS - 1, -1, -1)
)
"""From the end of the game to its beginning: leaves of a standing come before it."""


@dataclass(frozen=True, eq=False)
class ValueNetwork:
    """Two hidden layers of rectified units, then the logistic function."""

    layers: tuple[tuple[Array, Array], ...]
    """(weights of shape (in, out), bias of shape (out,)), float32."""

    def __call__(self, beliefs: Array) -> Array:
        """Probabilities that good wins: (B, 60) -> (B, 60)."""
        hidden = beliefs * _SCALE
        for weights, bias in self.layers[:-1]:
            hidden = np.maximum(hidden @ weights + bias, np.float32(0))
        weights, bias = self.layers[-1]
        logits = np.clip(hidden @ weights + bias, -_STEEPEST, _STEEPEST)
        values: Array = np.float32(1) / (np.float32(1) + np.exp(-logits))
        return values

    def for_next_leader(self) -> ValueNetwork:
        """The same network for beliefs in the frame of the seat before the leader."""
        (first, bias), *between, (last, last_bias) = self.layers
        to = turned(1)
        weights, out, out_bias = np.empty_like(first), np.empty_like(last), np.empty_like(last_bias)
        weights[to], out[:, to], out_bias[to] = first, last, last_bias
        return ValueNetwork(((weights, bias), *between, (out, out_bias)))


@dataclass(frozen=True, eq=False)
class ValueNetworks:
    """The networks that there are."""

    networks: Mapping[Standing, ValueNetwork]
    told: Mapping[str, Any] = field(default_factory=dict)
    """What they were learned with, as plain values."""
    _next: dict[Standing, ValueNetwork] = field(default_factory=dict)

    def leaves(self, at: Standing) -> Leaves:
        """What follows a proposal: another one, a scored quest, or the end."""
        good, evil, rejections = at
        last = rejections == PROPOSALS - 1
        return Leaves(
            rejected=evil_wins if last else self._after(Standing(good, evil, rejections + 1)),
            succeeded=guess if good == QUESTS_TO_WIN - 1 else self._after(Standing(good + 1, evil, 0)),
            failed=evil_wins if evil == QUESTS_TO_WIN - 1 else self._after(Standing(good, evil + 1, 0)),
        )

    def _after(self, at: Standing) -> Values:
        if at not in self._next:
            self._next[at] = self.networks[at].for_next_leader()
        return self._next[at]

    def save(self, path: str | Path) -> None:
        """Write them to a file."""
        arrays: dict[str, Any] = {}
        for at, network in self.networks.items():
            arrays |= layer_arrays(network.layers, f"{at.name}.")
        meta = {"standings": [list(at) for at in self.networks], "layers": 3, "told": dict(self.told)}
        write_arrays(path, _META, meta, arrays)

    @classmethod
    def load(cls, path: str | Path) -> ValueNetworks:
        """Read networks. Raises `ParlourError` for a file that holds none."""
        unusable = "holds no value networks; accepted: a deeprole.npz of `train deeprole`"
        with reading(path, "policy file", unusable):
            meta, arrays = read_arrays(path, _META)
            networks = {
                at: _network(at, meta["layers"], arrays) for at in (Standing(*counts) for counts in meta["standings"])
            }
            return cls(networks, dict(meta["told"]))


def _network(at: Standing, layers: int, arrays: Mapping[str, Array]) -> ValueNetwork:
    """One network of a file. Raises ValueError for arrays that do not fit."""
    arrays_of_layers = tuple(
        (arrays[f"{at.name}.w{k}"].astype(np.float32), arrays[f"{at.name}.b{k}"].astype(np.float32))
        for k in range(layers)
    )
    inputs = len(DEALS)
    for weights, bias in arrays_of_layers:
        if weights.shape != (inputs, len(bias)) or not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise ValueError("weights")
        inputs = len(bias)
    if inputs != len(DEALS):
        raise ValueError("outputs")
    return ValueNetwork(arrays_of_layers)
