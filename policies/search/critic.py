"""What a cut continuation is worth: a small network that sees all roles, fitted to games of the network with itself.

A search that cuts its continuations plays these games before its first decision. The inputs are the features of the seat to move
and the role of each seat; the target is what that seat got in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.policies.search.others import Array

PRACTICE: Final = 8192
"""Games that are played for a critic."""
SHARE: Final = 1 / 8
"""Share of the decisions that are kept."""
_HIDDEN: Final = 64
_PASSES: Final = 6
_ROWS: Final = 256
_RATE: Final = 2e-3


@dataclass(frozen=True, eq=False)
class Critic:
    """A perceptron with one hidden layer."""

    first: Array
    """(inputs, hidden) float32."""
    bias: Array
    """(hidden,)."""
    last: Array
    """(hidden + 1,): weights of the hidden units, then the bias."""

    def __call__(self, seen: Array) -> Array:
        """What the seats to move will get, -1 to 1; float32 (rows,).

        Args:
            seen: (rows, inputs) float32.
        """
        value: Array = np.tanh(np.tanh(seen @ self.first + self.bias) @ self.last[:-1] + self.last[-1])
        return value


def fitted(seen: Array, target: Array, rng: np.random.Generator) -> Critic:
    """The least squares, by Adam (Kingma and Ba 2015) in a few passes.

    Args:
        seen: (rows, inputs) float32.
        target: (rows,): -1 to 1.
        rng: First weights, and the order of the rows.
    """
    inputs = seen.shape[1]
    first = (rng.standard_normal((inputs, _HIDDEN)) / np.sqrt(inputs)).astype(np.float32)
    critic = Critic(first, np.zeros(_HIDDEN, np.float32), np.zeros(_HIDDEN + 1, np.float32))
    weights = (critic.first, critic.bias, critic.last)
    moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
    batches = max(1, len(seen) // _ROWS)
    for step in range(_PASSES * batches):
        if step % batches == 0:
            order = rng.permutation(len(seen))
        rows = order[step % batches :: batches]
        rate = _RATE * (1 - step / (_PASSES * batches))
        _adam(weights, _gradient(critic, seen[rows], target[rows]), moments, step + 1, rate)
    return critic


def _gradient(critic: Critic, seen: Array, target: Array) -> tuple[Array, Array, Array]:
    """Of the mean of the squared errors, halved."""
    hidden = np.tanh(seen @ critic.first + critic.bias)
    value = np.tanh(hidden @ critic.last[:-1] + critic.last[-1])
    slope = (value - target) * (1 - value**2) / np.float32(len(seen))
    inner = slope[:, None] * critic.last[:-1] * (1 - hidden**2)
    return seen.T @ inner, inner.sum(axis=0), np.append(slope @ hidden, slope.sum())


def _adam(weights: Sequence[Array], gradients: Sequence[Array], moments: Any, step: int, rate: float) -> None:
    for w, gradient, (mean, square) in zip(weights, gradients, moments, strict=True):
        mean += 0.1 * (gradient - mean)
        square += 0.001 * (gradient**2 - square)
        w -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
