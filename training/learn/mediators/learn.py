"""From a simulation table to a policy: settings, values, probabilities, and what they leave to be gained by disobeying."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.envs.mediated_qa.actions import ActionSet
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.policies.agents.mediated_qa import equilibrium
from parlour.policies.agents.mediated_qa.joint import STATES, Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Row
from parlour.training.learn.mediators import quantal
from parlour.training.learn.mediators.learners import EXPLORATION_RULES, Rule
from parlour.training.learn.mediators.quantities import (
    Quantities,
    Shrinkage,
    UtilityEstimate,
    check_shrinkage,
    estimate,
    measure,
)
from parlour.training.learn.mediators.table import UtilityTable

METHODS: Final = ("quantal", "correlated")
LEARNERS: Final = ("counts", *EXPLORATION_RULES)


@dataclass(frozen=True, kw_only=True)
class GraceConfig:
    """Everything that decides a run, the table aside; stored with it.

    Raises:
        ParlourError: A setting is not accepted, or does not go with another.
    """

    method: Literal["quantal", "correlated"] = "quantal"
    """How values become probabilities: `quantal`, the paper's quantal response over joint actions; `correlated`, the best
    correlated equilibrium of the modules."""
    temperature: float | None = None
    """Temperature in units of utility; None: by cross-validation (quantal only)."""
    floor: float | None = None
    """Least probability of a known action; None: by cross-validation (quantal only)."""
    shrinkage: Shrinkage = 0.0
    """Shrinkage of states with few questions towards their parents, in pseudo-questions, or `auto`; 0 for none."""
    folds: int = 5
    """Number of folds of the cross-validation."""
    individual_costs: bool = False
    """Each module pays for its own action only, in the game by which obedience is judged."""
    share: float = 1.0
    """With individual costs: the part of the outcome's utility that each module gets."""
    learner: str = "counts"
    """`counts` learns from the whole table; epsilon, ucb, thompson and pooled on-line, from the utility of the chosen action."""
    rule: Mapping[str, Any] = field(default_factory=dict)
    """Setting of the on-line learner, such as epsilon=0.2; repeatable."""
    rounds: int = 20_000
    """Number of rounds of on-line learning."""
    points: int = 10
    """Number of points of the curve; the run is saved as often."""
    validation: float = 0.2
    """Share of the questions for the validation curve; afterwards the policy learns from them, too."""
    seed: int = 0
    """The same seed gives the same result."""
    unit: float = 1.0
    """Factor of the cross-validation's temperatures, for utilities of another size (`unit_of`)."""

    def __post_init__(self) -> None:
        for name, accepted in (("method", METHODS), ("learner", LEARNERS)):
            check_one_of(name, getattr(self, name), accepted)
        for name, least in (("folds", 2), ("rounds", 1), ("points", 1), ("seed", 0)):
            check_from(name, getattr(self, name), least)
        if not 0 < self.unit < math.inf:
            raise accept("unit", self.unit, "a number above 0")
        if not 0 <= self.validation < 1:
            raise accept("validation", self.validation, "from 0 to below 1")
        if self.learner != "counts" and self.rounds < self.points:
            raise accept("rounds", self.rounds, f"at least one for each of the {self.points} points of the curve")
        check_shrinkage(self.shrinkage)
        self._check_method()
        _ = self.learning_rule

    def _check_method(self) -> None:
        if self.temperature is not None:
            quantal.check_temperature(self.temperature)
        if self.floor is not None:
            quantal.check_floor(self.floor, 1)
        if self.method == "correlated" and (self.temperature, self.floor) != (None, None):
            raise ParlourError("a correlated equilibrium has no temperature and no floor; accepted: neither")
        if self.learner != "counts" and self.method == "quantal" and None in (self.temperature, self.floor):
            raise ParlourError("on-line learning cannot cross-validate; accepted: a temperature and a floor")
        if self.learner != "counts" and self.shrinkage != 0:
            raise accept("shrinkage", self.shrinkage, "0 for on-line learning")

    @property
    def learning_rule(self) -> Rule | None:
        """The on-line learner's rule; None for `"counts"`. Raises `ParlourError` for settings it does not have."""
        if self.learner == "counts":
            if self.rule:
                raise accept("rule", dict(self.rule), "none with learner counts")
            return None
        kind = EXPLORATION_RULES[self.learner]
        for name in self.rule:
            check_one_of(f"setting of {self.learner}", name, kind.__dataclass_fields__)
        try:
            return kind(**self.rule)
        except TypeError:
            raise accept(f"settings of {self.learner}", dict(self.rule), "numbers") from None


