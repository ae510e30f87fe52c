"""Settings of `train deeprole`. Imports neither PyTorch nor Numba, so that the command line starts fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from parlour.envs.core import check_from

GAME: Final = "avalon_v0"


@dataclass(frozen=True, kw_only=True)
class DeepRoleConfig:
    """One run."""

    points: int = 60
    """Number of beliefs solved for each of the 44 networks."""
    iterations: int = 20
    """Number of CFR+ iterations of each solve."""
    hidden: int = 64
    """Width of both hidden layers."""
    fit_steps: int = 250
    """Number of gradient steps for each network."""
    seed: int = 0
    """Seed of the run."""

    def __post_init__(self) -> None:
        for name, least in (("points", 10), ("iterations", 3), ("hidden", 1), ("fit_steps", 1), ("seed", 0)):
            check_from(name, getattr(self, name), least)
