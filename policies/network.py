"""A multi-layer perceptron in NumPy, and the softmax: what all players without PyTorch share.

Not here: networks that learn (`parlour.training.learn.batch.networks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]
Layers = Iterable[tuple[Values, Values]]
"""(weights of shape (out, in), bias of shape (out,)), from the inputs to the outputs."""
ACTIVATIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "tanh": lambda hidden: np.tanh(hidden, out=hidden),
    "relu": lambda hidden: np.maximum(hidden, 0, out=hidden),
}
"""What stands between the layers, written over its input: large batches take a third less time."""


def forward(layers: Layers, inputs: Values, activation: str) -> Values:
    """The outputs of the last layer: (..., in) -> (..., out), in the precision of the inputs.

    >>> forward([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.ones(1))], np.array([3.0]), "relu")
    array([4.])
    """
    *inside, (last, last_bias) = layers
    hidden, between = inputs, ACTIVATIONS[activation]
    for weights, bias in inside:
        hidden = _product(weights, hidden)
        hidden += bias
        between(hidden)
    outputs = _product(last, hidden)
    outputs += last_bias
    return outputs


def _product(weights: Values, inputs: Values) -> Values:
    """By rows of the weights: half the time of `inputs @ weights.T` for a single input of another precision."""
    product: Values = weights @ inputs if inputs.ndim == 1 else inputs @ weights.T
    return product


def softmax(scores: Values) -> Values:
    """Probabilities in proportion to the exponentials of the scores, along the last axis; minus infinity gets 0.

    >>> softmax(np.array([0.0, np.log(3), -np.inf])).round(6)
    array([0.25, 0.75, 0.  ])
    """
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    probabilities: Values = weights
    return probabilities


def log_softmax(scores: Values) -> Values:
    """Logarithms of these probabilities."""
    logits = scores - scores.max(axis=-1, keepdims=True)
    log_probs: Values = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return log_probs
