"""A mediator that sees more than the state: what each joint action would earn on a question, by its context.

Each joint action has a model of its four outcomes (`outcome_model`). Their chances lean on the table of states where these hold
few questions: with n training questions in the state, the model counts n, and the state's own shares, which lean on all
questions by `LEAN`, count `strength`. Expected net utility follows for any payment. The policy is the best action, a quantal
response with a floor, or the best correlated equilibrium of the modules, as for the table.

Outcome models are learned with scikit-learn (`parlour.training.learn.mediators.contextual`), stored as plain JSON numbers, and
predicted here with NumPy alone: logistic regression, softmax of W (x - center) / scale + b, averaged with boosted trees,
softmax of the sums of their leaves (Friedman 2001). A left branch is taken where x <= threshold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS
from parlour.envs.mediated_qa.vocabulary import SEEN, SEES, STATES, Payment
from parlour.policies.agents.mediated_qa.joint import ALL, Floats, Joint, best_action, from_key, key
from parlour.policies.network import softmax

OUTCOME_COUNT: Final = 4
"""Answered right, answered wrong, rightly silent, wrongly silent, in the order of `vocabulary.outcome_of`."""
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Regression trees in flat arrays of shape (nodes,); a child has a greater number than its parent.

    Raises:
        ParlourError: The arrays do not fit.
    """

    start: Floats
    """Score of each class before any tree, shape (classes,)."""
    roots: Whole
    """First node of each tree, shape (rounds, classes)."""
    feature: Whole
    threshold: Floats
    left: Whole
    """0 at a leaf."""
    right: Whole
    value: Floats
    """Added to the score at a leaf."""

    def __post_init__(self) -> None:
        nodes, parts = len(self.value), (self.feature, self.threshold, self.left, self.right)
        inner = np.flatnonzero(self.left)
        children = np.stack([self.left[inner], self.right[inner]]) if len(inner) else np.zeros((2, 0), dtype=int)
        fits = (
            all(part.shape == (nodes,) for part in parts)
            and self.start.ndim == 1
            and self.roots.shape[1:] == self.start.shape
            and bool(np.all((self.roots >= 0) & (self.roots < nodes)))
            and bool(np.all((children > inner) & (children < nodes)))
        )
        if not fits:
            raise ParlourError(
                "boosted trees whose arrays do not fit; accepted: arrays that `train grace --sees question` wrote"
            )

    def scores(self, x: Floats) -> Floats:
        """Scores of each class, shape (questions, classes), for features of shape (questions, features)."""
        rounds, classes = self.roots.shape
        node = np.broadcast_to(self.roots.ravel(), (len(x), self.roots.size)).copy()
        questions = np.arange(len(x))[:, None]
        while (inner := self.left[node] > 0).any():
            goes_left = x[questions, self.feature[node]] <= self.threshold[node]
            node = np.where(inner, np.where(goes_left, self.left[node], self.right[node]), node)
        return np.asarray(self.value[node].reshape(len(x), rounds, classes).sum(axis=1) + self.start)


@dataclass(frozen=True, eq=False)
class OutcomeModel:
    """One model. With a single outcome there is nothing to weigh: it is certain.

    Raises:
        ParlourError: The arrays do not fit.
    """

    outcomes: tuple[int, ...]
    """That were seen; the others have no chance."""
    center: Floats
    """Mean of each feature, shape (features,)."""
    scale: Floats
    """Its spread; above 0."""
    weights: Floats
    """Shape (outcomes, features)."""
    bias: Floats
    """Shape (outcomes,)."""
    trees: BoostedTrees | None = None
    """None with a single outcome."""

    def __post_init__(self) -> None:
        features, seen = len(self.center), len(self.outcomes)
        shapes = [self.scale.shape == (features,), self.weights.shape == (seen, features), self.bias.shape == (seen,)]
        fits = seen <= 1
        if trees := self.trees:
            fits = len(trees.start) == seen and (len(trees.feature) == 0 or trees.feature.max() < features)
        if not all(shapes) or not set(self.outcomes) <= set(range(OUTCOME_COUNT)) or not fits:
            raise ParlourError(
                "an outcome model whose parts do not fit; accepted: one of `train grace --sees question`"
            )

    def chances(self, x: Floats) -> Floats:
        """Shape (questions, 4), each row with the sum 1, for features of shape (questions, features)."""
        chances = np.zeros((len(x), OUTCOME_COUNT))
        if self.trees is None:
            chances[:, self.outcomes[0]] = 1.0
            return chances
        logistic = softmax((x - self.center) / self.scale @ self.weights.T + self.bias)
        chances[:, list(self.outcomes)] = (logistic + softmax(self.trees.scores(x))) / 2
        return chances

    def as_json(self) -> dict[str, Any]:
        """As plain values; read back exactly."""
        values: dict[str, Any] = {"outcomes": list(self.outcomes)}
        values |= {name: getattr(self, name).tolist() for name in _ARRAYS}
        trees = self.trees
        values["trees"] = None if trees is None else {name: getattr(trees, name).tolist() for name in _TREE_ARRAYS}
        return values


