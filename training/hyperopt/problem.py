"""What can be tuned: anything that plays an episode for a seed and says what it earned.

`Bowl` is the smallest such thing: a quadratic with noise, whose best parameters are known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from parlour.envs.core import ParlourError
from parlour.training import seeds
from parlour.training.hyperopt.space import Parameter, Parameters, Space


@runtime_checkable
class Problem(Protocol):
    """What a trainer needs. Picklable; `reward` is a function of its arguments, in every process."""

    @property
    def name(self) -> str:
        """One word for reports."""

    @property
    def space(self) -> Space:
        """The numbers to tune."""

    @property
    def games(self) -> int:
        """Games in an episode: 2 if each deal is played from both sides."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All else that decides a reward, as plain values; stored with the run."""

    def reward(self, parameters: Parameters, deals: Sequence[int]) -> list[float]:
        """Play one episode for each seed and return what each earned; more is better."""


def rewards(problem: Problem, parameters: Parameters, deals: Sequence[int]) -> list[float]:
    """What the problem says. Raises `ParlourError` unless that is one finite number for each deal."""
    found = [float(x) for x in problem.reward(parameters, deals)]
    if len(found) != len(deals) or not all(map(math.isfinite, found)):
        raise ParlourError(
            f"{problem.name} gave {len(found)} rewards; accepted: a finite number for each of {len(deals)} deals"
        )
    return found


@dataclass(frozen=True)
class Bowl:
    """Reward 1 - sum_i (x_i - best_i)^2 + noise, which is partly common to all parameters of a deal.

    It stands in for a game where a test or an example needs one at once.
    """

    best: tuple[float, ...] = (0.3, 0.7)
    noise: float = 0.0
    """Standard deviation of what differs with deal and parameters."""
    common: float = 0.0
    """Standard deviation of what differs with the deal alone."""

    name = "bowl"
    games = 1

    @property
    def space(self) -> Space:
        """x, y, ... from 0 to 1, with the default 0.5."""
        return Space(tuple(Parameter(name, 0.0, 1.0, 0.5) for name in "xyzuvw"[: len(self.best)]))

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"best": list(self.best), "noise": self.noise, "common": self.common}

    def reward(self, parameters: Parameters, deals: Sequence[int]) -> list[float]:
        point = [parameters[name] for name in self.space.names]
        value = 1.0 - sum((x - best) ** 2 for x, best in zip(point, self.best, strict=True))
        return [value + self._noise(point, deal) for deal in deals]

    def _noise(self, point: Sequence[float], deal: int) -> float:
        both = np.random.default_rng(seeds.derive(deal, 0)).normal()
        own = np.random.default_rng(seeds.derive(deal, 1, *(int(1e9 * x) for x in point))).normal()
        return self.common * float(both) + self.noise * float(own)
