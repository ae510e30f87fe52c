"""Finished trials: what they played, which was best, and each beside the defaults on the deals that both played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from parlour.training.measure.statistics import MeanEstimate, mean_difference


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    number: int
    """Trial 0 has the defaults."""
    parameters: dict[str, float]
    rewards: tuple[float, ...]
    """One for each deal it played, in the order of the training deals."""
    complete: bool
    """False if it was given up."""

    @property
    def mean(self) -> float:
        """Mean reward of a deal."""
        return fmean(self.rewards)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """The complete trials, the highest mean first; of equal ones the earlier, so that the defaults win a tie."""
    return sorted((trial for trial in trials if trial.complete), key=lambda trial: (-trial.mean, trial.number))


def against_defaults(trials: Sequence[Trial]) -> list[tuple[Trial, MeanEstimate]]:
    """Each trial with its paired difference to trial 0, on as many deals as it played."""
    first = next(trial for trial in trials if trial.number == 0)
    return [(trial, mean_difference(trial.rewards, first.rewards)) for trial in trials]
