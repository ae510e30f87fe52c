"""Whom the learner meets: prioritised fictitious self-play over the pool, and a share against its latest self.

After AlphaStar (Vinyals et al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning", Nature 575,
2019, Methods, "Multi-agent learning"): a member against whom the learner wins a share p of its games is drawn with a
weight f(p): (1 - p) ** power, `hard`, so that who is beaten is seldom met again; or p (1 - p), here `near`, for those who are
as good as it is. Its main agents play 35 % of their games against themselves. Ours differ in this: p is estimated apart for each side of the game, because one side may
win more games than the other with any player; older games count less, because the learner changes; every member keeps a
weight of at least `floor`; and self-play is against the latest snapshot, not against the network as it is that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parlour.training.selfplay.config import SelfplayConfig
from parlour.training.selfplay.pool import Member

_DRAW = 2**20  # keeps these draws apart from those of the seats, whose generators are (seed, seat)


@dataclass(frozen=True)
class MemberScore:
    """The learner's games of one phase against one member, in one role."""

    member: str
    side: str
    """The learner's."""
    role: str
    """The learner's."""
    n: int
    won: int


def member_scores(games: Iterable[Mapping[str, Any]]) -> list[MemberScore]:
    """Count the finished games of a phase, as `phases.Counter` collects them."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for game in games:
        counts = found.setdefault((game["member"], game["side"], game["role"]), [0, 0])
        counts[0] += 1
        counts[1] += game["return"] > 0
    return [MemberScore(*key, *counts) for key, counts in sorted(found.items())]


def win_rate(phases: Sequence[Sequence[MemberScore]], member: str, side: str, memory: float) -> float:
    """Estimated share of games that the learner wins, by Laplace's rule: 1/2 where it has played none.

    Args:
        phases: What was counted in each phase so far.
        member: The opponent.
        side: The learner's.
        memory: Weight of a game of the last phase but one, if one of the last phase has 1; and so on.
    """
    won = n = 0.0
    for counted in phases:
        own = [one for one in counted if (one.member, one.side) == (member, side)]
        won = memory * won + sum(one.won for one in own)
        n = memory * n + sum(one.n for one in own)
    return (won + 1) / (n + 2)


def hard(p: float, power: float, floor: float) -> float:
    """Weight of a member against whom the learner wins a share p.

    >>> [hard(p, 2.0, 0.02) for p in (0.0, 0.5, 1.0)]
    [1.0, 0.25, 0.02]
    """
    return max(floor, float((1 - p) ** power))


def near(p: float, floor: float) -> float:
    """Weight of a member against whom the learner wins a share p; 1 for its equals.

    >>> [near(p, 0.02) for p in (0.0, 0.5, 0.75, 1.0)]
    [0.02, 1.0, 0.75, 0.02]
    """
    return max(floor, 4 * p * (1 - p))


@dataclass(frozen=True)
class Lineup:
    """Who may be met in a phase, and how often; picklable."""

    members: tuple[Member, ...]
    chances: Mapping[str, tuple[float, ...]]
    """Side of the learner -> chance of each member, where the opponent is not the latest self."""
    latest: Member | None
    """The latest snapshot; None in the first phase, which has no self-play."""
    self_share: float
    own_mates: float

    def drawn(self, seed: int, side: str) -> tuple[Member, Member]:
        """The opponent, and who plays the other seats of the learner's side; a function of the game's seed."""
        rng = np.random.default_rng((seed, _DRAW))
        against_self, number, with_self = rng.random(3)
        if self.latest is not None and against_self < self.self_share:
            return self.latest, self.latest
        k = int(np.searchsorted(np.cumsum(self.chances[side]), number, side="right"))
        opponent = self.members[min(k, len(self.members) - 1)]
        return opponent, self.latest if self.latest is not None and with_self < self.own_mates else opponent


def lineup(
    config: SelfplayConfig, pool: Sequence[Member], sides: Iterable[str], phases: Sequence[Sequence[MemberScore]]
) -> Lineup:
    """The line-up of the next phase.

    Args:
        config: Weighting, power, floor, memory and shares.
        pool: All members; the last one is the latest snapshot, if there is one.
        sides: The two sides of the game.
        phases: What was counted in each phase so far.
    """
    chances = {}
    for side in sides:
        estimates = [win_rate(phases, one.name, side, config.memory) for one in pool]
        weights = np.array([_weight(config, p) for p in estimates])
        chances[side] = tuple((weights / weights.sum()).tolist())
    latest = pool[-1] if pool[-1].steps is not None else None
    return Lineup(tuple(pool), chances, latest, config.self_share, config.own_mates)


def _weight(config: SelfplayConfig, p: float) -> float:
    return near(p, config.floor) if config.weighting == "near" else hard(p, config.power, config.floor)
