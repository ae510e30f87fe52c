"""The settings of a run of self-play. The learner's own (network, phases, tables) are those of `phase_config.PhaseConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.training.ppo.phase_config import PhaseConfig

RANDOM: Final = RandomPolicy.name
RULE: Final = HeuristicPolicy.name
FIXED: Final = (RANDOM, RULE)
"""Members that every pool has; the heuristic is the reference of all pictures."""

Weighting = Literal["hard", "near"]
WEIGHTINGS: Final = get_args(Weighting)


@dataclass(frozen=True, kw_only=True)
class SelfplayConfig(PhaseConfig):
    """Everything that decides a run; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    options: Mapping[str, Any] = field(
        default_factory=lambda: {"num_players": 5, "rules": "official", "talk": False},
    )
    """Options of the game."""
    steps: int = 409_600
    envs: int = 128
    rollout: int = 8192
    epochs: int = 6
    learning_rate: float = 1e-3
    entropy: float = 0.003
    members: tuple[str, ...] = ()
    """Policy that is in the pool from the beginning, beside `random` and `heuristic`; repeatable."""
    self_share: float = 0.35
    """Share of the games against the latest snapshot; the opponents of the others are drawn from the pool."""
    own_mates: float = 0.25
    """Share of the games in which the latest snapshot plays the learner's side; in the others the opponent plays all seats."""
    weighting: Weighting = "hard"
    """Weight of a pool member against which the learner wins with frequency p: `hard`, (1 - p) ** power; `near`, 4 p (1 - p)."""
    power: float = 2.0
    """Power of the weighting `hard`."""
    floor: float = 0.02
    """Least weight of a pool member."""
    memory: float = 0.5
    """Weight of a game in the estimates of p, one phase later."""
    deals: int = 100
    """Number of held-out deals for each pair of members, each played from both sides."""
    test_deals: int = 500
    """Number of held-out deals between the last snapshot, the first one and the heuristic, and of the test by role."""
    shown: int = 12
    """Number of snapshots in the cross-play, evenly spaced, with the first and the last."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_from("deals", self.deals, 1)
        check_from("shown", self.shown, 2)
        check_one_of("weighting", self.weighting, WEIGHTINGS)
        for name in ("self_share", "own_mates", "memory"):
            if not 0 <= getattr(self, name) <= 1:
                raise accept(name, getattr(self, name), "a number from 0 to 1")
        if self.power < 0 or not 0 < self.floor <= 1:
            raise ParlourError(
                f"power {self.power}, floor {self.floor}; accepted: a power from 0, a floor above 0 up to 1"
            )
        if self.test_deals < self.deals:
            raise accept("test_deals", self.test_deals, f"a whole number from deals ({self.deals})")
        known = (*FIXED, *self.members)
        if len(set(known)) < len(known):
            raise accept("members", ", ".join(self.members), f"different policies, none of {', '.join(FIXED)}")
