"""The posterior over finitely many hypotheses: what beliefs about hidden roles share."""

from __future__ import annotations

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
