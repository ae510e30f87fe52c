"""Answers to values: quantal response with a temperature and a floor, and how to choose the two.

pi(a | s) = exp(Q(s, a) / tau) / sum over a' of exp(Q(s, a') / tau), tau in units of utility (Nguyen's GRACE, section
3.3, after McKelvey and Palfrey 1995). The floor is the published code's: p <- (1 - n eps) p + eps over the n actions that
are known in the state, then divided by the sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
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
    estimated: UtilityEstimate, temperature: float, floor: float, thresholds: Thresholds | None = None
) -> PolicyTable:
    """The policy of an estimate; a state or an action without a value is left out."""
    rows = {}
    for state, values in zip(estimated.states, estimated.value, strict=True):
        if not np.isnan(values).all():
            p = respond(values, temperature, floor)
            known = zip(estimated.actions, values.tolist(), p.tolist(), strict=True)
            rows[state] = {joint: number for joint, value, number in known if not math.isnan(value)}
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
        raise ParlourError(f"no held-out question evaluates any policy (the fallback {key(FALLBACK)} was not tried)")
    return Choice(best, scores)


def _score(temperature: float, floor: float, shrinkage: Shrinkage, scores: Floats) -> SettingScore:
    known = scores[~np.isnan(scores)]
    return SettingScore(temperature, floor, shrinkage, float(known.mean()) if len(known) else math.nan, len(known))


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
    rows = ~np.isnan(table.utilities).all(axis=1)
    parts = [(np.flatnonzero((fold != k) & rows), np.flatnonzero((fold == k) & rows)) for k in range(folds)]
    return [(table.rows(train), table.rows(test)) for train, test in parts if len(train) and len(test)]