def unit_of(payment: Payment) -> float:
    """Spread of the utilities of a payment, relative to the published run: 1 for the published utilities.

    >>> unit_of(Payment((1.2, -0.4, 0.1, -0.2)))
    0.01
    """
    apart = max(payment.utilities) - min(payment.utilities)
    return round(apart / (max(Payment().utilities) - min(Payment().utilities)), 12) or 1.0


@dataclass(frozen=True)
class Settings:
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
    settings: Settings
    policy: PolicyTable
    regrets: Mapping[str, tuple[float, ...]]
    """State -> what retriever, generator and verifier could gain by disobeying (`equilibrium.Obedience.regrets`)."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """The states, of the nine, that have no data."""
        played = {s for s, n in zip(self.quantities.states, self.quantities.count.sum(axis=1), strict=True) if n}
        return tuple(state for state in STATES if state not in played)


def check(table: UtilityTable, config: GraceConfig) -> None:
    """Raise `ParlourError` if the floor is too high for the number of actions in some state."""
    if config.floor is not None:
        quantities = measure(table)
        known = (
            (quantities.count > 0).sum(axis=1) if config.shrinkage == 0 else (quantities.count.sum(axis=0) > 0).sum()
        )
        quantal.check_floor(config.floor, int(np.max(known)))


def choose(table: UtilityTable, config: GraceConfig) -> Settings:
    """The settings, those not given by cross-validation. Raises `ParlourError` if the table is too small for it."""
    given = Settings(config.temperature, config.floor, config.shrinkage)
    if config.method != "quantal" or None not in (config.temperature, config.floor):
        return given
    tried = tuple(config.unit * temperature for temperature in quantal.TEMPERATURES)
    temperatures = tried if config.temperature is None else (config.temperature,)
    best = quantal.cross_validate(
        table,
        temperatures=temperatures,
        floors=quantal.FLOORS if config.floor is None else (config.floor,),
        shrinkages=(config.shrinkage,),
        folds=config.folds,
        seed=config.seed,
    ).best
    return Settings(best.temperature, best.floor, best.shrinkage, best.utility)


def learn(table: UtilityTable, config: GraceConfig, settings: Settings | None = None) -> LearnedMediator:
    """Learn a policy from all of a table.

    Args:
        table: The utilities.
        config: How.
        settings: What `choose` gave; None chooses on this table.

    Raises:
        ParlourError: The floor does not fit the table, or the table is too small for cross-validation.
    """
    check(table, config)
    chosen = settings or choose(table, config)
    quantities = measure(table)
    return finish(quantities, estimate(quantities, chosen.shrinkage), chosen, config, table)


def finish(
    means: Quantities, values: UtilityEstimate, settings: Settings, config: GraceConfig, table: UtilityTable
) -> LearnedMediator:
    """The policy of an estimate, and what disobeying it would gain."""
    nets, actions = _nets(values), table.action_set
    games = {state: _game(net, config, table) for state, net in nets.items()}
    if config.method == "quantal":
        assert settings.temperature is not None
        assert settings.floor is not None
        made = quantal.policy(values, settings.temperature, settings.floor, table.thresholds)
    else:
        rows = {state: _obeyed(net, games[state], actions) for state, net in nets.items()}
        made = PolicyTable(rows, table.thresholds, settings.temperature, settings.floor)
    regrets = {
        state: equilibrium.obedience(game, equilibrium.as_array(made.rows[state], actions)).regrets
        for state, game in games.items()
    }
    return LearnedMediator(means, values, settings, replace(made, actions=actions), regrets)


def _nets(values: UtilityEstimate) -> dict[str, dict[Joint, float]]:
    """State -> joint action -> value, of those that are known."""
    pairs = zip(values.states, values.value.tolist(), strict=True)
    known = {s: {a: v for a, v in zip(values.actions, row, strict=True) if not math.isnan(v)} for s, row in pairs}
    return {state: net for state, net in known.items() if net}


def _game(net: Mapping[Joint, float], config: GraceConfig, table: UtilityTable) -> equilibrium.NormalForm:
    own = config.individual_costs
    return equilibrium.module_game(
        net, individual_costs=own, share=config.share, actions=table.action_set, costs=table.costs
    )


def _obeyed(net: Mapping[Joint, float], game: equilibrium.NormalForm, actions: ActionSet) -> Row:
    """The best correlated equilibrium."""
    welfare = equilibrium.as_array(net, actions)
    return equilibrium.as_row(equilibrium.correlated(game, welfare).probabilities, tuple(net), actions)
