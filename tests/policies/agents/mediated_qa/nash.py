"""Nash equilibria of small games, as yardsticks: in pure strategies for any number of players, by supports for two."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.equilibrium import NormalForm
from parlour.training.learn.mediators.table import Floats

_SLACK = 1e-9

Profile = tuple[Floats, ...]
"""A mixture of each player."""


def product_of(profile: Profile) -> Floats:
    """Probabilities of joint actions when players draw apart from each other."""
    made = np.ones(())
    for part in profile:
        made = np.multiply.outer(made, part)
    return made


def pure_nash(game: NormalForm) -> list[tuple[int, ...]]:
    """All feasible joint actions from which nobody gains by a feasible deviation of its own."""
    possible = game.possible
    payoffs = np.where(possible, game.payoffs, -np.inf)
    best = possible.copy()
    for i in range(len(game.payoffs)):
        best &= payoffs[i] >= payoffs[i].max(axis=i, keepdims=True)
    return [tuple(map(int, place)) for place in np.argwhere(best)]


def support_enumeration(game: NormalForm) -> list[Profile]:
    """Equilibria of a two-player game, by all pairs of supports of equal size (Porter, Nudelman and Shoham 2008).

    In a game that is not degenerate these are all; otherwise some may be missing.

    Raises:
        ParlourError: The game has another number of players, or an infeasible joint action.
    """
    if len(game.payoffs) != 2 or not game.possible.all():
        raise ParlourError("support enumeration takes two players who can do everything; accepted: such a game")
    first, second = game.payoffs / game.scale
    rows, columns = game.shape
    profiles: list[Profile] = []
    for size in range(1, min(rows, columns) + 1):
        for own in combinations(range(rows), size):
            for other in combinations(range(columns), size):
                x = _indifferent(second.T, other, own)
                y = _indifferent(first, own, other)
                if x is not None and y is not None:
                    profiles.append((x, y))
    return profiles


def _indifferent(payoffs: Floats, deciding: tuple[int, ...], mixing: tuple[int, ...]) -> Floats | None:
    """A mixture over `mixing` against which all of `deciding` are best, or None. payoffs: (decider's, mixer's action)."""
    size = len(mixing)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size] = payoffs[np.ix_(deciding, mixing)]
    system[:size, size] = -1.0
    system[size, :size] = 1.0
    right = np.zeros(size + 1)
    right[size] = 1.0
    try:
        *weights, value = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return None
    if min(weights) <= _SLACK:
        return None
    mixture = np.zeros(payoffs.shape[1])
    mixture[list(mixing)] = weights
    return mixture if (payoffs @ mixture).max() <= value + _SLACK else None


def welfare(game: NormalForm, profile: Profile) -> float:
    """The sum of the expected payoffs."""
    return float((product_of(profile) * game.payoffs.sum(axis=0)).sum())
