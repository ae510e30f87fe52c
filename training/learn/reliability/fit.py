"""Reliabilities and the decay of evidence fitted to episodes: least log loss of trust at every judgement.

The chance of each hypothesis is the exponential of a sum of weights, so that the loss and its gradient are exact; it is
minimised by L-BFGS from weights of nothing, with a ridge. The decay rho is the one of a grid that judges best the episodes
that its weights were not fitted to (two halves, by their number).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from parlour.policies.agents.werewolf.gratr.evidence import WEIGHTS, Reliabilities, features, hypotheses
from parlour.training.learn.reliability.episodes import PlayedEpisode, TrustMoment
from parlour.training.measure.werewolf.trust_scores import Array
from scipy.optimize import minimize

_LEAST: Final = 1e-4
"""The least chance in the loss that is minimised."""
_NEVER: Final = -1e9


@dataclass(frozen=True)
class MomentArrays:
    """Moments as arrays, padded: M moments, H hypotheses, K targets."""

    features: Array
    """(M, H, WEIGHTS)"""
    closed: Array
    """(M, H): 0, or a weight that shuts a hypothesis out which is none."""
    wolf: Array
    """(M, H, K): whether the target is a werewolf under the hypothesis."""
    asked: Array
    """(M, K): 1 where there is such a target."""
    true: Array
    """(M, K): whether it is one."""

    def only(self, kept: Array) -> MomentArrays:
        """Some of the moments."""
        return MomentArrays(*(one[kept] for one in (self.features, self.closed, self.wolf, self.asked, self.true)))


def judged_moments(moments: Sequence[TrustMoment], rho: float) -> MomentArrays:
    """The moments with evidence that decays by rho."""
    rows = [_row(moment, rho) for moment in moments]
    deep, wide = max(len(found) for found, _, _ in rows), max(len(true) for _, _, true in rows)
    shape = (len(rows), deep)
    found = MomentArrays(
        np.zeros((*shape, WEIGHTS)),
        np.full(shape, _NEVER),
        np.zeros((*shape, wide)),
        np.zeros((len(rows), wide)),
        np.zeros((len(rows), wide)),
    )
    for m, (own, wolf, true) in enumerate(rows):
        (h, k) = wolf.shape
        found.features[m, :h], found.closed[m, :h], found.wolf[m, :h, :k] = own, 0.0, wolf
        found.asked[m, :k], found.true[m, :k] = 1.0, true
    return found


def _row(moment: TrustMoment, rho: float) -> tuple[Array, Array, Array]:
    table = hypotheses(len(moment.graph), moment.me, len(moment.wolves), dict(moment.known))
    found = features(table, moment.me, moment.graph, moment.heard(), rho)
    true = np.array([float(seat in moment.wolves) for seat in moment.targets])
    return found - found.mean(axis=0), table[:, list(moment.targets)].astype(float), true


def chances(weights: Array, of: MomentArrays) -> tuple[Array, Array]:
    """The chance of each hypothesis, (M, H), and of each target to be a werewolf, (M, K)."""
    logs = of.features @ weights + of.closed
    held = np.exp(logs - logs.max(axis=1, keepdims=True))
    held /= held.sum(axis=1, keepdims=True)
    return held, np.einsum("mh,mhk->mk", held, of.wolf)


def losses(weights: Array, of: MomentArrays) -> Array:
    """The mean log loss of each moment's judgements, shape (M,)."""
    chance = np.clip(chances(weights, of)[1], _LEAST, 1 - _LEAST)
    each = -np.log(np.where(of.true > 0, chance, 1 - chance)) * of.asked
    found: Array = each.sum(axis=1) / of.asked.sum(axis=1)
    return found


def loss(weights: Array, of: MomentArrays, ridge: float) -> tuple[float, Array]:
    """Mean log loss of all judgements with its ridge, and the gradient."""
    held, told = chances(weights, of)
    chance, many = np.clip(told, _LEAST, 1 - _LEAST), of.asked.sum()
    each = -np.log(np.where(of.true > 0, chance, 1 - chance)) * of.asked
    slope = (chance - of.true) / (chance * (1 - chance)) * of.asked
    pull = np.einsum("mk,mhk->mh", slope, of.wolf)
    pull = held * (pull - (held * pull).sum(axis=1, keepdims=True))
    gradient = np.tensordot(pull, of.features, axes=([0, 1], [0, 1])) / many
    return float(each.sum() / many + ridge * weights @ weights), gradient + 2 * ridge * weights


def fitted_weights(of: MomentArrays, ridge: float, start: Array | None = None) -> Array:
    """The weights of the least loss."""
    begun = np.zeros(WEIGHTS) if start is None else start
    found = minimize(loss, begun, (of, ridge), jac=True, method="L-BFGS-B", options={"maxiter": 120, "ftol": 1e-7})
    best: Array = found.x
    return best


@dataclass(frozen=True)
class Fit:
    """What was learned from episodes."""

    rho: float
    reliabilities: Reliabilities
    grid: tuple[tuple[float, float], ...]
    """Each rho with the log loss of episodes not fitted to."""
    left_out: tuple[float, ...]
    """With the chosen rho: log loss of each episode by the weights of the other half."""


def fit(episodes: Sequence[PlayedEpisode], rhos: Sequence[float], ridge: float) -> Fit:
    """Fit to episodes, of which there must be two or more with judgements."""
    moments = [moment for episode in episodes for moment in episode.moments]
    of = np.array([k for k, episode in enumerate(episodes) for _ in episode.moments])
    best: tuple[float, float, Array, Array] | None = None
    grid, start = [], None
    for rho in rhos:
        found = judged_moments(moments, rho)
        start = fitted_weights(found, ridge, start)
        by_moment = _left_out(found, of, ridge, start)
        by_episode = np.array([by_moment[of == k].mean() for k in np.unique(of)])
        grid.append((rho, round(float(by_episode.mean()), 6)))
        if best is None or by_episode.mean() < best[0]:
            best = (float(by_episode.mean()), rho, start, by_episode)
    assert best is not None
    return Fit(best[1], Reliabilities.of(best[2]), tuple(grid), tuple(float(x) for x in best[3]))


def _left_out(moments: MomentArrays, of: Array, ridge: float, start: Array) -> Array:
    by_moment = np.zeros(len(of))
    for half in (0, 1):
        other = of % 2 == half
        if other.any() and (~other).any():
            by_moment[other] = losses(fitted_weights(moments.only(~other), ridge, start), moments.only(other))
    return by_moment
