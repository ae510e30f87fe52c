"""What can be tuned: anything that plays an episode for a seed and returns its reward."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from parlour.envs.core import ParlourError
from parlour.training.learn.tuning.space import Parameters, Space


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
