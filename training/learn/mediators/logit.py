"""The logit quantal response equilibrium: every player answers the others' mixtures by softmax, all at once.

p_i(a) is proportional to exp(u_i(a, p_-i) / tau) for each player i (McKelvey and Palfrey 1995). There may be several
such points; found is the one on the principal branch, which begins at uniform play for infinite tau and leads to a Nash
equilibrium as tau goes to 0. The branch is followed by its arc length with a predictor and Newton's corrector (after
Turocy 2005), so that it may turn back; in a symmetric game it stays symmetric where other branches part from it. Unknowns
are the logarithms of all probabilities, and lambda = scale / tau.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.policies.agents.mediated_qa.equilibrium import NormalForm, Profile
from parlour.training.learn.mediators.table import Floats

LOGIT_TOLERANCE: Final = 1e-10
"""How far a probability may be from the response to the others."""
_FIRST_STEP: Final = 0.05
_SMALLEST_STEP: Final = 1e-10
_GROWTH: Final = 1.5
_ITERATIONS: Final = 6
_STEPS: Final = 20_000
_TURN: Final = 0.998
"""Least cosine between the tangents at the ends of a step; a lower one might lead to another branch."""
_ASIDE: Final = 0.05
"""Greatest correction, as a part of the step."""


@dataclass(frozen=True, eq=False)
class LogitEquilibrium:
    """A fixed point."""

    profile: Profile
    temperature: float
    error: float
    """Greatest difference between a probability and the response."""


def logit(game: NormalForm, temperature: float) -> LogitEquilibrium:
    """The logit equilibrium on the principal branch where it first reaches a temperature.

    Args:
        game: Every joint action must be feasible (see `NormalForm.completed`): players who draw apart reach all.
        temperature: Above 0, in units of the payoffs.

    Raises:
        ParlourError: The game or the temperature cannot be used, or the temperature is too low for double precision.
    """
    if not game.possible.all():
        raise ParlourError(
            "a logit equilibrium needs a payoff for every joint action; accepted: game.completed(payoff)"
        )
    if not 0 < temperature < np.inf:
        raise accept("temperature", temperature, "a number above 0, in units of the payoffs")
    branch = _Branch(game)
    target = game.scale / temperature
    logs = branch.follow(target)
    profile = tuple(np.exp(part) / np.exp(part).sum() for part in branch.split(logs))
    error = branch.error(profile, target)
    if not error <= LOGIT_TOLERANCE:
        lowest = f"a higher temperature (the payoffs range over {game.scale:.3g})"
        raise ParlourError(f"temperature {temperature!r} was reached to {error:.1g} only; accepted: {lowest}")
    return LogitEquilibrium(profile, temperature, error)


class _Branch:
    """The curve H(log p, lambda) = 0, with payoffs scaled to a range of 1."""

    def __init__(self, game: NormalForm) -> None:
        own_axes = tuple(range(1, game.players + 1))
        self.payoffs = (game.payoffs - game.payoffs.min(axis=own_axes, keepdims=True)) / game.scale
        self.sizes = game.shape
        self.ends = np.cumsum(self.sizes)

    def split(self, logs: Floats) -> list[Floats]:
        return np.split(logs, self.ends[:-1])

    def error(self, profile: Profile, strength: float) -> float:
        worst = 0.0
        for i, p in enumerate(profile):
            value = strength * self.values(profile, i)
            response = np.exp(value - value.max())
            worst = max(worst, float(np.abs(p - response / response.sum()).max()))
        return worst

    def values(self, profile: Profile | list[Floats], *of: int) -> Floats:
        """Expected payoffs of player of[0] by the actions of these players, in that order."""
        found = self.payoffs[of[0]]
        for other in reversed(range(len(self.sizes))):
            if other not in of:
                found = np.tensordot(found, profile[other], axes=(other, 0))
        return np.asarray(found if list(of) == sorted(of) else found.T)

    def residual(self, logs: Floats, strength: float) -> Floats:
        profile = [np.exp(part) for part in self.split(logs)]
        parts = []
        for i, own in enumerate(self.split(logs)):
            value = self.values(profile, i)
            parts += [own[1:] - own[0] - strength * (value[1:] - value[0]), [np.logaddexp.reduce(own)]]
        return np.concatenate(parts)

    def jacobian(self, logs: Floats, strength: float) -> Floats:
        """Derivatives by all logarithms, and by lambda in the last column."""
        profile = [np.exp(part) for part in self.split(logs)]
        size = len(logs)
        found = np.zeros((size, size + 1))
        starts = self.ends - self.sizes
        for i, (start, end) in enumerate(zip(starts, self.ends, strict=True)):
            rows, value = slice(start, end - 1), self.values(profile, i)
            found[rows, start] = -1.0
            found[np.arange(start, end - 1), np.arange(start + 1, end)] = 1.0
            found[rows, size] = -(value[1:] - value[0])
            found[end - 1, start:end] = profile[i] / profile[i].sum()
            for k in range(len(self.sizes)):
                if k != i:
                    slope = self.values(profile, i, k) * profile[k]
                    found[rows, starts[k] : self.ends[k]] = -strength * (slope[1:] - slope[0])
        return found

    def follow(self, target: float) -> Floats:
        """The logarithms at the first point with this lambda."""
        logs = np.concatenate([np.full(size, -np.log(size)) for size in self.sizes])
        here, step = np.append(logs, 0.0), _FIRST_STEP
        ahead = np.zeros(len(here))
        ahead[-1] = 1.0
        tangent = self.tangent(here, ahead)
        for _ in range(_STEPS):
            guess = here + step * tangent
            there = self.corrected(guess, tangent)
            near = there is not None and np.linalg.norm(there - guess) <= _ASIDE * step
            turned = self.tangent(there, tangent) if there is not None and near else None
            if there is None or turned is None or turned @ tangent < _TURN:
                step /= 2
                if step < _SMALLEST_STEP:
                    break
                continue
            if there[-1] >= target:
                return self.landed(here, there, target)
            here, tangent, step = there, turned, step * _GROWTH
        raise ParlourError(
            f"the branch of logit equilibria was lost at lambda {here[-1]:.4g}; accepted: a higher temperature"
        )

    def tangent(self, point: Floats, before: Floats) -> Floats:
        """Unit tangent, to the same side as the one before."""
        jacobian = self.jacobian(point[:-1], point[-1])
        found = np.linalg.qr(jacobian.T, mode="complete")[0][:, -1]
        return found if found @ before >= 0 else -found

    def corrected(self, guess: Floats, normal: Floats) -> Floats | None:
        """The point of the curve in the plane through the guess; None if Newton's method does not get there."""
        point = guess.copy()
        for _ in range(_ITERATIONS):
            residual = np.append(self.residual(point[:-1], point[-1]), normal @ (point - guess))
            if np.abs(residual).max() <= 1e-11 * (1 + abs(point[-1])):
                return point
            matrix = np.vstack([self.jacobian(point[:-1], point[-1]), normal])
            try:
                point = point - np.linalg.solve(matrix, residual)
            except np.linalg.LinAlgError:
                return None
            if not np.isfinite(point).all() or (point[:-1] > 1).any():
                return None
        return None

    def landed(self, here: Floats, there: Floats, target: float) -> Floats:
        """Newton's method at a fixed lambda from the chord between two points, each step halved until it helps."""
        share = (target - here[-1]) / (there[-1] - here[-1])
        logs: Floats = (here + share * (there - here))[:-1]
        size = np.abs(self.residual(logs, target)).max()
        for _ in range(60):
            change = np.linalg.lstsq(self.jacobian(logs, target)[:, :-1], self.residual(logs, target), rcond=None)[0]
            for damping in 0.5 ** np.arange(20):
                trial = logs - damping * change
                found = np.abs(self.residual(trial, target)).max() if (trial < 1).all() else np.inf
                if found < size:
                    break
            else:
                return logs
            logs, size = trial, found
        return logs
