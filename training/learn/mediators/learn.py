"""From a simulation table to a policy: settings, values, probabilities, and what they leave to be gained by disobeying.

Values become probabilities by quantal response with a temperature and a floor:
pi(a | s) = exp(Q(s, a) / tau) / sum over a' of exp(Q(s, a') / tau), tau in units of utility (Nguyen's GRACE, section
3.3, after McKelvey and Palfrey 1995). The floor is the published code's: p <- (1 - n eps) p + eps over the n actions that
are known in the state, then divided by the sum (decisions 2.5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.envs.settings import COMMON, SPARSE, Settings
from parlour.policies.agents.mediated_qa import equilibrium
from parlour.policies.agents.mediated_qa.joint import FALLBACK, STATES, key
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Thresholds
from parlour.policies.network import softmax
from parlour.training.learn.mediators.quantities import (
    Quantities,
    Shrinkage,
    UtilityEstimate,
    estimate,
    measure,
)
from parlour.training.learn.mediators.table import Floats, UtilityTable
from pydantic import Field, model_validator

LOWEST_TEMPERATURE: Final = 1e-8
"""Lower temperatures count as this one, as in the published code."""
Rows = NDArray[np.intp]
TEMPERATURES: Final = (50.0, 25.0, 12.0, 6.0, 3.0, 1.5, 0.7, 0.35, 0.1)
FLOORS: Final = (0.05, 0.02, 0.01, 0.005, 0.0)


def quantal_response(values: Floats, temperature: float) -> Floats:
    """Softmax of each row; shape (..., actions). An action whose value is NaN gets 0.

    >>> quantal_response(np.array([1.0, 1.0, np.nan]), 0.7).tolist()
    [0.5, 0.5, 0.0]

    Raises:
        ParlourError: The temperature is no number from 0, or a row has no value.
    """
    if not 0 <= temperature < math.inf:
        raise accept("temperature", temperature, "a number from 0, in units of utility")
    known = ~np.isnan(values)
    if not known.any(axis=-1).all():
        raise ParlourError("a row without any value; accepted: at least one value in each row")
    filled = np.where(known, values, -np.inf)
    distance = filled - filled.max(axis=-1, keepdims=True)
    return softmax(distance / max(temperature, LOWEST_TEMPERATURE))


def respond(values: Floats, temperature: float, floor: float) -> Floats:
    """Quantal response with each known action of each row raised to about `floor`; shape (..., actions).

    Raises:
        ParlourError: As `quantal_response`; or the floor is negative, or so high that it leaves nothing to learn.
    """
    p, known = quantal_response(values, temperature), ~np.isnan(values)
    actions = known.sum(axis=-1, keepdims=True)
    check_floor(floor, int(actions.max()))
    raised = np.where(known, (1 - actions * floor) * p + floor, 0.0)
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def policy(
    estimated: UtilityEstimate, temperature: float, floor: float, thresholds: Thresholds | None = None
) -> PolicyTable:
    """The policy of an estimate; a state or an action without a value is left out."""
    rows = {}
    for state, known in estimated.known.items():
        p = respond(estimated.value[estimated.states.index(state)], temperature, floor)
        rows[state] = {joint: x for joint, x in zip(estimated.actions, p.tolist(), strict=True) if joint in known}
    return PolicyTable(rows, thresholds or {}, temperature, floor)


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
    fallback = {table.action_set.names_of(table.action_set.fallback): 1.0}
    by_state = {state: made.rows.get(state, fallback) for state in table.states}
    rows = {state: [row.get(joint, 0.0) for joint in table.actions] for state, row in by_state.items()}
    p = np.array([rows[state] for state in table.states])
    tried = ~np.isnan(table.utilities)
    weight = np.sum(np.where(tried, p, 0.0), axis=1)
    total = np.sum(np.where(tried, p * table.utilities, 0.0), axis=1)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def cross_validate(
    table: UtilityTable,
    *,
    temperatures: tuple[float, ...] = TEMPERATURES,
    floors: tuple[float, ...] = FLOORS,
    shrinkages: tuple[Shrinkage, ...] = (0.0,),
    folds: int = 5,
    seed: int = 0,
) -> ChosenSettings:
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
    for kept, left_out in parts_of(table, folds, seed):
        measured, test = measure(table.rows(kept)), table.rows(left_out)
        estimates = {shrinkage: estimate(measured, shrinkage) for shrinkage in shrinkages}
        for (shrinkage, temperature, floor), parts in held_out.items():
            parts.append(earned(policy(estimates[shrinkage], temperature, floor), test))
    utilities = {setting: np.concatenate(parts) for setting, parts in held_out.items()}
    means = {setting: known.mean() for setting, u in utilities.items() if len(known := u[~np.isnan(u)])}
    if not means:
        raise ParlourError(f"no held-out question evaluates any policy (the fallback {key(FALLBACK)} was not tried)")
    shrinkage, temperature, floor = best = max(means, key=means.__getitem__)
    return ChosenSettings(temperature, floor, shrinkage, float(means[best]))


def parts_of(table: UtilityTable, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Rows to learn from and rows that are left out, with the questions dealt out at random; a part without any utility is dropped."""
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
    return [(kept, left_out) for kept, left_out in parts if len(kept) and len(left_out)]


