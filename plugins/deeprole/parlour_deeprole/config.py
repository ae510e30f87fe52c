"""Settings of `train deeprole`. Imports neither PyTorch nor Numba, so that the command line starts fast."""

from __future__ import annotations

from typing import Final

from parlour.envs.settings import Settings
from pydantic import Field

GAME: Final = "avalon_v0"


class DeepRoleConfig(Settings):
    """One run."""

    points: int = Field(default=60, ge=10)
    """Number of beliefs solved for each of the 44 networks."""
    iterations: int = Field(default=20, ge=3)
    """Number of CFR+ iterations of each solve."""
    hidden: int = Field(default=64, ge=1)
    """Width of both hidden layers."""
    fit_steps: int = Field(default=250, ge=1)
    """Number of gradient steps for each network."""
    seed: int = Field(default=0, ge=0)
    """Seed of the run."""
