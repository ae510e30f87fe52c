"""The result of a run of self-play."""

from __future__ import annotations

from dataclasses import dataclass

from parlour.training import evaluate
from parlour.training.selfplay.config import RANDOM, RULE, SelfplayConfig
from parlour.training.selfplay.crossplay import Crossplay
from parlour.training.selfplay.learn import Phase
from parlour.training.selfplay.pool import Member
from parlour.training.selfplay.ratings import Rated


@dataclass(frozen=True)
class Population:
    """The result of a run."""

    config: SelfplayConfig
    sides: tuple[str, str]
    phases: tuple[Phase, ...]
    crossplay: Crossplay
    ratings: tuple[Rated, ...]
    """The highest first."""
    seat: evaluate.Report
    """The last and the first snapshot, `heuristic` and `random` in the same seat of the same deals among heuristics."""

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
    def training_games(self) -> int:
        """Games that were learned from."""
        return sum(one.n for phase in self.phases for one in phase.tallies)
