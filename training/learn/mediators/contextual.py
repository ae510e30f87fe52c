"""A mediator that sees more than the state: its outcome models, how they are learned, and what it is compared with.

The training questions are dealt out into folds. What is learned on the other folds tells each question's chances, and by these the
strength of the table (by the likelihood of what came out) and temperature and floor (by net utility) are chosen. Then all is learned
again from all questions. Joint actions whose outcomes were the same on every question share a model. The models are
scikit-learn's logistic regression and histogram gradient boosting, as numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.common.extras import not_installed
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import ALL, FEATURES, FORMS, JOINTS, SEES, STATES, Payment
from parlour.envs.settings import Settings
from parlour.policies.agents.mediated_qa import contextual as models, equilibrium
from parlour.policies.agents.mediated_qa.joint import MODULES, NUMBER, Floats
from parlour.training.learn.mediators.baselines import SystemAnswers, drawn, mixed
from parlour.training.learn.mediators.experiment import Calibrated, HeldOutConfig
from parlour.training.learn.mediators.learn import FLOORS, TEMPERATURES, GraceConfig, unit_of
from parlour.training.learn.mediators.simulate import Simulated
from pydantic import Field

INVERSE_PENALTY: Final = 0.1
"""`C` of the logistic regression, on standardised features."""
BOOSTING: Final = {
    "learning_rate": 0.1,
    "max_iter": 50,
    "max_leaf_nodes": 6,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
    "early_stopping": False,
    "random_state": 0,
}
"""Few, small trees: chosen on generated corpora without reported results."""


def fit_outcomes(x: Floats, outcomes: NDArray[np.int64]) -> models.OutcomeModel:
    """A model of the outcomes, shape (questions,), from features, shape (questions, features).

    Raises:
        ParlourError: scikit-learn is not installed.
    """
    center, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    seen = np.unique(outcomes)
    if len(seen) == 1:
        return models.OutcomeModel((int(seen[0]),), center, scale, np.zeros((1, x.shape[1])), np.zeros(1))
    logistic = _made("linear_model", "LogisticRegression", C=INVERSE_PENALTY, max_iter=500)
    boosted = _made("ensemble", "HistGradientBoostingClassifier", **BOOSTING)
    with import_module("threadpoolctl").threadpool_limits(1):  # small work: threads would wait for each other
        logistic.fit((x - center) / scale, outcomes)
        boosted.fit(x, outcomes)
    weights, bias = _for_each_class(logistic.coef_), _for_each_class(logistic.intercept_[:, None])[:, 0]
    return models.OutcomeModel(tuple(map(int, seen)), center, scale, weights, bias, trees_of(boosted))


def _made(module: str, name: str, **settings: Any) -> Any:
    try:
        return getattr(import_module(f"sklearn.{module}"), name)(**settings)
    except ModuleNotFoundError:
        raise not_installed("scikit-learn", "train") from None


def _for_each_class(weights: Floats) -> Floats:
    """Of two classes scikit-learn has the second one's row alone; the first one's is 0."""
    return np.vstack([np.zeros_like(weights), weights]) if len(weights) == 1 else np.asarray(weights)


def trees_of(boosted: Any) -> models.BoostedTrees:
    """The trees of a fitted `HistGradientBoostingClassifier`; of two classes it has trees for the second one alone."""
    rounds = [[tree.nodes for tree in trees] for trees in boosted._predictors]
    start = np.asarray(boosted._baseline_prediction, dtype=np.float64).reshape(-1)
    if len(start) == 1:
        leaf = np.zeros(1, dtype=rounds[0][0].dtype)
        leaf["is_leaf"] = 1  # a tree that adds nothing
        start, rounds = np.array([0.0, start[0]]), [[leaf, *trees] for trees in rounds]
    nodes = [tree for trees in rounds for tree in trees]
    firsts = np.cumsum([0, *map(len, nodes)])[:-1]
    every = np.concatenate(nodes)
    inner, offset = every["is_leaf"] == 0, np.repeat(firsts, list(map(len, nodes)))
    left, right = (np.where(inner, every[side].astype(np.int64) + offset, 0) for side in ("left", "right"))
    return models.BoostedTrees(
        start,
        firsts.reshape(len(rounds), len(start)).astype(np.int64),
        np.where(inner, every["feature_idx"], 0).astype(np.int64),
        np.where(inner, every["num_threshold"], 0.0).astype(np.float64),
        left,
        right,
        np.where(inner, 0.0, every["value"]).astype(np.float64),
    )


STRENGTHS: Final = (0.0, 10.0, 30.0, 100.0, 300.0, 1000.0, math.inf)
"""Pseudo-questions of the table that are tried."""


class ContextualConfig(Settings):
    """How a contextual model is learned.

    Raises:
        ParlourError: A setting is not accepted.
    """

    sees: str = "question"
    """What the mediator sees: the state, the raw signals too, or all that may be known about the question."""
    joint: str = "published"
    """Joint actions that it may recommend: the published nine, or all."""
    temperature: float | None = None
    """Temperature of the quantal response, 0 for the best action; None: by cross-fitting."""
    floor: float | None = None
    """Least probability of an action; None: by cross-fitting."""
    folds: int = Field(default=5, ge=2)
    """Number of folds of the cross-fitting."""
    seed: int = Field(default=0, ge=0)
    """Seed of the folds."""


class CrossFitted(NamedTuple):
    """A contextual model, and how it did on questions that it had not seen."""

    model: models.ContextualModel
    earned: Floats
    """Expected net utility on each training question of the model that the other folds taught."""


def cross_fit(
    rows: Sequence[Simulated],
    contexts: Floats | Sequence[Sequence[float]],
    payment: Payment | None = None,
    config: ContextualConfig | None = None,
    share: float | None = None,
) -> CrossFitted:
    """A contextual model from calibrated questions, and what it earned in cross-fitting.

    Args:
        rows: The questions under all joint actions; at least as many as there are folds.
        contexts: Contexts of the questions, shape (questions, features), as `Pipeline.context` gives them.
        payment: The payment for choosing temperature and floor, and for play; the published run's if None.
        config: How.
        share: As `ContextualModel.share`: not None for the best correlated equilibrium.

    Raises:
        ParlourError: There are too few questions, or scikit-learn is not installed.
    """
    config, pays = config or ContextualConfig(), payment or Payment()
    seen = np.asarray(contexts, dtype=np.float64)
    if len(rows) < config.folds or len(seen) != len(rows):
        counts = f"{len(rows)} questions with {len(seen)} contexts"
        raise ParlourError(f"{counts}; accepted: one for each, and at least {config.folds} questions")
    crossed = np.zeros((len(rows), len(JOINTS[config.joint]), models.OUTCOME_COUNT))
    table, questions = np.zeros_like(crossed), np.zeros((len(rows), 1, 1))
    states, parts = _states(rows), list[tuple[NDArray[np.int64], models.ContextualModel]]()
    order = np.random.default_rng(config.seed).permutation(len(rows))
    for fold in range(config.folds):
        out = order[fold :: config.folds]
        kept = np.setdiff1d(order, out)
        made = _fitted([rows[k] for k in kept], seen[kept], pays, config)
        parts.append((out, made))
        number = states[out]
        crossed[out] = made.chances(seen[out], [rows[k].state for k in out])
        table[out] = made.shares()[number][:, list(made.model_of)]
        questions[out] = made.counts.sum(axis=2)[number, :1, None]
    strength = _strength(crossed, table, questions, _outcomes(rows, config.joint))
    trust = models.weight_of(questions, strength)
    chosen = replace(_fitted(rows, seen, pays, config), strength=strength)
    temperature, floor = _response(chosen, trust * crossed + (1 - trust) * table, rows, seen, config)
    response = partial(replace, strength=strength, temperature=temperature, floor=floor, share=share)
    known = np.zeros(len(rows))
    for out, made in parts:
        known[out] = contextual("", response(made), [rows[k] for k in out], seen[out]).utility
    return CrossFitted(response(chosen), known)


def _outcomes(rows: Sequence[Simulated], joint: str) -> NDArray[np.int64]:
    """Shape (questions, joint actions)."""
    places = [ALL.index(action) for action in JOINTS[joint]]
    return np.array([row.outcomes for row in rows], dtype=np.int64)[:, places]


def _fitted(
    rows: Sequence[Simulated], contexts: Floats, payment: Payment, config: ContextualConfig
) -> models.ContextualModel:
    """The models and the table, without any strength."""
    outcomes, states = _outcomes(rows, config.joint), [row.state for row in rows]
    columns = [tuple(column) for column in outcomes.T.tolist()]
    distinct = list(dict.fromkeys(columns))
    model_of, chosen = tuple(map(distinct.index, columns)), np.array(distinct).T
    x = models.inputs(config.sees, contexts, states)
    counts = np.zeros((len(STATES), len(distinct), models.OUTCOME_COUNT))
    np.add.at(counts, (_states(rows)[:, None], np.arange(len(distinct)), chosen), 1)
    return models.ContextualModel(
        config.sees,
        tuple(joint.names for joint in JOINTS[config.joint]),
        model_of,
        tuple(fit_outcomes(x, column) for column in chosen.T),
        counts,
        0.0,
        _found(rows, contexts),
        payment,
    )


def _found(rows: Sequence[Simulated], contexts: Floats) -> Floats:
    """Share of questions with evidence by retriever, without a link and with one; one pseudo-question says half."""
    retrieved = np.array([row.found for row in rows], dtype=np.float64)
    linked = contexts[:, 0] > 0
    parts = [(retrieved[linked == link].sum(axis=0) + 0.5) / (np.sum(linked == link) + 1) for link in (False, True)]
    return np.stack(parts, axis=1)


def _strength(crossed: Floats, table: Floats, questions: Floats, outcomes: NDArray[np.int64]) -> float:
    """The strength with the greatest likelihood of what came out on questions that were not learned from."""

    def likelihood(strength: float) -> float:
        trust = models.weight_of(questions, strength)
        chances = np.take_along_axis(trust * crossed + (1 - trust) * table, outcomes[:, :, None], axis=2)
        return float(np.log(np.maximum(chances, 1e-6)).mean())

    return max(STRENGTHS, key=likelihood)


def _response(
    model: models.ContextualModel,
    chances: Floats,
    rows: Sequence[Simulated],
    contexts: Floats,
    config: ContextualConfig,
) -> tuple[float, float]:
    """Temperature and floor: those given, else those that earn most by the cross-fitted chances; of equals the first."""
    tried = (0.0, *(unit_of(model.payment) * temperature for temperature in reversed(TEMPERATURES)))
    temperatures = tried if config.temperature is None else (config.temperature,)
    floors = tuple(reversed(FLOORS)) if config.floor is None else (config.floor,)
    settings = [pair for pair in product(temperatures, floors) if pair[1] * len(model.joints) < 1]
    if not settings:
        raise ParlourError(f"floor {config.floor} with {len(model.joints)} actions; accepted: below 1 / actions")
    places = [ALL.index(joint) for joint in JOINTS[config.joint]]
    earned = np.array([row.net(model.payment) for row in rows])[:, places]
    values = model.net_of(chances, contexts)
    return max(settings, key=lambda pair: float((models.response(values, *pair) * earned).sum(axis=1).mean()))


def regrets(
    model: models.ContextualModel,
    contexts: Floats,
    states: Sequence[str],
    policy: Floats,
    *,
    individual_costs: bool = False,
    share: float = 1.0,
) -> Floats:
    """What each module would gain by disobeying on each question, at most; shape (questions, modules)."""
    rows, costs = [], model.payment.costs
    for values, p in zip(model.values(contexts, states).tolist(), policy.tolist(), strict=True):
        net = dict(zip(model.joints, values, strict=True))
        game = equilibrium.module_game(net, individual_costs=individual_costs, share=share, costs=costs)
        row = equilibrium.as_array(dict(zip(model.joints, p, strict=True)))
        rows.append(equilibrium.obedience(game, row).regrets)
    return np.array(rows)


LEAN: Final = 10.0
"""Pseudo-questions by which a cell of form x state leans on its state, and a state on all questions."""
_FORM: Final = FEATURES.index(f"form_{FORMS[0]}")


def contextual(name: str, model: models.ContextualModel, rows: Sequence[Simulated], contexts: Floats) -> SystemAnswers:
    """A contextual policy, scored by its expected utility over its draws."""
    p = model.policy(np.asarray(contexts, dtype=np.float64), [row.state for row in rows])
    places = [ALL[NUMBER[joint]] for joint in model.joints]
    return mixed(name, [dict(zip(places, chances, strict=True)) for chances in p.tolist()], rows)


def form_by_state(
    train: Sequence[Simulated],
    train_contexts: Floats,
    rows: Sequence[Simulated],
    contexts: Floats,
    payment: Payment,
    joint: str = "published",
) -> SystemAnswers:
    """In each cell of question form x state the joint action with the highest mean over the training questions."""
    offered = JOINTS[joint]
    earned = np.array([row.net(payment) for row in train])[:, [ALL.index(joint) for joint in offered]]
    values = _leaning(earned, _states(train), np.tile(earned.mean(axis=0), (len(STATES), 1)))
    values = np.repeat(values[:, None], len(FORMS), axis=1).reshape(-1, len(offered))
    values = _leaning(earned, _cells(train, train_contexts), values)
    best = [offered[k] for k in values[_cells(rows, contexts)].argmax(axis=1)]
    return drawn("question form x state", [joint.names for joint in best], rows)


def _leaning(earned: Floats, group: NDArray[Any], parent: Floats) -> Floats:
    """(sum + `LEAN` x parent) / (n + `LEAN`) of each group, shape (groups, actions)."""
    member = (np.arange(len(parent))[:, None] == group).astype(np.float64)
    return np.asarray((member @ earned + LEAN * parent) / (member.sum(axis=1, keepdims=True) + LEAN))


def _states(rows: Sequence[Simulated]) -> NDArray[Any]:
    return np.array([STATES.index(row.state) for row in rows])


def _cells(rows: Sequence[Simulated], contexts: Floats) -> NDArray[Any]:
    forms = np.asarray(contexts)[:, _FORM : _FORM + len(FORMS)].argmax(axis=1)
    return np.asarray(_states(rows) * len(FORMS) + forms)


ENOUGH: Final = 300
"""Questions to learn from for which seeing the question was measured to be better."""


def most_seen(setting: HeldOutConfig) -> str:
    """What a mediator should see to be the better one (docs/explanation/defaults.md): the question, or with too few questions or
    actions of your own the state alone.

    >>> most_seen(HeldOutConfig(train=300)), most_seen(HeldOutConfig(train=299))
    ('question', 'state')
    """
    return SEES[-1] if not setting.actions and setting.train >= ENOUGH else SEES[0]


def learn_sees(calibrated: Calibrated, config: GraceConfig) -> CrossFitted | None:
    """The model of what each joint action comes to, where the mediator sees more than the state; None where it does not.

    Raises:
        ParlourError: Too few questions; or scikit-learn is missing.
    """
    setting = calibrated.config
    if calibrated.contexts is None:
        return None
    correlated = config.method == "correlated"
    wanted = ContextualConfig(
        sees=setting.sees,
        joint=setting.joint,
        temperature=0.0 if correlated else config.temperature,
        floor=0.0 if correlated else config.floor,
        folds=config.folds,
        seed=config.seed,
    )
    own = config.share if config.individual_costs else 1.0
    seen = calibrated.contexts[: setting.train]
    return cross_fit(calibrated.train, seen, setting.payment, wanted, own if correlated else None)


def regrets_of(calibrated: Calibrated, config: GraceConfig, model: models.ContextualModel | None) -> dict[str, float]:
    """Most that each module would gain by disobeying, as the model expects: mean over the held-out questions."""
    if model is None or calibrated.contexts is None:
        return {}
    contexts = calibrated.contexts[calibrated.config.train :]
    states = [row.state for row in calibrated.held_out]
    p = model.policy(contexts, states)
    by_question = regrets(model, contexts, states, p, individual_costs=config.individual_costs, share=config.share)
    return dict(zip(MODULES, by_question.mean(axis=0).tolist(), strict=True))
