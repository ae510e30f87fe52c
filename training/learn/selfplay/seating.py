"""Who plays at which table until the next snapshot: the network alone, or against a fixed player or an earlier snapshot.

Earlier snapshots are drawn by prioritised fictitious self-play, after AlphaStar (Vinyals et al., "Grandmaster level in
StarCraft II using multi-agent reinforcement learning", Nature 575, 2019, Methods): a member against whom the learner
wins a share p of its games is drawn with a weight f(p), (1 - p) ** power or p (1 - p). Ours differs in this: p is estimated
apart for each side of the game, because one side may win more games than the other with any player; older games count
less, because the learner changes; and every member keeps a weight of at least `floor`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.training.learn.selfplay.config import SelfplayConfig

ALONE: Final = -1
"""Number of the opponent where the network plays all seats."""
WHOLE_SIDE: Final = -1


@dataclass(frozen=True)
class MemberScore:
    """The learner's games against one member between two snapshots, on one side."""

    member: str
    side: str
    """The learner's."""
    n: int
    won: int


def win_rate(phases: Sequence[Sequence[MemberScore]], member: str, side: str, memory: float) -> float:
    """Estimated share of games that the learner wins, by Laplace's rule: 1/2 where it has played none.

    Args:
        phases: What was counted between each two snapshots so far.
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
class SelfplaySeating:
    """Arrays of shape (B,), fixed until the next snapshot."""

    opponents: tuple[str, ...]
    opponent: NDArray[np.int32]
    """A number into `opponents`, or `ALONE`."""
    side: NDArray[np.int8]
    """The side of the network where it has an opponent."""
    seat: NDArray[np.int8]
    """Its seat where it has a single one; the opponent plays all others. Else `WHOLE_SIDE`."""

    def own(self, actor: NDArray[np.int32], sides: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether the network is to move, shape (B,).

        Args:
            actor: The seat to move, shape (B,).
            sides: The side of each seat in the present games, shape (B, n).
        """
        of_actor = sides[np.arange(len(actor)), np.maximum(actor, 0)]
        with_side = np.where(self.seat == WHOLE_SIDE, of_actor == self.side, actor == self.seat)
        own: NDArray[np.bool_] = (self.opponent == ALONE) | with_side
        return own


def seating(
    config: SelfplayConfig,
    sides: Sequence[str],
    seats: int,
    fixed: Sequence[str],
    earlier: Mapping[str, Sequence[str]],
    phases: Sequence[Sequence[MemberScore]],
    rng: np.random.Generator,
) -> SelfplaySeating:
    """Seat everybody until the next snapshot: shares of the tables as configured, half of them on each side.

    Args:
        config: Shares, weighting, power, floor and memory.
        sides: The two sides of the game.
        seats: Number of seats.
        fixed: Players met from the beginning.
        earlier: Side of the network -> snapshots and exploiters that it may meet there; without any, their share goes to
            the network alone.
        phases: What was counted between each two snapshots so far.
        rng: Draws the snapshots.
    """
    tables = config.tables
    among_fixed = round(tables * config.fixed_share) if fixed else 0
    in_pool = round(tables * config.pool_share) if all(earlier.get(side) for side in sides) else 0
    opponent = np.full(tables, ALONE, np.int32)
    side = np.full(tables, -1, np.int8)
    seat = np.full(tables, WHOLE_SIDE, np.int8)
    names = [*fixed, *dict.fromkeys(name for side_ in sides for name in earlier.get(side_, ()))]
    opponent[:among_fixed] = np.arange(among_fixed) % max(1, len(fixed))
    side[:among_fixed] = np.arange(among_fixed) // max(1, len(fixed)) % 2
    single = round(among_fixed * config.one_seat)
    seat[:single] = np.arange(single) % seats
    for number, own in enumerate(sides):
        mine = np.arange(among_fixed + number, among_fixed + in_pool, 2)
        if not len(mine):
            continue
        met = earlier[own]
        weights = np.array([_weight(config, win_rate(phases, name, own, config.memory)) for name in met])
        chosen = rng.choice(len(met), size=config.opponents, p=weights / weights.sum())
        at_table = chosen[np.arange(len(mine)) % config.opponents]
        opponent[mine] = np.array([names.index(name) for name in met])[at_table]
        side[mine] = number
    return SelfplaySeating(tuple(names), opponent, side, seat)


def _weight(config: SelfplayConfig, p: float) -> float:
    return near(p, config.floor) if config.weighting == "near" else hard(p, config.power, config.floor)
