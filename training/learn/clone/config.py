"""Settings of `parlour train clone`."""

from __future__ import annotations

from dataclasses import dataclass

from parlour.envs.core import check_from


@dataclass(frozen=True)
class FitConfig:
    """How a head is fitted."""

    hidden: int
    """Hidden units of a member; 0: a plain logistic model."""
    members: int
    steps: int
    seed: int


@dataclass(frozen=True)
class CloneConfig:
    """How a clone is learned and tested."""

    folds: int = 5
    """Parts that the games are dealt into; each is held out once."""
    hidden: int = 16
    """Hidden units of each of the networks that are averaged."""
    members: int = 4
    """How many are averaged; each stops early on another part of the training games."""
    steps: int = 240
    """Steps of learning at most."""
    seed: int = 0
    """The same seed gives the same result."""

    def __post_init__(self) -> None:
        for name, least in (("folds", 2), ("hidden", 0), ("members", 2), ("steps", 1), ("seed", 0)):
            check_from(name, getattr(self, name), least)

    @property
    def fit(self) -> FitConfig:
        """How each head is fitted."""
        return FitConfig(self.hidden, self.members, self.steps, self.seed)
