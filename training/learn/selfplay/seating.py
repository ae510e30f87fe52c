"""Who plays at which table until the next snapshot: the network alone, against a fixed player or an earlier snapshot, or among
strangers (a population, after fictitious co-play; see `pool.families`).

Earlier snapshots are drawn by prioritised fictitious self-play, after AlphaStar (Vinyals et al., "Grandmaster level in
StarCraft II using multi-agent reinforcement learning", Nature 575, 2019, Methods): a member against which the learner wins a
share p of its games is drawn with a weight f(p), (1 - p) ** power or p (1 - p). Ours differs in this: p is estimated
apart for each side of the game, because one side may win more games than the other with any player; older games count
less, because the learner changes; and every member keeps a weight of at least `floor`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

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
        scores = [score for score in counted if (score.member, score.side) == (member, side)]
        won = memory * won + sum(score.won for score in scores)
        n = memory * n + sum(score.n for score in scores)
    return (won + 1) / (n + 2)


def weight(config: SelfplayConfig, p: float) -> float:
    """Weight of a member against which the learner wins a share p; see `SelfplayConfig.weighting`.

    >>> [weight(SelfplayConfig(weighting="hard", power=2.0, floor=0.02), p) for p in (0.0, 0.5, 1.0)]
    [1.0, 0.25, 0.02]
    >>> [weight(SelfplayConfig(weighting="near", floor=0.02), p) for p in (0.0, 0.5, 0.75, 1.0)]
    [0.02, 1.0, 0.75, 0.02]
    """
    return max(config.floor, 4 * p * (1 - p) if config.weighting == "near" else float((1 - p) ** config.power))


@dataclass(frozen=True)
class Seating:
    """Arrays of shape (B,), fixed until the next snapshot."""

    opponents: tuple[str, ...]
    opponent: NDArray[np.int32]
    """A number into `opponents`, or `ALONE`."""
    side: NDArray[np.int8]
    """The side of the network where it has an opponent."""
    seat: NDArray[np.int8]
    """Its seat where it has a single one; the opponent plays all others but those in `extra_seats`. Else `WHOLE_SIDE`."""
    extra_seats: NDArray[np.int32] | int = 0
    """Bits of more seats that the network holds among strangers."""

    @classmethod
    def alone(cls, count: int) -> Self:
        """The network, or its teacher, at all seats of all tables."""
        nobody = np.full(count, -1)
        return cls((), nobody.astype(np.int32), nobody.astype(np.int8), nobody.astype(np.int8))

    @classmethod
    def against(cls, opponent: str, count: int, *, side: int = -1, seat: NDArray[Any] | int = WHOLE_SIDE) -> Self:
        """One opponent at all tables, the network as one side, or in one seat of each table."""
        seats = np.broadcast_to(np.asarray(seat, np.int8), count)
        return cls((opponent,), np.zeros(count, np.int32), np.full(count, side, np.int8), seats)

    def own(self, actor: NDArray[np.int32], sides: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether the network is to move, shape (B,).

        Args:
            actor: The seat to move, shape (B,).
            sides: The side of each seat in the present games, shape (B, n).
        """
        of_actor = sides[np.arange(len(actor)), np.maximum(actor, 0)]
        with_side = np.where(self.seat == WHOLE_SIDE, of_actor == self.side, actor == self.seat)
        own: NDArray[np.bool_] = (
            (self.opponent == ALONE) | with_side | ((self.extra_seats >> np.maximum(actor, 0)) & 1 != 0)
        )
        return own


def seating(
    config: SelfplayConfig,
    seats: int,
    fixed: Sequence[str],
    earlier: Mapping[str, Sequence[str]],
    phases: Sequence[Sequence[MemberScore]],
    rng: np.random.Generator,
    strangers: Sequence[Sequence[str]] = (),
) -> Seating:
    """Seat everybody until the next snapshot: shares of the tables as configured, half of them on each side.

    Args:
        config: Shares, weighting, power, floor and memory.
        seats: Number of seats.
        fixed: Players met from the beginning.
        earlier: For each side of the game, as the network's, the snapshots and exploiters that it may meet there; without
            any, their share goes to the network alone.
        phases: What was counted between each two snapshots so far.
        rng: Draws the snapshots, and the seats that the network holds among strangers.
        strangers: The players of each family of the population; families have equal shares, and so have players within one.
    """
    tables = config.tables
    among_fixed = round(tables * config.fixed_share) if fixed else 0
    in_pool = round(tables * config.pool_share) if all(earlier.values()) else 0
    opponent = np.full(tables, ALONE, np.int32)
    side = np.full(tables, -1, np.int8)
    seat = np.full(tables, WHOLE_SIDE, np.int8)
    names = [*fixed, *dict.fromkeys(name for met in earlier.values() for name in met)]
    opponent[:among_fixed] = np.arange(among_fixed) % max(1, len(fixed))
    side[:among_fixed] = np.arange(among_fixed) // max(1, len(fixed)) % 2
    single = round(among_fixed * config.one_seat)
    seat[:single] = np.arange(single) % seats
    for number, (own, met) in enumerate(earlier.items()):
        mine = np.arange(among_fixed + number, among_fixed + in_pool, 2)
        if not len(mine):
            continue
        weights = np.array([weight(config, win_rate(phases, name, own, config.memory)) for name in met])
        chosen = rng.choice(len(met), size=config.opponents, p=weights / weights.sum())
        at_table = chosen[np.arange(len(mine)) % config.opponents]
        opponent[mine] = np.array([names.index(name) for name in met])[at_table]
        side[mine] = number
    learners = np.zeros(tables, np.int32)
    at = among_fixed + in_pool + np.arange(round(tables * config.population_share) if strangers else 0)
    if len(at):
        opponent[at] = len(names) + _of_families(strangers, len(at))
        seat[at] = np.arange(len(at)) % seats
        learners[at] = _bits(rng.random((len(at), seats)) >= config.stranger_seats)
        names += [name for family in strangers for name in family]
    return Seating(tuple(names), opponent, side, seat, learners)


def _of_families(strangers: Sequence[Sequence[str]], count: int) -> NDArray[np.int64]:
    """Which stranger sits at each of so many tables: families in turn, and within each its players in turn.

    >>> _of_families([["a"], ["b", "c"]], 6)
    array([0, 1, 0, 2, 0, 1])
    """
    sizes = np.array([len(family) for family in strangers])
    family = np.arange(count) % len(sizes)
    stranger: NDArray[np.int64] = (np.cumsum(sizes) - sizes)[family] + np.arange(count) // len(sizes) % sizes[family]
    return stranger


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Each row of booleans as the bits of a number."""
    bits: NDArray[np.int32] = (flags << np.arange(flags.shape[1])).sum(axis=1, dtype=np.int32)
    return bits