_ARRAYS: Final = {"center": 1, "scale": 1, "weights": 2, "bias": 1}
_TREE_ARRAYS: Final = {"start": 1, "roots": 2, "feature": 1, "threshold": 1, "left": 1, "right": 1, "value": 1}
_WHOLE: Final = ("roots", "feature", "left", "right")


def outcome_model(stored: Any) -> OutcomeModel:
    """From plain values. Raises `ParlourError` for what is no such model."""
    if not isinstance(stored, Mapping):
        raise accept("outcome model", stored, "an object as `train grace --sees question` writes it")
    seen = array("outcomes", stored.get("outcomes"), 1, whole=True)
    parts = {name: array(name, stored.get(name), shape) for name, shape in _ARRAYS.items()}
    if not np.all(parts["scale"] > 0):
        raise accept("scale of an outcome model", stored.get("scale"), "numbers above 0")
    trees = None if stored.get("trees") is None else _trees(stored["trees"])
    return OutcomeModel(tuple(int(k) for k in seen), **parts, trees=trees)


def _trees(stored: Any) -> BoostedTrees:
    if not isinstance(stored, Mapping):
        raise accept("trees of an outcome model", stored, f"an object of {', '.join(_TREE_ARRAYS)}")
    parts = {name: array(name, stored.get(name), n, whole=name in _WHOLE) for name, n in _TREE_ARRAYS.items()}
    return BoostedTrees(**parts)


