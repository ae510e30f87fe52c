"""The result of a run of self-play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from parlour.training.learn.batch.matches import SeatResult
from parlour.training.learn.selfplay.config import RANDOM, RULE, SelfplayConfig
from parlour.training.learn.selfplay.crossplay import Crossplay
from parlour.training.learn.selfplay.phase import Phase
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.selfplay.ratings import Rated
from parlour.training.learn.selfplay.role_beliefs import RoleLoss
from parlour.training.measure.statistics import Rate, rate


@dataclass(frozen=True)
class Population:
    """The result of a run."""

    config: SelfplayConfig
    sides: tuple[str, str]
    phases: tuple[Phase, ...]
    crossplay: Crossplay
    ratings: tuple[Rated, ...]
    """The highest first."""
    seat: Mapping[str, SeatResult]
    """The last and the first snapshot, and `random`, in the same seat of the same deals as `heuristic`, among heuristics."""
    roles: RoleLoss | None = None
    """How well the network knows the roles of the others; None where it did not learn to (`SelfplayConfig.infer`)."""

    @property
    def snapshots(self) -> list[Member]:
        """Those in the cross-play, in order."""
        return [one for one in self.crossplay.members if one.steps is not None]

    @property
    def first(self) -> str:
        return self.snapshots[0].name

    @property
    def last(self) -> str:
        return self.snapshots[-1].name

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Who is reported against whom."""
        pairs = [(self.last, self.first), (self.last, RULE), (self.first, RULE), (self.last, RANDOM)]
        return [(a, b) for a, b in pairs if a != b]

    @property
    def seat_rates(self) -> dict[str, dict[str, Rate | None]]:
        """Player -> `all` or its side -> win rate in one seat among heuristics."""
        found = {name: _by_side(self.sides, one, one.won) for name, one in self.seat.items()}
        own = self.seat[self.last]
        return found | {RULE: _by_side(self.sides, own, own.reference)}

    @property
    def training_games(self) -> int:
        """Games that were learned from."""
        return sum(phase.games for phase in self.phases)


def _by_side(sides: tuple[str, str], found: SeatResult, won: NDArray[np.bool_]) -> dict[str, Rate | None]:
    of = {side: won[found.sides == k] for k, side in enumerate(sides)}
    return {what: rate(int(own.sum()), len(own)) for what, own in {"all": won, **of}.items()}
