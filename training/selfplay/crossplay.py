"""Cross-play: each member against each other one as whole sides, on common held-out deals, each deal from both sides.

The games are stored in one file of JSON by lines, in the order of the jobs however many processes play them: a head, then a
line for each block of deals of a pair. A last line that a kill cut off is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.training import evaluate, rollout, seeds
from parlour.training.hyperopt.config import blocks
from parlour.training.parallel.executor import carry_out, in_order
from parlour.training.runs import JsonlStore
from parlour.training.selfplay.config import RULE, SelfplayConfig
from parlour.training.selfplay.pool import Member
from parlour.training.statistics import PairedDifference, Rate, paired, rate

GAMES: Final = "crossplay.jsonl"
_BLOCK: Final = 25
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

    def difference(self, a: str, b: str) -> PairedDifference:
        """Wins of `a` less wins of `b` in their games with each other, on the same side of the same deals."""
        own, other = self.between(a, b), self.between(b, a)
        return _paired(own, other)

    def against(self, a: str, b: str, third: str) -> PairedDifference:
        """Wins of `a` against a third member less wins of `b` against it, on the same side of the same deals."""
        return _paired(self.between(a, third), self.between(b, third))


def _paired(own: Sequence[PairGame], other: Sequence[PairGame]) -> PairedDifference:
    won = {(game.seed, game.side): game.won for game in other}
    cases = [game for game in own if (game.seed, game.side) in won]
    return paired([game.won for game in cases], [won[game.seed, game.side] for game in cases])


def play_pairs(config: SelfplayConfig, members: Sequence[Member], folder: Path, progress: GameCounter) -> Crossplay:
    """Let all pairs play, or what is missing in the folder.

    Raises:
        ParlourError: The file in the folder is of another cross-play.
    """
    jobs = [
        (a, b, piece)
        for a, b in combinations(members, 2)
        for piece in blocks(seeds.HELD_OUT[: _deals(config, members, a, b)], _BLOCK)
    ]
    head = {"members": [[one.name, one.steps] for one in members], "deals": [config.deals, config.test_deals]}
    with JsonlStore(folder / GAMES, _pair_games, "cross-play", head) as store:
        found = store.found
        for games in found:
            progress(len(games))
        calls = [(config, job) for job in jobs[len(found) :]]
        for games in in_order(carry_out(config.processes, _block, calls)):
            found.append(games)
            store.append(games)
            progress(len(games))
    table: dict[Pair, tuple[PairGame, ...]] = {}
    for (a, b, _), games in zip(jobs, found, strict=True):
        table[a.name, b.name] = (*table.get((a.name, b.name), ()), *games)
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


PairJob = tuple[Member, Member, list[int]]


def _block(config: SelfplayConfig, job: PairJob) -> list[PairGame]:
    """One job: two games for each deal."""
    first, second, deals = job
    env = rollout.table(config.game, **config.options)
    game, rules = env.game_env.spec.id, env.game_env.game.config
    makers = {one.name: lambda one=one: one.seat(game, rules) for one in (first, second)}
    a, b = makers.items()
    report = evaluate.team(env, a, b, deals)
    of_a = [row for row in report.games if row.policy == first.name]
    of_b = [row for row in report.games if row.policy == second.name]
    return [PairGame(x.seed, x.side, y.side, x.won, y.won) for x, y in zip(of_a, of_b, strict=True)]
