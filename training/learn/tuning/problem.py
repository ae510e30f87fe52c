"""What can be tuned, and how: the numbers with their ranges, the problem that gives rewards, the settings of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

import numpy as np
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.settings import COMMON, Settings
from parlour.training.play import seeds
from pydantic import Field

Parameters = Mapping[str, float]
"""Name -> value."""


@dataclass(frozen=True)
class Parameter:
    """One number to tune.

    Raises:
        ParlourError: The range is empty, or the default lies outside of it.
    """

    name: str
    low: float
    high: float
    """Both ends belong to the range."""
    default: float
    kind: Literal["float", "int"] = "float"

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, ("float", "int"))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParlourError(f"range of {self.name}: {self.low} to {self.high} is not accepted; accepted: low < high")
        if self.kind == "int" and any(x != int(x) for x in (self.low, self.high, self.default)):
            raise ParlourError(f"range of {self.name} is not accepted; accepted: whole numbers")
        self.check(self.default)

    def check(self, value: float) -> None:
        """Raise `ParlourError` for a value outside of the range."""
        if not self.low <= value <= self.high or (self.kind == "int" and value != int(value)):
            kind = "a whole number" if self.kind == "int" else "a number"
            raise accept(self.name, value, f"{kind} from {self.low} to {self.high}")


@dataclass(frozen=True)
class Space:
    """All numbers that are tuned together, in order. Raises `ParlourError` if there is none, or a name comes twice."""

    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        if not names or len(set(names)) < len(names):
            raise ParlourError(f"parameters {', '.join(names) or '(none)'}; accepted: one or more, each once")

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def defaults(self) -> dict[str, float]:
        """Name -> default."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def chosen(self, names: Sequence[str]) -> Space:
        """The space of these numbers alone, in the order of the names. Raises `ParlourError` for one it does not have."""
        have = {parameter.name: parameter for parameter in self.parameters}
        for name in names:
            check_one_of("parameter", name, have)
        return Space(tuple(have[name] for name in names))

    def check(self, values: Parameters) -> None:
        """Raise `ParlourError` unless there is a value within its range for each number, and no other."""
        if set(values) != set(self.names):
            raise ParlourError(f"parameters {', '.join(values)} are not accepted; accepted: {', '.join(self.names)}")
        for parameter in self.parameters:
            parameter.check(values[parameter.name])


def show(values: Parameters) -> str:
    """Values in one line.

    >>> show({"rho": 0.95, "width": 3})
    'rho=0.95 width=3'
    """
    return " ".join(f"{name}={value:.4g}" for name, value in values.items())


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
    rewards = [float(x) for x in problem.reward(parameters, deals)]
    if len(rewards) != len(deals) or not all(map(math.isfinite, rewards)):
        raise ParlourError(
            f"{problem.name} gave {len(rewards)} rewards; accepted: a finite number for each of {len(deals)} deals"
        )
    return rewards


TuningMethod = Literal["optuna"]
Pruner = Literal["wilcoxon", "median", "halving", "none"]


class TuneConfig(Settings):
    """Everything that decides a run besides the problem; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    method: TuningMethod = "optuna"
    """`optuna`: trials on common deals."""
    budget: Annotated[int, COMMON] = Field(default=40, ge=1)
    """Number of trials."""
    deals: Annotated[int, COMMON] = Field(default=100, ge=1)
    """Number of deals of a trial, the same ones for all."""
    block: int = Field(default=5, ge=1)
    """Deals between two pruning decisions; a measurement is saved as often."""
    pruner: Pruner = "wilcoxon"
    """Rule that stops bad trials early."""
    finalists: int = Field(default=4, ge=0)
    """Number of best trials that play as many deals again, with the defaults; the best on all deals wins. 0: no
    finals."""
    held_out: Annotated[int, COMMON] = Field(default=500, ge=2)
    """Number of held-out deals in the test of trained against default parameters."""
    seed: Annotated[int, COMMON] = Field(default=0, ge=0)
    """The same seed gives the same result."""

    def plain(self, *, sparse: bool = False) -> dict[str, Any]:
        """As files hold the settings; `step` and `spread` were of a method that there is no more."""
        settings = super().plain(sparse=sparse)
        seed = settings.pop("seed")
        return {**settings, "step": 0.3, "spread": 0.5, "seed": seed}

    @property
    def training(self) -> list[int]:
        """The deals that every trial plays, in order."""
        return self._draw(seeds.TRAINING, self.deals, seeds.Purpose.TRAINING_DEALS)

    @property
    def final(self) -> list[int]:
        """The deals of the finals, disjoint from the trials' deals."""
        return self._draw(seeds.VALIDATION, self.deals, seeds.Purpose.FINAL_DEALS)

    @property
    def test(self) -> list[int]:
        """The held-out deals: none that anything was chosen by."""
        return self._draw(seeds.HELD_OUT, self.held_out, seeds.Purpose.HELD_OUT_DEALS)

    def _draw(self, within: range, n: int, purpose: seeds.Purpose) -> list[int]:
        rng = np.random.default_rng(seeds.derive(self.seed, purpose))
        return [within[int(k)] for k in rng.choice(len(within), size=n, replace=False)]


def blocks(deals: Sequence[int], size: int) -> list[list[int]]:
    """Deals in lists of at most `size`.

    >>> blocks([1, 2, 3], 2)
    [[1, 2], [3]]
    """
    return [list(deals[k : k + size]) for k in range(0, len(deals), size)]
