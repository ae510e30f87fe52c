"""Cross-play: each member against each other one as whole sides, on common held-out deals, each deal from both sides.

The games are stored in one file of JSON by lines: a head, then a line for each pair. A last line that a kill cut off is dropped.

Ratings are by openskill: the Plackett-Luce model of Weng and Lin, "A Bayesian approximation method for online ranking", Journal of
Machine Learning Research 12, 2011. A game is a match of two teams, its sides; a member that plays a whole side has one rating there.
The method goes through the games once, so their order is drawn from the run's seed. Members are frozen: their skill does not
drift (tau = 0). All pairs have the same number of games, and both members of a pair have played both sides of each deal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from openskill.models import PlackettLuce
from parlour.training.learn.batch import matches
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.selfplay.pool import Member, batch_player, tables_for
from parlour.training.measure.pairs import Pair, PairGame, PairTable
from parlour.training.play import seeds
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run

GAMES: Final = "crossplay.jsonl"
_AT_ONCE: Final = 1000


@dataclass(frozen=True)
class Crossplay(PairTable):
    """All games of all pairs."""

    members: tuple[Member, ...]
    games: Mapping[Pair, tuple[PairGame, ...]]
    """(first, second) -> its games, in the order of the deals. Each pair is there once."""
    deals: int
    """Deals that every pair has played; some have played more."""


def play_pairs(config: SelfplayConfig, members: Sequence[Member], run: Run) -> Crossplay:
    """Let all pairs play, or what is missing in an open run.

    Raises:
        ParlourError: The file of the run is of another cross-play.
    """
    pairs = list(combinations(members, 2))
    head = {"members": [[member.name, member.steps] for member in members], "deals": [config.deals, config.test_deals]}
    with run.lines(GAMES, _pair_games, "cross-play", head) as store:
        stored, stage = store.found, Stage("Cross-play", total(config, members), "games")
        run.progress(stage, sum(map(len, stored)))
        for a, b in pairs[len(stored) :]:
            games = _pair(config, a, b, seeds.HELD_OUT[: _deals(config, members, a, b)])
            stored.append(games)
            store.append(games)
            run.progress(stage, sum(map(len, stored)))
    table = {(a.name, b.name): tuple(games) for (a, b), games in zip(pairs, stored, strict=True)}
    return Crossplay(tuple(members), table, config.deals)


def _pair_games(stored: Any) -> list[PairGame]:
    return [PairGame(*game) for game in stored]


def total(config: SelfplayConfig, members: Sequence[Member]) -> int:
    """How many games `play_pairs` plays."""
    return sum(2 * _deals(config, members, a, b) for a, b in combinations(members, 2))


def _deals(config: SelfplayConfig, members: Sequence[Member], a: Member, b: Member) -> int:
    snapshots = [member for member in members if member.steps is not None]
    tested = {RULE, snapshots[0].name, snapshots[-1].name}
    return config.test_deals if {a.name, b.name} <= tested else config.deals


def _pair(config: SelfplayConfig, a: Member, b: Member, deals: Sequence[int]) -> list[PairGame]:
    """Two games for each deal."""
    at_once = min(len(deals), _AT_ONCE)
    tables = tables_for(config, at_once, autoreset=None)
    first, second = (batch_player(member.source, tables, member.name) for member in (a, b))
    whole_sides = matches.whole_sides(tables, first, second, deals)
    first_side, other = whole_sides.sides
    return [
        PairGame(seed, side, mine, bool(won), bool(lost))
        for k, seed in enumerate(deals)
        for side, mine, won, lost in zip(
            (first_side, other), (other, first_side), whole_sides.won[k], whole_sides.lost[k], strict=True
        )
    ]


@dataclass(frozen=True)
class Rated:
    """A member's rating; before the first game 25 with deviation 25/3."""

    name: str
    mu: float
    sigma: float
    ordinal: float
    """mu - 3 sigma: the skill is hardly below it."""
    games: int


def rated(crossplay: Crossplay, seed: int) -> list[Rated]:
    """The ratings, the highest first."""
    games = [
        (pair, game)
        for pair, played in crossplay.games.items()
        for game in played[: 2 * crossplay.deals]
        if game.won or game.lost
    ]
    model = PlackettLuce(tau=0.0)
    ratings = {member.name: model.rating(name=member.name) for member in crossplay.members}
    counts = dict.fromkeys(ratings, 0)
    for k in np.random.default_rng(seeds.derive(seed, seeds.Purpose.RATED_GAMES)).permutation(len(games)):
        (a, b), game = games[k]
        winner, loser = (a, b) if game.won else (b, a)
        (ratings[winner],), (ratings[loser],) = model.rate([[ratings[winner]], [ratings[loser]]])
        counts[a] += 1
        counts[b] += 1
    rated = [Rated(name, rating.mu, rating.sigma, rating.ordinal(), counts[name]) for name, rating in ratings.items()]
    return sorted(rated, key=lambda player: -player.mu)
