"""Answers to values: quantal response with a temperature and a floor, how to choose the two, and the logit equilibrium.

pi(a | s) = exp(Q(s, a) / tau) / sum over a' of exp(Q(s, a') / tau), tau in units of utility (Nguyen's GRACE, section
3.3, after McKelvey and Palfrey 1995). The floor is the published code's: p <- (1 - n eps) p + eps over the n actions that
are known in the state, then divided by the sum.

In the logit quantal response equilibrium every player answers the others' mixtures by softmax, all at once:
p_i(a) is proportional to exp(u_i(a, p_-i) / tau) for each player i. There may be several such points; found is the one on
the principal branch, which begins at uniform play for infinite tau and leads to a Nash equilibrium as tau goes to 0. The
branch is followed by its arc length with a predictor and Newton's corrector (after Turocy 2005), so that it may turn
back; in a symmetric game it stays symmetric where other branches part from it. Unknowns are the logarithms of all
probabilities, and lambda = scale / tau.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
from parlour.policies.agents.mediated_qa.equilibrium import NormalForm, Profile
from parlour.policies.agents.mediated_qa.joint import FALLBACK, key
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Thresholds
from parlour.training.learn.mediators.quantities import Shrinkage, UtilityEstimate, estimate, measure
from parlour.training.learn.mediators.table import Floats, UtilityTable

LOWEST_TEMPERATURE: Final = 1e-8
"""Lower temperatures count as this one, as in the published code."""
TEMPERATURES: Final = (50.0, 25.0, 12.0, 6.0, 3.0, 1.5, 0.7, 0.35, 0.1)
FLOORS: Final = (0.05, 0.02, 0.01, 0.005, 0.0)


def softmax(values: Floats, temperature: float) -> Floats:
    """Quantal response of each row; shape (..., actions). An action whose value is NaN gets 0.

    >>> softmax(np.array([1.0, 1.0, np.nan]), 0.7).tolist()
    [0.5, 0.5, 0.0]

    Raises:
        ParlourError: The temperature is no number from 0, or a row has no value.
    """
    check_temperature(temperature)
    known = ~np.isnan(values)
    if not known.any(axis=-1).all():
        raise ParlourError("a row without any value; accepted: at least one value in each row")
    filled = np.where(known, values, -np.inf)
    distance = filled - filled.max(axis=-1, keepdims=True)
    weight = np.exp(distance / max(temperature, LOWEST_TEMPERATURE))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def with_floor(p: Floats, known: NDArray[np.bool_], floor: float) -> Floats:
    """Raise each known action of each row to about `floor`; shape (..., actions).

    Raises:
        ParlourError: The floor is negative, or so high that it leaves nothing to learn.
    """
    actions = known.sum(axis=-1, keepdims=True)
    check_floor(floor, int(actions.max()))
    raised = np.where(known, (1 - actions * floor) * p + floor, 0.0)
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def respond(values: Floats, temperature: float, floor: float) -> Floats:
    """Quantal response with a floor; shape (..., actions). Raises `ParlourError` as its two steps do."""
    return with_floor(softmax(values, temperature), ~np.isnan(values), floor)


def policy(
    found: UtilityEstimate, temperature: float, floor: float, thresholds: Thresholds | None = None
) -> PolicyTable:
    """The policy of an estimate; a state or an action without a value is left out."""
    rows = {}
    for state, values in zip(found.states, found.value, strict=True):
        if not np.isnan(values).all():
            p = respond(values, temperature, floor)
            known = zip(found.actions, values.tolist(), p.tolist(), strict=True)
            rows[state] = {joint: one for joint, value, one in known if not math.isnan(value)}
    return PolicyTable(rows, thresholds or {}, temperature, floor)


def check_temperature(temperature: float) -> None:
    """Raise `ParlourError` unless it is a finite number from 0."""
    if not 0 <= temperature < math.inf:
        raise accept("temperature", temperature, "a number from 0, in units of utility")


def check_floor(floor: float, actions: int) -> None:
    """Raise `ParlourError` unless this number of actions can have at least that probability each."""
    if not floor >= 0 or not actions * floor < 1:
        raise ParlourError(
            f"floor {floor!r} is not accepted with {actions} actions: {actions} x {floor:g} = {actions * floor:g}; "
            f"accepted: from 0 to below {1 / actions:.6g}"
        )


# -- held-out utility ------------------------------------------------------------------------------------------


def earned(made: PolicyTable, table: UtilityTable) -> Floats:
    """Expected net utility of a policy on each question, shape (questions,).

    Actions that were not tried on a question are left out of its row there; the result is NaN where that leaves nothing.
    A state without a row gets the fallback action.
    """
    rows = {state: _probabilities(made, state, table) for state in set(table.states)}
    p = np.array([rows[state] for state in table.states])
    tried = ~np.isnan(table.utilities)
    weight = np.sum(np.where(tried, p, 0.0), axis=1)
    total = np.sum(np.where(tried, p * table.utilities, 0.0), axis=1)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def _probabilities(made: PolicyTable, state: str, table: UtilityTable) -> Floats:
    row = made.rows.get(state, {table.action_set.names_of(table.action_set.fallback): 1.0})
    return np.array([row.get(joint, 0.0) for joint in table.actions])


@dataclass(frozen=True)
class SettingScore:
    """One setting and what it earned on questions it had not seen."""

    temperature: float
    floor: float
    shrinkage: Shrinkage
    utility: float
    """Mean over the held-out questions."""
    n: int
    """Questions with a result."""


@dataclass(frozen=True)
class Choice:
    """The best setting, and all that were tried."""

    best: SettingScore
    scores: tuple[SettingScore, ...]


def cross_validate(
    table: UtilityTable,
    *,
    temperatures: tuple[float, ...] = TEMPERATURES,
    floors: tuple[float, ...] = FLOORS,
    shrinkages: tuple[Shrinkage, ...] = (0.0,),
    folds: int = 5,
    seed: int = 0,
) -> Choice:
    """Choose temperature, floor and shrinkage by net utility on held-out questions; of equals the first.

    Rows of the same question are held out together. Floors too high for the table's number of actions are left out.

    Raises:
        ParlourError: There are fewer than two questions, or none of the settings can be used.
    """
    floors = tuple(floor for floor in floors if floor * len(table.actions) < 1)
    held_out: dict[tuple[Shrinkage, float, float], list[Floats]] = {
        setting: [] for setting in product(shrinkages, temperatures, floors)
    }
    if not held_out:
        raise ParlourError(f"none of the floors can be used with {len(table.actions)} actions; accepted: lower ones")
    for train, test in _folds(table, folds, seed):
        measured = measure(train)
        estimates = {shrinkage: estimate(measured, shrinkage) for shrinkage in shrinkages}
        for (shrinkage, temperature, floor), parts in held_out.items():
            parts.append(earned(policy(estimates[shrinkage], temperature, floor), test))
    scores = tuple(
        _score(temperature, floor, shrinkage, np.concatenate(parts))
        for (shrinkage, temperature, floor), parts in held_out.items()
    )
    best = max(scores, key=lambda score: -math.inf if math.isnan(score.utility) else score.utility)
    if math.isnan(best.utility):
        raise ParlourError(f"no held-out question tells of any policy (the fallback {key(FALLBACK)} was not tried)")
    return Choice(best, scores)


def _score(temperature: float, floor: float, shrinkage: Shrinkage, found: Floats) -> SettingScore:
    told = found[~np.isnan(found)]
    return SettingScore(temperature, floor, shrinkage, float(told.mean()) if len(told) else math.nan, len(told))


def _folds(table: UtilityTable, folds: int, seed: int) -> list[tuple[UtilityTable, UtilityTable]]:
    """(learned from, held out), with the questions dealt out at random; parts without any utility are left out."""
    names = list(dict.fromkeys(table.ids))
    if len(names) < 2 or folds < 2:
        raise ParlourError(
            f"cross-validation over {len(names)} questions in {folds} folds is not accepted; accepted: two or more of "
            "both (or give temperature and floor)"
        )
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: k % folds for k, place in enumerate(order.tolist())}
    fold = np.array([fold_of[name] for name in table.ids])
    told = ~np.isnan(table.utilities).all(axis=1)
    parts = [(np.flatnonzero((fold != k) & told), np.flatnonzero((fold == k) & told)) for k in range(folds)]
    return [(table.rows(train), table.rows(test)) for train, test in parts if len(train) and len(test)]


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
