"""CFR+ from one proposal to the leaves after it, for a public belief over the deals.

A leaf is the next proposal, valued by a network; a lost game; or the Assassin's guess. See `kernels.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from parlour_deeprole import kernels
from parlour_deeprole.deals import APPROVED, DEALS, SAME_EVIL, SEATS, TEAMS, VIEW, VIEWS, Array

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
