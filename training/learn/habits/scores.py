"""How well an onlooker's belief identifies evil players, after every round of recorded games (a quest of Avalon, a day of
Werewolf).

The loss is -log of the chance of the true evil side, in nats; the chances of single seats are compared with the truth by AUC (of
all seats after all rounds) and by the expected calibration error. The unit of every interval is the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import comb

import numpy as np
from parlour.envs.avalon.deals import Array
from parlour.envs.extras import not_installed
from parlour.training.measure.calibration import CalibrationBin, bins_by_range, calibration_error as error_of
from parlour.training.measure.statistics import Estimate

RESAMPLES = 2000
"""Resamples of a bootstrap over games."""


@dataclass(frozen=True)
class BeliefRead:
    """What an onlooker believes after one round."""

    game: int
    """Number of the game among those read."""
    players: int
    round: int
    """From 0."""
    loss: float
    """-log of the chance of the true evil side."""
    chances: tuple[float, ...]
    """That each seat is evil."""
    evil: tuple[int, ...]
    """1 for each seat that is."""
    merlin: float = 0.0
    """The chance of the seat that is Merlin to be; Avalon only."""


def side_loss(chance: float) -> float:
    """The loss of who gives the true evil side this chance."""
    return -float(np.log(max(chance, 1e-300)))


def chance_loss(players: int, evil: int) -> float:
    """The loss of who thinks all evil sides alike."""
    return float(np.log(comb(players, evil)))


def log_loss(reads: Sequence[BeliefRead], seed: int = 0) -> Estimate:
    """Mean loss over all rounds."""
    return _over_games([read.loss for read in reads], reads, seed)


def merlin_loss(reads: Sequence[BeliefRead], seed: int = 0) -> Estimate | None:
    """Mean of -log of the chance that Merlin is who he is; None in games without him."""
    if not any(read.merlin for read in reads):
        return None
    return _over_games([side_loss(read.merlin) for read in reads], reads, seed)


def difference(a: Sequence[BeliefRead], b: Sequence[BeliefRead], seed: int = 0) -> Estimate:
    """Mean loss of `a` minus mean loss of `b` on the same rounds, paired by game."""
    if [(read.game, read.round) for read in a] != [(read.game, read.round) for read in b]:
        raise ValueError("two readings are of different games")
    return _over_games([read.loss - other.loss for read, other in zip(a, b, strict=True)], a, seed)


def auc(reads: Sequence[BeliefRead]) -> float:
    """Chance that a random evil seat is thought more evil than a random good one; all rounds and games together.

    Raises:
        ParlourError: scikit-learn is not installed.
    """
    chances, evil = seats(reads)
    if not 0 < evil.sum() < len(evil):
        return float("nan")
    try:
        return float(import_module("sklearn.metrics").roc_auc_score(evil, chances))
    except ModuleNotFoundError:
        raise not_installed("scikit-learn", "train") from None


def seats(reads: Sequence[BeliefRead]) -> tuple[Array, Array]:
    """Chance and truth of every seat after every round."""
    chances = np.array([chance for read in reads for chance in read.chances])
    return chances, np.array([evil for read in reads for evil in read.evil], dtype=np.float64)


def calibration(reads: Sequence[BeliefRead]) -> list[CalibrationBin]:
    """Chances of seats against how many of them are evil."""
    return bins_by_range(*seats(reads))


def calibration_error(reads: Sequence[BeliefRead]) -> float:
    """Expected calibration error of the seats' chances."""
    return error_of(calibration(reads))


def _over_games(values: Sequence[float], reads: Sequence[BeliefRead], seed: int) -> Estimate:
    """Mean over values; games are drawn with all their values."""
    numbers, which = np.unique(np.array([read.game for read in reads]), return_inverse=True)
    sums = np.bincount(which, weights=np.array(values))
    counts = np.bincount(which).astype(np.float64)
    drawn = np.random.default_rng(seed).integers(len(numbers), size=(RESAMPLES, len(numbers)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high), len(numbers))
