"""The result of a run of the tuner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parlour.training.learn.tuning.config import TuneConfig
from parlour.training.learn.tuning.online import OnlineResult
from parlour.training.learn.tuning.problem import Problem
from parlour.training.learn.tuning.surface import SurfacePoint
from parlour.training.learn.tuning.trials import Trial
from parlour.training.measure.statistics import MeanEstimate


@dataclass(frozen=True)
class Tuned:
    """The result of a run."""

    problem: Problem
    config: TuneConfig
    parameters: dict[str, float]
    """The trained ones."""
    trials: tuple[Trial, ...]
    """Empty on-line."""
    learned: OnlineResult | None
    """On-line only."""
    finals: Mapping[str, tuple[float, ...]]
    """Arm (`trial 7`) -> rewards on training and final deals together; empty if there were no finals."""
    rival: dict[str, float] | None
    """If the defaults were the best, what came next; it is tested in their place."""
    test: MeanEstimate
    """Trained (or the rival's) less default parameters on held-out deals."""
    means: dict[str, float]
    """Mean reward there of `defaults` and `trained`, or of `runner-up`."""
    surface: tuple[SurfacePoint, ...]
    drawn: bool
    """Whether the pictures were drawn: that needs matplotlib, of the extra `train`."""

    @property
    def same(self) -> bool:
        """Whether the trained parameters are the defaults."""
        return dict(self.parameters) == self.problem.space.defaults
