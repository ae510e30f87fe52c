"""Cross-play: each member against each other one as whole sides, on common held-out deals, each deal from both sides.

The games are stored in one file of JSON by lines: a head, then a line for each pair. A last line that a kill cut off is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.training import seeds
from parlour.training.batch import matches
from parlour.training.runs import JsonlStore
from parlour.training.selfplay.config import RULE, SelfplayConfig
from parlour.training.selfplay.pool import Member, batch_player, tables_for
from parlour.training.statistics import MeanEstimate, Rate, mean_estimate, rate

GAMES: Final = "crossplay.jsonl"
_AT_ONCE: Final = 1000
GameCounter = Callable[[int], None]
"""Told how many games were played, or read, since the last call."""
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


@dataclass(frozen=True)
class Crossplay:
    """All games of all pairs."""

    members: tuple[Member, ...]
    games: Mapping[Pair, tuple[PairGame, ...]]
    """(first, second) -> its games, in the order of the deals. Each pair is there once."""
    deals: int
    """Deals that every pair has played; some have played more."""

    def between(self, a: str, b: str) -> tuple[PairGame, ...]:
        """The games of two members, as `a` saw them."""
        if (a, b) in self.games:
            return self.games[a, b]
        return tuple(game.turned for game in self.games[b, a])

    def rate(self, a: str, b: str, side: str | None = None) -> Rate | None:
        """Share of games that `a` won against `b`, on both sides or on one."""
        own = [game for game in self.between(a, b) if side in (None, game.side)]
        return rate(sum(game.won for game in own), len(own))

    def difference(self, a: str, b: str) -> MeanEstimate:
        """Points of `a` against `b`: by deal, over both sides, the share of games won less that of games lost."""
        own = self.between(a, b)
        by_deal: dict[int, list[int]] = {}
        for game in own:
            by_deal.setdefault(game.seed, []).append(game.won - game.lost)
        return mean_estimate([sum(one) / len(one) for one in by_deal.values()], (-1.0, 1.0))

    def cycles(self) -> list[tuple[str, str, str]]:
        """Three members of whom each beats the next and the last the first, with intervals that leave out zero."""
        beaten = {
            (a, b)
            for a, b in ((x, y) for pair in self.games for x, y in (pair, pair[::-1]))
            if (self.difference(a, b).low or 0.0) > 0
        }
        names = sorted({name for pair in beaten for name in pair})
        return [
            (a, b, c)
            for a in names
            for b in names
            for c in names
            if a < min(b, c) and {(a, b), (b, c), (c, a)} <= beaten
        ]


def play_pairs(config: SelfplayConfig, members: Sequence[Member], folder: Path, progress: GameCounter) -> Crossplay:
    """Let all pairs play, or what is missing in the folder.

    Raises:
        ParlourError: The file in the folder is of another cross-play.
    """
    pairs = list(combinations(members, 2))
    head = {"members": [[one.name, one.steps] for one in members], "deals": [config.deals, config.test_deals]}
    with JsonlStore(folder / GAMES, _pair_games, "cross-play", head) as store:
        found = store.found
        for games in found:
            progress(len(games))
        for a, b in pairs[len(found) :]:
            games = _pair(config, a, b, seeds.HELD_OUT[: _deals(config, members, a, b)])
            found.append(games)
            store.append(games)
            progress(len(games))
    table = {(a.name, b.name): tuple(games) for (a, b), games in zip(pairs, found, strict=True)}
    return Crossplay(tuple(members), table, config.deals)


def _pair_games(stored: Any) -> list[PairGame]:
    return [PairGame(*game) for game in stored]


def total(config: SelfplayConfig, members: Sequence[Member]) -> int:
    """How many games `play_pairs` plays."""
    return sum(2 * _deals(config, members, a, b) for a, b in combinations(members, 2))


def _deals(config: SelfplayConfig, members: Sequence[Member], a: Member, b: Member) -> int:
    snapshots = [one for one in members if one.steps is not None]
    tested = {RULE, snapshots[0].name, snapshots[-1].name}
    return config.test_deals if {a.name, b.name} <= tested else config.deals


def _pair(config: SelfplayConfig, a: Member, b: Member, deals: Sequence[int]) -> list[PairGame]:
    """Two games for each deal."""
    at_once = min(len(deals), _AT_ONCE)
    tables = tables_for(config, at_once, autoreset=False)
    first, second = (batch_player(one.source, tables, one.name) for one in (a, b))
    found = matches.whole_sides(tables, first, second, deals)
    one, other = found.sides
    return [
        PairGame(seed, side, mine, bool(won), bool(lost))
        for k, seed in enumerate(deals)
        for side, mine, won, lost in zip((one, other), (other, one), found.won[k], found.lost[k], strict=True)
    ]