class GraceConfig(Settings):
    """Everything that decides a run, the table aside; stored with it.

    Raises:
        ParlourError: A setting is not accepted, or does not go with another.
    """

    method: Annotated[Literal["quantal", "correlated"], COMMON] = "quantal"
    """How values become probabilities: `quantal`, the paper's quantal response over joint actions; `correlated`, the best
    correlated equilibrium of the modules."""
    temperature: float | None = Field(default=None, ge=0)
    """Temperature in units of utility; None: by cross-validation (quantal only)."""
    floor: float | None = Field(default=None, ge=0, lt=1)
    """Least probability of a known action; None: by cross-validation (quantal only)."""
    shrinkage: Shrinkage = 0.0
    """Shrinkage of states with few questions towards their parents, in pseudo-questions, or `auto`; 0 for none."""
    folds: int = Field(default=5, ge=2)
    """Number of folds of the cross-validation."""
    individual_costs: bool = False
    """Each module pays for its own action only, in the game by which obedience is judged."""
    share: float = 1.0
    """With individual costs: the part of the outcome's utility that each module gets."""
    points: int = Field(default=10, ge=1)
    """Number of points of the curve, at most that of its questions; the run is saved as often."""
    validation: float = Field(default=0.2, ge=0, lt=1)
    """Share of the questions for the validation curve; afterwards the policy learns from them, too."""
    seed: Annotated[int, COMMON] = Field(default=0, ge=0)
    """The same seed gives the same result."""
    deploy: Annotated[Literal["best", "learned"], SPARSE] = "best"
    """Policy that leaves the run: `best`, the one with the best lower bound in cross-validation, be it static; or `learned`."""
    unit: float = Field(default=1.0, gt=0)
    """Factor of the cross-validation's temperatures, for utilities of another size (`unit_of`)."""

    @model_validator(mode="after")
    def _a_correlated_equilibrium_has_neither(self) -> Self:
        if self.method == "correlated" and (self.temperature, self.floor) != (None, None):
            raise ParlourError("a correlated equilibrium has no temperature and no floor; accepted: neither")
        return self


def unit_of(payment: Payment) -> float:
    """Spread of the utilities of a payment, relative to the published run: 1 for the published utilities.

    >>> unit_of(Payment((1.2, -0.4, 0.1, -0.2)))
    0.01
    """
    apart = max(payment.utilities) - min(payment.utilities)
    return round(apart / (max(Payment().utilities) - min(Payment().utilities)), 12) or 1.0


@dataclass(frozen=True)
class ChosenSettings:
    """Temperature, floor and shrinkage as they were given or chosen."""

    temperature: float | None
    floor: float | None
    shrinkage: Shrinkage
    held_out: float | None = None
    """Mean utility in cross-validation; None if all was given."""


@dataclass(frozen=True, eq=False)
class LearnedMediator:
    """A policy with what it was made from."""

    quantities: Quantities
    estimate: UtilityEstimate
    settings: ChosenSettings
    policy: PolicyTable
    regrets: Mapping[str, tuple[float, ...]]
    """State -> what retriever, generator and verifier could gain by disobeying (`equilibrium.Obedience.regrets`)."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """The states, of the nine, that have no data."""
        played = {s for s, n in zip(self.quantities.states, self.quantities.count.sum(axis=1), strict=True) if n}
        return tuple(state for state in STATES if state not in played)


def check_floor_fits(table: UtilityTable, config: GraceConfig) -> None:
    """Raise `ParlourError` if the floor is too high for the number of actions in some state."""
    if config.floor is not None:
        count = measure(table).count
        known = (count > 0).sum(axis=1) if config.shrinkage == 0 else (count.sum(axis=0) > 0).sum()
        check_floor(config.floor, int(np.max(known)))


def choose_settings(table: UtilityTable, config: GraceConfig) -> ChosenSettings:
    """The settings, those not given by cross-validation. Raises `ParlourError` if the table is too small for it."""
    given = ChosenSettings(config.temperature, config.floor, config.shrinkage)
    if config.method != "quantal" or None not in (config.temperature, config.floor):
        return given
    tried = tuple(config.unit * temperature for temperature in TEMPERATURES)
    return cross_validate(
        table,
        temperatures=tried if config.temperature is None else (config.temperature,),
        floors=FLOORS if config.floor is None else (config.floor,),
        shrinkages=(config.shrinkage,),
        folds=config.folds,
        seed=config.seed,
    )


def fit_policy(table: UtilityTable, config: GraceConfig, settings: ChosenSettings | None = None) -> LearnedMediator:
    """Learn a policy from all of a table, and what disobeying it would gain. Settings of None are chosen on this table.

    Raises:
        ParlourError: The floor does not fit the table, or the table is too small for cross-validation.
    """
    check_floor_fits(table, config)
    chosen, means = settings or choose_settings(table, config), measure(table)
    values = estimate(means, chosen.shrinkage)
    nets, actions, own = values.known, table.action_set, config.individual_costs
    games = {
        state: equilibrium.module_game(
            net, individual_costs=own, share=config.share, actions=actions, costs=table.costs
        )
        for state, net in nets.items()
    }
    if config.method == "quantal":
        assert chosen.temperature is not None
        assert chosen.floor is not None
        made = policy(values, chosen.temperature, chosen.floor, table.thresholds)
    else:
        rows = {state: equilibrium.obeyed_row(games[state], net, actions) for state, net in nets.items()}
        made = PolicyTable(rows, table.thresholds, chosen.temperature, chosen.floor)
    regrets = {
        state: equilibrium.obedience(game, equilibrium.as_array(made.rows[state], actions)).regrets
        for state, game in games.items()
    }
    return LearnedMediator(means, values, chosen, replace(made, actions=actions), regrets)
