"""The posterior over finitely many hypotheses: what beliefs about hidden roles share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class Posterior:
    """Weights of H hypotheses, kept as logarithms; equal before any evidence."""

    def __init__(self, hypotheses: int) -> None:
        self.log_weights: Array = np.zeros(hypotheses)
        self._weights: Array | None = None

    @property
    def weights(self) -> Array:
        """Probability of each hypothesis, shape (H,)."""
        if self._weights is None:
            w = np.exp(self.log_weights - self.log_weights.max())
            self._weights = w / w.sum()
        return self._weights

    def add(self, log_likelihood: Array) -> None:
        """Take in evidence: its log-likelihood under each hypothesis, shape (H,)."""
        self.log_weights = self.log_weights + log_likelihood
        self._weights = None

    def told_by(self, see: Callable[[], None]) -> Array:
        """The log-likelihood of what `see` lets the belief take in, shape (H,); the belief is then as it was."""
        before, self.log_weights = self.log_weights, np.zeros(len(self.log_weights))
        see()
        log_likelihood, self.log_weights, self._weights = self.log_weights, before, None
        return log_likelihood
