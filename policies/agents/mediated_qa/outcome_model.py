"""The chances of the four outcomes of a joint action, from numbers: logistic regression and boosted trees, averaged.

Learned with scikit-learn (`parlour.training.learn.mediators.contextual`), stored as plain JSON numbers, and predicted here with
NumPy alone. The logistic part: softmax of W (x - center) / scale + b. The trees: softmax of the sums of their leaves (Friedman
2001, "Greedy function approximation: a gradient boosting machine"). A left branch is taken where x <= threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept

OUTCOME_COUNT: Final = 4
"""Answered right, answered wrong, rightly silent, wrongly silent, in the order of `vocabulary.outcome_of`."""
Floats = NDArray[np.float64]
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
                "boosted trees whose arrays do not fit; accepted: those of `train grace --sees question`"
            )

    def scores(self, x: Floats) -> Floats:
        """Of each class, shape (questions, classes), for features of shape (questions, features)."""
        rounds, classes = self.roots.shape
        node = np.broadcast_to(self.roots.ravel(), (len(x), self.roots.size)).copy()
        questions = np.arange(len(x))[:, None]
        while True:
            inner = self.left[node] > 0
            if not inner.any():
                break
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
        trees = self.trees
        shapes.append(
            trees is None or (len(trees.start) == seen and (len(trees.feature) == 0 or trees.feature.max() < features))
        )
        if not all(shapes) or not set(self.outcomes) <= set(range(OUTCOME_COUNT)) or (seen > 1 and trees is None):
            raise ParlourError(
                "an outcome model whose parts do not fit; accepted: one of `train grace --sees question`"
            )

    def chances(self, x: Floats) -> Floats:
        """Shape (questions, 4), each row with the sum 1, for features of shape (questions, features)."""
        found = np.zeros((len(x), OUTCOME_COUNT))
        if self.trees is None:
            found[:, self.outcomes[0]] = 1.0
            return found
        logistic = softened((x - self.center) / self.scale @ self.weights.T + self.bias)
        found[:, list(self.outcomes)] = (logistic + softened(self.trees.scores(x))) / 2
        return found

    def as_json(self) -> dict[str, Any]:
        """As plain values; read back exactly."""
        told: dict[str, Any] = {"outcomes": list(self.outcomes)}
        told |= {name: getattr(self, name).tolist() for name in _ARRAYS}
        trees = self.trees
        told["trees"] = None if trees is None else {name: getattr(trees, name).tolist() for name in _TREE_ARRAYS}
        return told


def softened(scores: Floats) -> Floats:
    """Softmax of each row."""
    weight = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


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
        found = np.array(stored, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise accept(name, type(stored).__name__, accepted) from None
    if found.size == 0 and dimensions == 2 and found.ndim < 2:
        found = found.reshape(len(stored) if isinstance(stored, list) else 0, 0)
    fits = found.ndim == dimensions and np.isfinite(found).all() and not (whole and np.any(found != np.floor(found)))
    if not fits:
        raise accept(name, f"shape {found.shape}", accepted)
    return found.astype(np.int64) if whole else found