def array(name: str, stored: Any, dimensions: int, *, whole: bool = False) -> NDArray[Any]:
    """Plain numbers as an array. Raises `ParlourError` for anything else, and for numbers that are not finite."""
    accepted = f"{'whole' if whole else 'finite'} numbers in {dimensions} dimension{'s' if dimensions > 1 else ''}"
    try:
        numbers = np.array(stored, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise accept(name, type(stored).__name__, accepted) from None
    if numbers.size == 0 and dimensions == 2 and numbers.ndim < 2:
        numbers = numbers.reshape(len(stored) if isinstance(stored, list) else 0, 0)
    is_whole = np.all(numbers == np.floor(numbers))
    if numbers.ndim != dimensions or not np.isfinite(numbers).all() or (whole and not is_whole):
        raise accept(name, f"shape {numbers.shape}", accepted)
    return numbers.astype(np.int64) if whole else numbers


LEAN: Final = 10.0
"""Weight of the overall outcome shares in each state's shares, in pseudo-questions."""
_LEVELS: Final = {state: (k // 3, k % 3) if k < 9 else (-1, -1) for k, state in enumerate(STATES)}


@dataclass(frozen=True, eq=False)
class ContextualModel:
    """What is expected of the joint actions on a question.

    Raises:
        ParlourError: The parts do not fit.
    """

    sees: str
    """`"state"`, `"signals"` or `"question"`."""
    joints: tuple[Joint, ...]
    model_of: tuple[int, ...]
    """Index into `models` of each joint action; actions with identical outcomes share a model."""
    models: tuple[OutcomeModel, ...]
    counts: Floats
    """Training questions by state, model and outcome, shape (10, models, 4)."""
    strength: float
    """Pseudo-questions that tie a question to the table; inf for the table alone."""
    found: Floats
    """Share of the training questions on which shallow and deep retrieval found evidence, without and with a link, shape (2, 2)."""
    payment: Payment
    temperature: float = 0.0
    """Temperature of the quantal response, in units of utility; 0 for the best action."""
    floor: float = 0.0
    """Least probability of an action."""
    share: float | None = None
    """Part of the outcome's utility that each module gets, where the policy is the best correlated equilibrium of modules that pay
    their own costs; 1 where they share all. None: a quantal response."""

    def __post_init__(self) -> None:
        check_one_of("sees", self.sees, SEES)
        models, width = len(self.models), len(SEEN[self.sees]) + 2
        fits = (
            len(self.model_of) == len(self.joints) > 0
            and all(0 <= k < models for k in self.model_of)
            and self.counts.shape == (len(STATES), models, OUTCOME_COUNT)
            and bool(np.all(self.counts >= 0))
            and self.found.shape == (2, 2)
            and all(len(model.center) == width for model in self.models)
        )
        if not fits:
            raise ParlourError(
                "a contextual model whose parts do not fit; accepted: one of `train grace --sees question`"
            )
        if self.share is not None and not 0 <= self.share < math.inf:
            raise accept("share", self.share, "a number from 0, or none")
        if not self.strength >= 0 or not 0 <= self.temperature < math.inf or not 0 <= self.floor * len(self.joints) < 1:
            settings = (self.strength, self.temperature, self.floor)
            raise accept("strength, temperature and floor", settings, "numbers from 0, the floor below 1 / actions")

    def chances(self, contexts: Floats, states: Sequence[str]) -> Floats:
        """Probabilities of the outcomes of the joint actions, shape (questions, joint actions, 4).

        Args:
            contexts: Shape (questions, features), at least the features that it sees, in the order of `vocabulary.FEATURES`.
            states: States of the questions.
        """
        x = inputs(self.sees, contexts, states)
        number = np.array([STATES.index(state) for state in states])
        table = self.shares()[number]
        learned = np.stack([model.chances(x) for model in self.models], axis=1)
        questions = self.counts.sum(axis=2)[number, :, None]
        trust = weight_of(questions, self.strength)
        return np.asarray((trust * learned + (1 - trust) * table)[:, list(self.model_of)])

    def shares(self) -> Floats:
        """Shares of the outcomes by state and model, shrunk towards all questions; shape (10, models, 4)."""
        every = self.counts.sum(axis=0)
        overall = every / np.maximum(every.sum(axis=1, keepdims=True), 1)
        return np.asarray((self.counts + LEAN * overall) / (self.counts.sum(axis=2, keepdims=True) + LEAN))

    def values(self, contexts: Floats, states: Sequence[str], payment: Payment | None = None) -> Floats:
        """Expected net utility, shape (questions, joint actions); with another payment than the one it was learned at."""
        return self.net_of(self.chances(contexts, states), contexts, payment)

    def net_of(self, chances: Floats, contexts: Floats, payment: Payment | None = None) -> Floats:
        """Expected net utility of given chances of the outcomes, shape (questions, joint actions)."""
        pays = self.payment if payment is None else payment
        linked = contexts[:, 0] > 0 if contexts.shape[1] else np.ones(len(contexts), dtype=bool)
        costs = np.array([[self._cost(joint, pays, with_link) for joint in self.joints] for with_link in (False, True)])
        return np.asarray(chances @ np.array(pays.utilities) - costs[linked.astype(int)])

    def _cost(self, joint: Joint, payment: Payment, linked: bool) -> float:
        plan = vocabulary.ALL[ALL.index(joint)]
        share = 0.0 if plan.retriever == vocabulary.Retrieve.NOTHING else float(self.found[plan.retriever, int(linked)])
        with_it, without = (sum(payment.costs_of(PUBLISHED_ACTIONS.executed(plan, hit))) for hit in (True, False))
        return share * with_it + (1 - share) * without

    def policy(self, contexts: Floats, states: Sequence[str], payment: Payment | None = None) -> Floats:
        """Probabilities of the joint actions, shape (questions, joint actions)."""
        values = self.values(contexts, states, payment)
        if self.share is None:
            return response(values, self.temperature, self.floor)
        from parlour.policies.agents.mediated_qa.equilibrium import obeyed

        return obeyed(values, self.joints, (self.payment if payment is None else payment).costs, self.share)

    def row(self, context: Sequence[float], state: str) -> dict[Joint, float]:
        """The probabilities on one question. Raises `ParlourError` if the context lacks features that it sees."""
        wanted = SEEN[self.sees]
        if len(context) < len(wanted):
            text = f"a table with mediator_sees={self.sees!r}, or a question with its documents"
            raise ParlourError(f"this policy sees the {self.sees}; accepted: {text}")
        p = self.policy(np.array([context], dtype=np.float64).reshape(1, -1), [state])[0]
        return dict(zip(self.joints, p.tolist(), strict=True))

    def as_json(self) -> dict[str, Any]:
        """As plain values; read back exactly."""
        return {
            "sees": self.sees,
            "features": list(SEEN[self.sees]),
            "actions": [key(joint) for joint in self.joints],
            "model_of": list(self.model_of),
            "counts": self.counts.tolist(),
            "strength": None if math.isinf(self.strength) else self.strength,
            "found": self.found.tolist(),
            "utilities": list(self.payment.utilities),
            "costs": list(self.payment.costs),
            "temperature": self.temperature,
            "floor": self.floor,
            "models": [model.as_json() for model in self.models],
            **({} if self.share is None else {"share": self.share}),
        }


def inputs(sees: str, contexts: Floats, states: Sequence[str]) -> Floats:
    """What the models are given: the features that are seen, trust and quality; shape (questions, features + 2)."""
    levels = np.array([_LEVELS[state] for state in states], dtype=np.float64).reshape(-1, 2)
    return np.hstack([contexts[:, : len(SEEN[sees])], levels])


def weight_of(questions: Floats, strength: float) -> Floats:
    """How much a model counts beside the table of a state with so many questions, 0..1."""
    if math.isinf(strength):
        return np.zeros_like(questions)
    return np.asarray(questions / np.maximum(questions + strength, 1e-300))


def response(values: Floats, temperature: float, floor: float) -> Floats:
    """Quantal response of each row with a floor; at temperature 0 the best action, the first of equals."""
    p = best_action(values) if temperature == 0 else softmax(values / temperature)
    raised = (1 - values.shape[1] * floor) * p + floor
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def contextual_model(stored: Any) -> ContextualModel:
    """From the entry of a policy file. Raises `ParlourError` for what is no such model."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get("models"), list):
        raise accept("contextual", type(stored).__name__, "an object as `train grace --sees question` writes it")
    sees = str(stored.get("sees"))
    check_one_of("sees", sees, SEES)
    if stored.get("features") != list(SEEN[sees]):
        raise ParlourError(f"features of another version; accepted: {', '.join(SEEN[sees]) or 'none'}")
    actions = stored.get("actions")
    if not isinstance(actions, list):
        raise accept("actions", actions, "a list of joint actions")
    strength = stored.get("strength")
    settings = [0 if strength is None else strength, stored.get("temperature"), stored.get("floor")]
    numbers = array("strength, temperature, floor", settings, 1)
    return ContextualModel(
        sees,
        tuple(from_key(str(name)) for name in actions),
        tuple(int(k) for k in array("model_of", stored.get("model_of"), 1, whole=True)),
        tuple(map(outcome_model, stored["models"])),
        array("counts", stored.get("counts"), 3),
        math.inf if strength is None else float(numbers[0]),
        array("found", stored.get("found"), 2),
        _payment(stored),
        float(numbers[1]),
        float(numbers[2]),
        None if stored.get("share") is None else float(array("share", [stored["share"]], 1)[0]),
    )


def _payment(stored: Mapping[str, Any]) -> Payment:
    utilities, costs = (array(name, stored.get(name), 1).tolist() for name in ("utilities", "costs"))
    if len(utilities) != OUTCOME_COUNT or len(costs) != len(Payment().costs):
        raise accept("utilities and costs", (utilities, costs), "four numbers, and nine")
    return Payment(tuple(utilities), tuple(costs))
