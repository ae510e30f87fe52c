"""Learning a contextual model: models of the outcomes, cross-fitted, and how far they lean on the table.

The training questions are dealt out into folds. What is learned on the other folds tells each question's chances, and by these the
strength of the table (by the likelihood of what came out) and temperature and floor (by net utility) are chosen. Then all is learned
again from all questions. Joint actions whose outcomes were the same on every question share a model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, check_from
from parlour.envs.mediated_qa.vocabulary import ALL, JOINTS, STATES, Payment
from parlour.policies.agents.mediated_qa.contextual import ContextualModel, inputs, response, weight_of
from parlour.policies.agents.mediated_qa.outcome_model import OUTCOME_COUNT, Floats
from parlour.training.learn.mediators import quantal
from parlour.training.learn.mediators.contextual.fit import fit
from parlour.training.learn.mediators.learn import unit_of
from parlour.training.learn.mediators.simulate import Simulated

STRENGTHS: Final = (0.0, 10.0, 30.0, 100.0, 300.0, 1000.0, math.inf)
"""Pseudo-questions of the table that are tried."""


@dataclass(frozen=True, kw_only=True)
class ContextualConfig:
    """How a contextual model is learned.

    Raises:
        ParlourError: A setting is not accepted.
    """

    sees: str = "question"
    """What the mediator sees: the state, the raw signals too, or all that may be known of the question."""
    joint: str = "published"
    """Joint actions that it may recommend: the published nine, or all."""
    temperature: float | None = None
    """Of the quantal response, 0 for the best action; None: by cross-fitting."""
    floor: float | None = None
    """Least probability of an action; None: by cross-fitting."""
    folds: int = 5
    """Number of folds of the cross-fitting."""
    seed: int = 0
    """Of the folds."""

    def __post_init__(self) -> None:
        check_from("folds", self.folds, 2)
        check_from("seed", self.seed, 0)


def learn_contextual(
    rows: Sequence[Simulated],
    contexts: Floats | Sequence[Sequence[float]],
    payment: Payment | None = None,
    config: ContextualConfig | None = None,
) -> ContextualModel:
    """A contextual model from calibrated questions.

    Args:
        rows: The questions under all joint actions; at least as many as there are folds.
        contexts: Of the questions, shape (questions, features), as `Pipeline.context` gives them.
        payment: At which temperature and floor are chosen, and which the model plays; that of the published run if None.
        config: How.

    Raises:
        ParlourError: There are too few questions, or scikit-learn is not installed.
    """
    config, pays = config or ContextualConfig(), payment or Payment()
    seen = np.asarray(contexts, dtype=np.float64)
    if len(rows) < config.folds or len(seen) != len(rows):
        counts = f"{len(rows)} questions with {len(seen)} contexts"
        raise ParlourError(f"{counts}; accepted: one for each, and at least {config.folds} questions")
    crossed = np.zeros((len(rows), len(JOINTS[config.joint]), OUTCOME_COUNT))
    table = np.zeros_like(crossed)
    questions = np.zeros((len(rows), 1, 1))
    states = [row.state for row in rows]
    order = np.random.default_rng(config.seed).permutation(len(rows))
    for fold in range(config.folds):
        out = order[fold :: config.folds]
        kept = np.setdiff1d(order, out)
        made = _fitted([rows[k] for k in kept], seen[kept], pays, config)
        told = [states[k] for k in out]
        number = np.array([STATES.index(state) for state in told])
        crossed[out] = made.chances(seen[out], told)
        table[out] = made.shares()[number][:, list(made.model_of)]
        questions[out] = made.counts.sum(axis=2)[number, :1, None]
    strength = _strength(crossed, table, questions, _outcomes(rows, config.joint))
    trust = weight_of(questions, strength)
    chosen = replace(_fitted(rows, seen, pays, config), strength=strength)
    temperature, floor = _response(chosen, trust * crossed + (1 - trust) * table, rows, seen, config)
    return replace(chosen, temperature=temperature, floor=floor)


def _outcomes(rows: Sequence[Simulated], joint: str) -> NDArray[np.int64]:
    """Shape (questions, joint actions)."""
    places = [ALL.index(one) for one in JOINTS[joint]]
    return np.array([row.outcomes for row in rows], dtype=np.int64)[:, places]


def _fitted(rows: Sequence[Simulated], contexts: Floats, payment: Payment, config: ContextualConfig) -> ContextualModel:
    """The models and the table, without any strength."""
    outcomes, states = _outcomes(rows, config.joint), [row.state for row in rows]
    columns = dict.fromkeys(map(bytes, outcomes.T.copy()))
    distinct = {column: k for k, column in enumerate(columns)}
    model_of = tuple(distinct[bytes(column)] for column in outcomes.T.copy())
    chosen = outcomes[:, [model_of.index(k) for k in range(len(distinct))]]
    x = inputs(config.sees, contexts, states)
    counts = np.zeros((len(STATES), len(distinct), OUTCOME_COUNT))
    for state, row in zip(states, chosen, strict=True):
        counts[STATES.index(state), np.arange(len(distinct)), row] += 1
    return ContextualModel(
        config.sees,
        tuple(joint.names for joint in JOINTS[config.joint]),
        model_of,
        tuple(fit(x, column) for column in chosen.T),
        counts,
        0.0,
        _found(rows, contexts),
        payment,
    )


def _found(rows: Sequence[Simulated], contexts: Floats) -> Floats:
    """Share of questions with evidence by retriever, without a link and with one; one pseudo-question says half."""
    found = np.array([row.found for row in rows], dtype=np.float64)
    linked = contexts[:, 0] > 0
    parts = [(found[linked == told].sum(axis=0) + 0.5) / (np.sum(linked == told) + 1) for told in (False, True)]
    return np.stack(parts, axis=1)


def _strength(crossed: Floats, table: Floats, questions: Floats, outcomes: NDArray[np.int64]) -> float:
    """The strength with the greatest likelihood of what came out on questions that were not learned from."""

    def likelihood(strength: float) -> float:
        trust = weight_of(questions, strength)
        told = np.take_along_axis(trust * crossed + (1 - trust) * table, outcomes[:, :, None], axis=2)
        return float(np.log(np.maximum(told, 1e-6)).mean())

    return max(STRENGTHS, key=likelihood)


def _response(
    model: ContextualModel, chances: Floats, rows: Sequence[Simulated], contexts: Floats, config: ContextualConfig
) -> tuple[float, float]:
    """Temperature and floor: those given, else those that earn most by the cross-fitted chances; of equals the first."""
    tried = (0.0, *(unit_of(model.payment) * one for one in reversed(quantal.TEMPERATURES)))
    temperatures = tried if config.temperature is None else (config.temperature,)
    floors = tuple(reversed(quantal.FLOORS)) if config.floor is None else (config.floor,)
    settings = [pair for pair in product(temperatures, floors) if pair[1] * len(model.joints) < 1]
    if not settings:
        raise ParlourError(f"floor {config.floor} with {len(model.joints)} actions; accepted: below 1 / actions")
    places = [ALL.index(one) for one in JOINTS[config.joint]]
    earned = np.array([row.net(model.payment) for row in rows])[:, places]
    values = model.net_of(chances, contexts)
    return max(settings, key=lambda pair: float((response(values, *pair) * earned).sum(axis=1).mean()))
