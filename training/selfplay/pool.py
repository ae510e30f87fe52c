"""The pool: who can be met. Frozen snapshots of the learner, and members that were there from the beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from parlour.policies import Policy, TrainedSeat, make_policy
from parlour.policies.trained import SUFFIX
from parlour.training.selfplay.config import FIXED, SelfplayConfig

SNAPSHOTS: Final = "snapshots"


@dataclass(frozen=True)
class Member:
    """One player of the pool; picklable."""

    name: str
    source: str
    """The name of a policy, or the path of a snapshot."""
    steps: int | None = None
    """Decisions that a snapshot had learned from; None for the others."""

    def seat(self, game: str, config: Mapping[str, Any]) -> Policy:
        """A player of its own for one seat. A snapshot draws its actions from its probabilities, as it learned."""
        if self.steps is None:
            return make_policy(self.source, game, config)
        stored = _stored(self.source)
        stored.check_table(game, config)
        return TrainedSeat(game, config, stored.layers, sample=True)


@lru_cache(maxsize=256)
def _stored(path: str) -> TrainedSeat:
    """A snapshot never changes once it is in the pool."""
    return TrainedSeat.load(path)


def snapshot_path(folder: Path, phase: int) -> Path:
    """Where the snapshot after a phase (from 0) is."""
    return folder / SNAPSHOTS / f"s{phase + 1:02d}{SUFFIX}"


def members(config: SelfplayConfig, folder: Path, phases: int) -> list[Member]:
    """The pool after this many phases: the fixed members, then the snapshots in order."""
    fixed = [Member(name, name) for name in (*FIXED, *config.members)]
    return fixed + [_snapshot(config, folder, phase) for phase in range(phases)]


def _snapshot(config: SelfplayConfig, folder: Path, phase: int) -> Member:
    path = snapshot_path(folder, phase)
    return Member(path.stem, str(path), (phase + 1) * config.phase_steps)


def thinned(pool: Sequence[Member], shown: int) -> list[Member]:
    """The fixed members, and at most `shown` snapshots, evenly spaced, the first and the last among them."""
    fixed = [one for one in pool if one.steps is None]
    snapshots = [one for one in pool if one.steps is not None]
    if len(snapshots) > shown:
        snapshots = [snapshots[round(k * (len(snapshots) - 1) / (shown - 1))] for k in range(shown)]
    return fixed + snapshots
