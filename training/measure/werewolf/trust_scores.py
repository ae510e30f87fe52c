"""Trust scored as a probability: log loss, calibration, and how often it is right where it dares to judge.

Trust t in [-1, 1] is read as the chance (1 + t) / 2 that a player is of the village, kept from 0 and 1. No method claims that its
trust is a probability. So it is also scored after fitting a logistic curve in t, on even deals for odd deals and the reverse:
this shows what two learned numbers can make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from parlour.training.papers.gratr_trust_games import TrustJudgement

Array = np.ndarray[Any, np.dtype[np.float64]]
LEAST: Final = 0.02
"""The least chance that trust is read as: trust of -1 is no proof, and a log loss has to be finite."""
BINS: Final = 10
_RIDGE: Final = 1e-3
"""Penalty of the fit: keeps it finite if trust separates all or nothing."""


def stated(trust: Array) -> Array:
    """Trust as the chance that it states.

    >>> stated(np.array([-1.0, 0.0, 0.5]))
    array([0.02, 0.5 , 0.75])
    """
    return np.clip((1 + trust) / 2, LEAST, 1 - LEAST)


def log_loss(chance: Array, ally: Array) -> Array:
    """Log loss of each judgement, in nats; 0.693 for a coin."""
    return -np.log(np.where(ally > 0, chance, 1 - chance))


def calibration_error(chance: Array, ally: Array) -> float:
    """How far stated chances are from how often they come true: the mean over ten bins, weighted by their judgements.

    >>> round(calibration_error(np.array([0.9, 0.9, 0.1, 0.1]), np.array([1.0, 1.0, 0.0, 1.0])), 3)
    0.25
    """
    bins = np.minimum((chance * BINS).astype(int), BINS - 1)
    gaps = [abs((chance - ally)[bins == number].sum()) for number in range(BINS)]
    return float(sum(gaps) / len(chance))


def fitted(trust: Array, ally: Array) -> Callable[[Array], Array]:
    """The logistic curve in trust that fits best: intercept and slope, by Newton's method."""
    x, weights = np.stack([np.ones_like(trust), trust], axis=1), np.zeros(2)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (ally - chance) - _RIDGE * weights
        step = np.linalg.solve((x * (chance * (1 - chance))[:, None]).T @ x + _RIDGE * np.eye(2), slope)
        weights = weights + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    return lambda of: np.clip(1 / (1 + np.exp(-(weights[0] + weights[1] * of))), LEAST / 2, 1 - LEAST / 2)


def cross_fitted(trust: Array, ally: Array, deals: Array) -> Array:
    """Chances by curves that were fitted to other deals. Where there is one kind of deal only, they are as stated."""
    chance, odd = stated(trust), deals % 2 == 1
    for part in (odd, ~odd):
        if part.any() and (~part).any():
            chance[part] = fitted(trust[~part], ally[~part])(trust[part])
    return chance


def boldest(chance: Array, share: float) -> Array:
    """Which judgements are among the boldest: farthest from one half, that share of them; shape as given."""
    order = np.argsort(-np.abs(chance - 0.5), kind="stable")
    kept = np.zeros(len(chance), bool)
    kept[order[: round(share * len(chance))]] = True
    return kept


def by_deal(values: Array, deals: Array, kept: Array | None = None) -> Array:
    """The mean of each deal, in ascending order of deals: judgements of one game are not independent of each other."""
    of = np.ones(len(deals), bool) if kept is None else kept
    return np.array([values[of & (deals == deal)].mean() for deal in np.unique(deals) if (of & (deals == deal)).any()])


def columns(judgements: Sequence[TrustJudgement]) -> tuple[Array, Array, Array]:
    """Deals, whether each target is an ally (1 or 0), and trust by reader, shape (readers, judgements)."""
    deals, ally = (
        np.array([judgement.deal for judgement in judgements]),
        np.array([float(judgement.ally) for judgement in judgements]),
    )
    return deals, ally, np.array([judgement.trust for judgement in judgements]).T
