"""A problem to tune whose best parameters are known; it stands in for a game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from parlour.training.learn.tuning.problem import Parameter, Space
from parlour.training.play import seeds

from tests import ROOT

IMPORT = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.training.learn.tuning.quadratic_problem import Bowl
"""
"""First lines of a script for another process."""


@dataclass(frozen=True)
class Bowl:
    """Reward 1 - sum_i (x_i - best_i)^2 + noise, which is partly common to all parameters of a deal."""

    best: tuple[float, ...] = (0.3, 0.7)
    noise: float = 0.0
    """Standard deviation of what differs with deal and parameters."""
    common: float = 0.0
    """Standard deviation of what differs with the deal alone."""

    name = "bowl"
    games = 1

    @property
    def space(self):
        """x, y, ... from 0 to 1, with the default 0.5."""
        return Space(tuple(Parameter(name, 0.0, 1.0, 0.5) for name in "xyzuvw"[: len(self.best)]))

    @property
    def settings(self):
        return {"best": list(self.best), "noise": self.noise, "common": self.common}

    def reward(self, parameters, deals):
        point = [parameters[name] for name in self.space.names]
        value = 1.0 - sum((x - best) ** 2 for x, best in zip(point, self.best, strict=True))
        return [value + self._noise(point, deal) for deal in deals]

    def _noise(self, point, deal):
        both = np.random.default_rng(seeds.derive(deal, 0)).normal()
        own = np.random.default_rng(seeds.derive(deal, 1, *(int(1e9 * x) for x in point))).normal()
        return self.common * float(both) + self.noise * float(own)
