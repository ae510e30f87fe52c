"""The settings of a run of the tuner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from parlour.envs.core import ParlourError, check_from, check_one_of
from parlour.training.play import seeds

TuningMethod = Literal["optuna", "spsa"]
Pruner = Literal["wilcoxon", "median", "halving", "none"]
_TRAINING, _FINAL, _HELD_OUT, _SURFACE = range(4)  # what deals are drawn for


@dataclass(frozen=True, kw_only=True)
class TuneConfig:
    """Everything that decides a run besides the problem; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    method: TuningMethod = "optuna"
    """`optuna`: trials on common deals; `spsa`: stochastic approximation, one deal at a time."""
    budget: int = 40
    """Number of trials; `spsa` uses as many deals as they would."""
    deals: int = 100
    """Number of deals of a trial, the same ones for all."""
    block: int = 5
    """Deals between two pruning decisions; a measurement is saved as often."""
    pruner: Pruner = "wilcoxon"
    """Rule that stops bad trials early."""
    finalists: int = 4
    """Number of best trials that play as many deals again, beside the defaults; the best on all deals wins. 0: no finals."""
    held_out: int = 500
    """Number of held-out deals in the test of trained against default parameters."""
    surface: int = 40
    """Number of deals for each cell of the response surface."""
    grid: int = 5
    """Number of values of each of the first two parameters on the response surface."""
    step: float = 0.3
    """With `spsa`: change of a parameter in an early step, in log-odds of its position in its range."""
    spread: float = 0.5
    """With `spsa`: first distance at which a parameter is tried on both sides, in the same unit."""
    seed: int = 0
    """The same seed gives the same result."""

    def __post_init__(self) -> None:
        for name, accepted in (("method", TuningMethod), ("pruner", Pruner)):
            check_one_of(name, getattr(self, name), get_args(accepted))
        least = {"budget": 1, "deals": 1, "block": 1, "finalists": 0, "held_out": 2, "surface": 2, "grid": 2, "seed": 0}
        for name, low in least.items():
            check_from(name, getattr(self, name), low)
        if self.step <= 0 or self.spread <= 0:
            raise ParlourError(f"step {self.step} and spread {self.spread}; accepted: numbers above 0")

    @property
    def training(self) -> list[int]:
        """The deals that every trial plays, in order."""
        return _draw(seeds.TRAINING, self.deals, self.seed, _TRAINING)

    @property
    def final(self) -> list[int]:
        """The deals of the finals: none of those of the trials."""
        return _draw(seeds.VALIDATION, self.deals, self.seed, _FINAL)

    @property
    def test(self) -> list[int]:
        """The held-out deals: none that anything was chosen by."""
        return _draw(seeds.HELD_OUT, self.held_out, self.seed, _HELD_OUT)

    @property
    def drawn(self) -> list[int]:
        """The deals of the response surface."""
        return _draw(seeds.VALIDATION, self.surface, self.seed, _SURFACE)

    @property
    def steps(self) -> int:
        """On-line: steps of the run."""
        return max(1, self.budget * self.deals // 2)


def _draw(within: range, n: int, seed: int, purpose: int) -> list[int]:
    rng = np.random.default_rng(seeds.derive(seed, purpose))
    return [within[int(k)] for k in rng.choice(len(within), size=n, replace=False)]


def blocks(deals: Sequence[int], size: int) -> list[list[int]]:
    """Deals in lists of at most `size`.

    >>> blocks([1, 2, 3], 2)
    [[1, 2], [3]]
    """
    return [list(deals[k : k + size]) for k in range(0, len(deals), size)]
