"""Learning one deal at a time, without gradients: simultaneous perturbation (SPSA; Spall 1992, guidelines Spall 1998).

Parameters live on the whole line (`Space.unbounded`). Step k draws a sign for each of them, plays one deal with all moved
by c_k along their signs and the same deal with all moved against them, and takes the quotient of the two rewards'
difference and the distance as the gradient. Gains are a_k = a / (A + k)^0.602 and c_k = c / k^0.101 with A a tenth of the
steps; `a` is set from the first differences, so that an early step is about `step` long (Spall 1998, section III).
The result is the mean of the second half of the way (Polyak & Juditsky 1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.files import read_json
from parlour.training.learn.checkpoints import Checkpoint
from parlour.training.learn.tuning.problem import EDGE, Problem, TuneConfig, rewards
from parlour.training.play import seeds
from parlour.training.results.runs import StageProgress

CHECKPOINT: Final = "checkpoint.json"
ALPHA: Final = 0.602
GAMMA: Final = 0.101

_ONLINE: Final = 20  # beside the purposes of deals in `config` and the sampler's in `study`
_CALIBRATION: Final = 20  # steps without movement, from which `a` is set
_LONGEST: Final = 10  # times as many are tried if no deal told the two sides apart
_SAVE: Final = 10  # steps between two checkpoints


@dataclass(frozen=True)
class Step:
    """One step: two episodes on one deal."""

    deal: int
    plus: float
    """Reward with the parameters moved along their signs."""
    minus: float
    """Reward with the parameters moved against them."""
    point: tuple[float, ...]
    """Where the parameters are after it, on the whole line."""


@dataclass(frozen=True)
class OnlineResult:
    """The result of a run."""

    steps: tuple[Step, ...]
    """Calibration first."""
    calibration: int
    """Steps of it: nothing moved."""
    gain: float
    """The gain `a`."""
    parameters: dict[str, float]

    @property
    def learning(self) -> tuple[Step, ...]:
        """The steps after calibration."""
        return self.steps[self.calibration :]


def learn(problem: Problem, config: TuneConfig, folder: Path, progress: StageProgress) -> OnlineResult:
    """Learn, or resume the run in the folder; the same result, byte for byte, killed or not.

    Args:
        problem: What is tuned.
        config: Its `steps`, `step`, `spread` and `seed` are used.
        folder: Where the checkpoint is stored.
        progress: Told about steps.

    Raises:
        ParlourError: The checkpoint cannot be used, or no deal told the two sides apart.
    """
    run, checkpoint = _Run(problem, config), Checkpoint(folder / CHECKPOINT)
    checkpoint.load(lambda path: run.load_state_dict(read_json(path)))
    while not run.over:
        run.move()
        if len(run.steps) % _SAVE == 0 or run.over:
            checkpoint.save_json(run.state_dict())
        progress("steps", max(0, len(run.steps) - run.calibration), config.steps, _note(run.steps))
    return run.learned()


class _Run:
    """A run between two steps. All chance of a step comes from the run's seed and the step's number."""

    def __init__(self, problem: Problem, config: TuneConfig) -> None:
        self.problem, self.config = problem, config
        self.space = problem.space
        self.start = np.array(self.space.unbounded(self.space.defaults))
        self.steps: list[Step] = []
        self.calibration = _CALIBRATION
        """How many steps calibrate, as far as is known."""
        self.gain: float | None = None

    @property
    def over(self) -> bool:
        return self.gain is not None and len(self.steps) - self.calibration >= self.config.steps

    @property
    def point(self) -> Any:
        return np.array(self.steps[-1].point) if self.steps else self.start

    def move(self) -> None:
        """Play one deal from both sides, and move if `a` is known."""
        rng = np.random.default_rng(seeds.derive(self.config.seed, _ONLINE, len(self.steps)))
        deal = seeds.TRAINING[int(rng.integers(len(seeds.TRAINING)))]
        signs = 2.0 * rng.integers(2, size=len(self.start)) - 1.0
        lift = float(rng.random())
        k = 1 if self.gain is None else len(self.steps) - self.calibration + 1
        distance = self.config.spread / k**GAMMA
        here = self.point
        plus, minus = (
            rewards(self.problem, self.space.bounded((here + side * distance * signs).tolist(), lift), [deal])[0]
            for side in (1, -1)
        )
        if self.gain is not None:
            slope = (plus - minus) / (2 * distance) * signs  # a sign is its own inverse
            here = np.clip(here + self.gain / (self._stability + k) ** ALPHA * slope, -EDGE, EDGE)
        self.steps.append(Step(deal, plus, minus, tuple(here.tolist())))
        if self.gain is None and len(self.steps) >= self.calibration:
            self._calibrate()

    @property
    def _stability(self) -> float:
        return self.config.steps / 10

    def _calibrate(self) -> None:
        """Set `a`, or go on calibrating if all differences were zero."""
        slope = fmean([abs(step.plus - step.minus) for step in self.steps]) / (2 * self.config.spread)
        if slope:
            self.gain = self.config.step * (self._stability + 1) ** ALPHA / slope
        elif self.calibration < _LONGEST * _CALIBRATION:
            self.calibration += _CALIBRATION
        else:
            raise ParlourError(
                f"in {len(self.steps)} deals the reward never differed; accepted: a larger spread than "
                f"{self.config.spread}, other parameters, or another problem"
            )

    def learned(self) -> OnlineResult:
        way = [step.point for step in self.steps[self.calibration :]]
        half = np.array(way[len(way) // 2 :]).mean(axis=0)
        assert self.gain is not None
        return OnlineResult(tuple(self.steps), self.calibration, self.gain, self.space.bounded(half.tolist()))

    def state_dict(self) -> dict[str, Any]:
        """All that a step changes, as plain values."""
        return {
            "calibration": self.calibration,
            "gain": self.gain,
            "steps": [astuple(step) for step in self.steps],
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """Resume from what `state_dict` gave."""
        try:
            self.calibration, self.gain = int(stored["calibration"]), stored["gain"]
            self.steps = [Step(deal, plus, minus, tuple(point)) for deal, plus, minus, point in stored["steps"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ParlourError(f"{CHECKPOINT} cannot be used ({error}); accepted: what a run left") from None


def _note(steps: Sequence[Step]) -> str:
    last = steps[-100:]
    return f"reward {fmean([(step.plus + step.minus) / 2 for step in last]):.3f}"


def moving(steps: Sequence[Step], width: int) -> list[float]:
    """Mean reward of the last `width` steps, after each step.

    >>> moving([Step(1, 1.0, 0.0, ()), Step(2, 1.0, 1.0, ())], 2)
    [0.5, 0.75]
    """
    sums = [0.0, *np.cumsum([(step.plus + step.minus) / 2 for step in steps]).tolist()]
    first = [max(0, k - width) for k in range(1, len(sums))]
    return [(sums[k] - sums[low]) / (k - low) for k, low in enumerate(first, 1)]
