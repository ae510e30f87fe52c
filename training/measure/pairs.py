"""Games of pairs of players, each deal from both sides: rates, paired differences, and cycles.

Self-play's cross-play and the arena read their games through this.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

from parlour.training.statistics import Estimate

Pair = tuple[str, str]


class PairGame(NamedTuple):
    """One game of a pair, from the first member's side of the table."""

    seed: int
    side: str
    """The first member's."""
    other: str
    """The second member's."""
    won: bool
    """By the first member."""
    lost: bool
    """By the first member; neither, if it was a draw."""

    @property
    def turned(self) -> PairGame:
        """The same game, from the second member's side of the table."""
        return PairGame(self.seed, self.other, self.side, self.lost, self.won)


class PairTable:
    """What can be read from the games of all pairs."""

    games: Mapping[Pair, tuple[PairGame, ...]]
    """(first, second) -> its games, in the order of the deals. Each pair is there once."""

    def between(self, a: str, b: str) -> tuple[PairGame, ...]:
        """The games of two members, as `a` saw them."""
        if (a, b) in self.games:
            return self.games[a, b]
        return tuple(game.turned for game in self.games[b, a])

    def rate(self, a: str, b: str, side: str | None = None) -> Estimate | None:
        """Share of games that `a` won against `b`, on both sides or on one."""
        own = [game for game in self.between(a, b) if side in (None, game.side)]
        return Estimate.rate(sum(game.won for game in own), len(own))

    def difference(self, a: str, b: str) -> Estimate:
        """Points of `a` against `b`: by deal, over both sides, the share of games won minus the share of games lost."""
        own = self.between(a, b)
        by_deal: dict[int, list[int]] = {}
        for game in own:
            by_deal.setdefault(game.seed, []).append(game.won - game.lost)
        return Estimate.mean([sum(gains) / len(gains) for gains in by_deal.values()], (-1.0, 1.0))

    def beats(self, a: str, b: str) -> bool:
        """Whether `a` beats `b`: the interval of the difference lies above zero."""
        return (self.difference(a, b).low or 0.0) > 0

    def cycles(self) -> list[tuple[str, str, str]]:
        """Three members in a cycle: each beats the next, and the last the first, with intervals that leave out zero."""
        beaten = {(a, b) for a, b in ((x, y) for pair in self.games for x, y in (pair, pair[::-1])) if self.beats(a, b)}
        names = sorted({name for pair in beaten for name in pair})
        return [(a, b, c) for a, b, c in permutations(names, 3) if a < min(b, c) and {(a, b), (b, c), (c, a)} <= beaten]
