"""One joint action's outcomes from features: scikit-learn's logistic regression and histogram gradient boosting, as numbers."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.outcome_model import BoostedTrees, Floats, OutcomeModel

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
"""Small trees and few: chosen on generated corpora that no result is told of."""


def fit(x: Floats, outcomes: NDArray[np.int64]) -> OutcomeModel:
    """A model of the outcomes, shape (questions,), from features, shape (questions, features).

    Raises:
        ParlourError: scikit-learn is not installed.
    """
    center, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    seen = np.unique(outcomes)
    if len(seen) == 1:
        return OutcomeModel((int(seen[0]),), center, scale, np.zeros((1, x.shape[1])), np.zeros(1))
    logistic = _made("linear_model", "LogisticRegression", C=INVERSE_PENALTY, max_iter=500)
    boosted = _made("ensemble", "HistGradientBoostingClassifier", **BOOSTING)
    with import_module("threadpoolctl").threadpool_limits(1):  # small work: threads would wait for each other
        logistic.fit((x - center) / scale, outcomes)
        boosted.fit(x, outcomes)
    weights, bias = _for_each_class(logistic.coef_), _for_each_class(logistic.intercept_[:, None])[:, 0]
    return OutcomeModel(tuple(map(int, seen)), center, scale, weights, bias, trees_of(boosted))


def _made(module: str, name: str, **settings: Any) -> Any:
    try:
        return getattr(import_module(f"sklearn.{module}"), name)(**settings)
    except ModuleNotFoundError:
        raise ParlourError("scikit-learn is not installed; accepted: pip install 'parlour[train]'") from None


def _for_each_class(found: Floats) -> Floats:
    """Of two classes scikit-learn has the second one's row alone; the first one's is 0."""
    return np.vstack([np.zeros_like(found), found]) if len(found) == 1 else np.asarray(found)


def trees_of(boosted: Any) -> BoostedTrees:
    """The trees of a fitted `HistGradientBoostingClassifier`; of two classes it has trees for the second one alone."""
    rounds = [[tree.nodes for tree in trees] for trees in boosted._predictors]
    start = np.asarray(boosted._baseline_prediction, dtype=np.float64).reshape(-1)
    if len(start) == 1:
        start, rounds = np.array([0.0, start[0]]), [[_nothing(trees[0]), *trees] for trees in rounds]
    nodes = [tree for trees in rounds for tree in trees]
    firsts = np.cumsum([0, *map(len, nodes)])[:-1]
    every = np.concatenate(nodes)
    inner, offset = every["is_leaf"] == 0, np.repeat(firsts, list(map(len, nodes)))
    left, right = (np.where(inner, every[side].astype(np.int64) + offset, 0) for side in ("left", "right"))
    return BoostedTrees(
        start,
        firsts.reshape(len(rounds), len(start)).astype(np.int64),
        np.where(inner, every["feature_idx"], 0).astype(np.int64),
        np.where(inner, every["num_threshold"], 0.0).astype(np.float64),
        left,
        right,
        np.where(inner, 0.0, every["value"]).astype(np.float64),
    )


def _nothing(like: Any) -> Any:
    """A tree that adds nothing."""
    leaf = np.zeros(1, dtype=like.dtype)
    leaf["is_leaf"] = 1
    return leaf
