"""Matches on common deals: two players as whole sides, or one in a single seat, also among strangers.

Among strangers, a player takes one seat of a table that a family of other players fills, beside that family, or another
player, there. Both play the same deals in the same seats, the seats going round. Where the game has kernels for the table and both
are players over arrays, games are played by the thousand; elsewhere they are played one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from parlour.envs import batch
from parlour.envs.batch.followed import FollowedGames
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import Game, ParlourError
from parlour.envs.registry import kinds_of, lookup
from parlour.policies import make_policy
from parlour.policies.llm.model import Model
from parlour.training.learn.batch import matches
from parlour.training.learn.batch.networks import use_one_thread
from parlour.training.learn.selfplay import pool
from parlour.training.measure import evaluate
from parlour.training.measure.conventions import CONVENTIONS, ConventionRow, ConventionTally, convention_rows
from parlour.training.measure.evaluate import ALL_GAMES
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.rollout import Episode
from parlour.training.play.runner import GameRunner
from parlour.training.statistics import SHARE, SHARE_DIFFERENCE, Estimate

Winners = NDArray[np.int8]


def play(
    tables: BatchTables,
    players: Sequence[BatchPlayer],
    seating: NDArray[np.int8],
    seeds: Sequence[int],
    last: list[Any] | None = None,
) -> Winners:
    """Play one game for each seed to its end.

    Args:
        tables: Made with `autoreset=None`; no more seeds than tables.
        players: Who plays.
        seating: Number of the player of each seat, shape (len(seeds), n).
        seeds: One deal each.
        last: Where the last state of each game, by the scalar rules, is added; None: nowhere. Needs tables with kernels.

    Returns:
        The side that won each game, a number into `spec.sides`; -1 for a draw.
    """
    count = len(seeds)
    padded = _padded(seeds, tables)
    turns = tables.reset(padded)
    use_one_thread()
    for number, player in enumerate(players):
        player.reset(tables, padded, number)
    places = np.zeros((tables.num_envs, tables.seats), np.int8)
    places[:count] = seating
    actions = np.zeros(tables.num_envs, np.int32)
    winners = np.full(tables.num_envs, -1, np.int8)
    everyone = np.arange(tables.num_envs)
    followed = None if last is None else FollowedGames(cast(KernelTables, tables), count)
    while (turns.actor >= 0).any():
        who = np.where(turns.actor >= 0, places[everyone, turns.actor], -1)
        for number, player in enumerate(players):
            rows = np.flatnonzero(who == number).astype(np.int32)
            if len(rows):
                player.choose(turns, rows, actions)
        turns = tables.step(actions)
        if followed is not None:
            followed.step(actions)
        ended = turns.terminated != 0
        winners[ended] = tables.winner[ended]
    if followed is not None and last is not None:
        last += followed.states
    return winners[:count]


def _padded(seeds: Sequence[int], tables: BatchTables) -> list[int]:
    """A seed for every table; what is played beyond the given ones is not looked at."""
    return [*seeds, *([seeds[0]] * (tables.num_envs - len(seeds)))]


def sides_of(tables: BatchTables, seeds: Sequence[int]) -> NDArray[np.int8]:
    """The side of each seat in the deals of these seeds, shape (len(seeds), n)."""
    tables.reset(_padded(seeds, tables))
    return tables.side[: len(seeds)].copy()


@dataclass(frozen=True)
class SidesResult:
    """Two players as whole sides, each deal from both sides."""

    sides: tuple[str, ...]
    won: NDArray[np.bool_]
    """Whether the first player won as each side, shape (deals, 2)."""
    lost: NDArray[np.bool_]

    @property
    def points(self) -> Estimate:
        """Wins of the first player less wins of the second, by deal, halved: from -1 to 1."""
        difference = (self.won.sum(axis=1) - self.lost.sum(axis=1).astype(float)) / 2
        return Estimate.mean(difference, (-1.0, 1.0))

    def rate(self, side: int) -> float:
        """Share of games that the first player won as a side."""
        return float(self.won[:, side].mean())


def whole_sides(tables: BatchTables, a: BatchPlayer, b: BatchPlayer, seeds: Sequence[int]) -> SidesResult:
    """Play each deal twice, with sides changed over."""
    won, lost = [], []
    for start in range(0, len(seeds), tables.num_envs):
        block = seeds[start : start + tables.num_envs]
        sides = sides_of(tables, block)
        winners = [play(tables, (a, b), (sides != own).astype(np.int8), block) for own in (0, 1)]
        won.append(np.stack([winners[own] == own for own in (0, 1)], axis=1))
        lost.append(np.stack([winners[own] == 1 - own for own in (0, 1)], axis=1))
    return SidesResult(tables.spec.sides, np.concatenate(won), np.concatenate(lost))


@dataclass(frozen=True)
class SeatResult:
    """Two players in the same seat of the same deals, one after the other, among the same others."""

    sides: NDArray[np.int8]
    """The side of the seat, shape (deals,)."""
    won: NDArray[np.bool_]
    """By the first player, shape (deals,)."""
    reference: NDArray[np.bool_]
    """By the second."""
    roles: NDArray[np.int8]
    """The role of the seat, a number of the table, shape (deals,)."""

    @property
    def points(self) -> Estimate:
        """How much more often the first player won."""
        return Estimate.mean(self.won.astype(float) - self.reference, (-1.0, 1.0))


def one_seat(
    tables: BatchTables,
    a: BatchPlayer,
    reference: BatchPlayer,
    others: BatchPlayer,
    seeds: Sequence[int],
    tallies: Sequence[ConventionTally] = (),
) -> SeatResult:
    """The k-th deal is played in seat k modulo the number of seats; tallies count what `a` and `reference` do there."""
    parts = []
    for start in range(0, len(seeds), tables.num_envs):
        block = seeds[start : start + tables.num_envs]
        sides = sides_of(tables, block)
        seats = (start + np.arange(len(block))) % tables.seats
        roles = tables.roles[np.arange(len(block)), seats].copy()
        seating = np.ones((len(block), tables.seats), np.int8)
        seating[np.arange(len(block)), seats] = 0
        own = sides[np.arange(len(block)), seats]
        won = []
        for k, player in enumerate((a, reference)):
            last: list[Any] = []
            won.append(play(tables, (player, others), seating, block, last if tallies else None) == own)
            for seat, state in zip(seats.tolist(), last, strict=False):
                tallies[k].add([tables.game.view(state, other) for other in range(tables.seats)], seat)
        parts.append((own, *won, roles))
    return SeatResult(*(np.concatenate(part) for part in zip(*parts, strict=True)))


_TABLES: Final = 1000
"""Games played side by side."""
ALL_FAMILIES: Final = "all families"
"""The family under which counts over all of them stand."""


@dataclass(frozen=True)
class SeatScore:
    """One row: the player and the reference in the same seats of the same deals, among a family."""

    family: str
    what: str
    """`all`, a side or `role: ...`."""
    policy: Estimate
    reference: Estimate
    """Win rate of the family, or of the player that is compared with, in the player's seat."""
    difference: Estimate


@dataclass(frozen=True)
class StrangersReport:
    """A player among families."""

    policy: str
    beside: str | None
    """The player that it is compared with; None: each family."""
    deals: int
    scores: tuple[SeatScore, ...]
    mean: Mapping[str, Estimate]
    """By `all` and side: the mean difference over families, with an interval over deals."""
    conventions: tuple[ConventionRow, ...] = ()
    """What both did in the seat, by family, then over several. Empty for a game outside of `CONVENTIONS`."""


@dataclass(frozen=True)
class SeatCrossplay:
    """Zero-shot cross-play: each player in one seat among each other one (off the diagonal), beside that one there (on it)."""

    players: tuple[str, ...]
    other: Estimate
    """Mean win rate off the diagonal, with an interval over deals."""
    own: Estimate
    """On the diagonal: in a seat among its own kind, in the same seats of the same deals."""
    difference: Mapping[str, Estimate]
    """`other` minus `own`, by `all` and side."""


@dataclass(frozen=True, eq=False)
class SeatGames:
    """Games of both in the seat, arrays with one entry for each deal that both played to the end."""

    deal: NDArray[np.int64]
    """Number of the deal."""
    side: NDArray[np.str_]
    role: NDArray[np.str_]
    won: NDArray[np.bool_]
    reference: NDArray[np.bool_]


@dataclass(frozen=True)
class StrangersTable:
    """Where the games are played."""

    game: str
    """Name of the game."""
    options: Mapping[str, Any]
    """Its options."""

    @property
    def features(self) -> str:
        """The richest kind of features of the game in the frame of a seat, of those that its kernels show."""
        spec = lookup(self.game).spec
        kinds = kinds_of(spec, self.options)
        return next((kind for kind in reversed(kinds) if batch.have_kernels(spec, self.options, kind)), kinds[-1])


def among_families(
    table: StrangersTable,
    policy: str,
    families: Sequence[str],
    deals: Sequence[int],
    runner: GameRunner,
    model: Model | None = None,
    beside: str | None = None,
) -> StrangersReport:
    """Seat a player among each family.

    Args:
        table: Where they play.
        policy: The player, by its name on the command line.
        families: At least one, by their names; each fills all other seats in turn.
        deals: Seeds of the deals.
        runner: How single games are played, where they are.
        model: Who answers players that ask a language model.
        beside: The player that it is compared with in its seats; None: the family.

    Raises:
        ParlourError: A player cannot sit at the table.
    """
    game, families = lookup(table.game).spec.id, tuple(dict.fromkeys(families))
    counted = game in CONVENTIONS
    tallies = {family: [ConventionTally(game) for _ in range(2 * counted)] for family in families}
    played = {
        family: seat_games(table, (policy, beside or family), family, deals, runner, model, tallies[family])
        for family in families
    }
    scores = [score for family, games in played.items() for score in _scores(family, games)]
    groups = {family: [of] for family, of in tallies.items()}
    groups |= {ALL_FAMILIES: list(tallies.values())} if len(families) > 1 else {}
    names = (policy, f"{beside or 'family'} there")[: 2 * counted]
    rows = [
        row
        for among, of in groups.items()
        for row in convention_rows(among, {name: [pair[k] for pair in of] for k, name in enumerate(names)})
    ]
    return StrangersReport(policy, beside, len(deals), tuple(scores), _mean(list(played.values())), tuple(rows))


def crossplay(
    table: StrangersTable,
    players: Sequence[str],
    deals: Sequence[int],
    runner: GameRunner,
    model: Model | None = None,
) -> SeatCrossplay:
    """Seat each of at least two players, such as networks of several seeds, among each other one. Otherwise as `among_families`."""
    played = [seat_games(table, (own, other), other, deals, runner, model) for own, other in permutations(players, 2)]
    kept = _kept(played)
    off, on = (
        Estimate.mean(np.mean([wins[some] for wins, some in zip(won, kept, strict=True)], axis=0), SHARE)
        for won in ([games.won for games in played], [games.reference for games in played])
    )
    return SeatCrossplay(tuple(players), off, on, _mean(played))


def _kept(played: Sequence[SeatGames]) -> list[NDArray[np.bool_]]:
    """Which games of each are of deals that all of them finished."""
    common = set.intersection(*(set(games.deal.tolist()) for games in played))
    return [np.isin(games.deal, list(common)) for games in played]


def _mean(played: Sequence[SeatGames]) -> dict[str, Estimate]:
    """The mean difference over families on the deals that all of them finished, by `all` and side."""
    kept = _kept(played)
    gains = np.mean(
        [(games.won.astype(float) - games.reference)[some] for games, some in zip(played, kept, strict=True)], axis=0
    )
    side = played[0].side[kept[0]]
    groups = {ALL_GAMES: np.ones(len(gains), np.bool_)} | {str(value): side == value for value in np.unique(side)}
    return {what: Estimate.mean(gains[some], SHARE_DIFFERENCE) for what, some in groups.items()}


def _scores(family: str, games: SeatGames) -> list[SeatScore]:
    groups = {ALL_GAMES: np.ones(len(games.won), np.bool_)}
    groups |= {str(side): games.side == side for side in np.unique(games.side)}
    groups |= {f"role: {role}": games.role == role for role in np.unique(games.role) if role}
    scores = []
    for what, some in groups.items():
        won, reference = games.won[some], games.reference[some]
        rates = [Estimate.rate(int(wins.sum()), len(wins)) for wins in (won, reference)]
        own, other = (measured for measured in rates if measured is not None)
        scores.append(SeatScore(family, what, own, other, Estimate.paired(won.tolist(), reference.tolist())))
    return scores


def seat_games(
    table: StrangersTable,
    pair: tuple[str, str],
    family: str,
    deals: Sequence[int],
    runner: GameRunner,
    model: Model | None = None,
    tallies: Sequence[ConventionTally] = (),
) -> SeatGames:
    """The games of a player and of the reference in one seat among a family; arguments and errors as for `among_families`.

    The first of `tallies` counts what the player does in the seat, the second what the reference does there.
    """
    if not batch.have_kernels(lookup(table.game).spec, table.options, table.features):
        return _one_by_one(table, pair, family, deals, runner, model, tallies)
    tables = pool.tables_for(table, min(_TABLES, len(deals)), autoreset=None)
    try:
        own, reference, others = (pool.batch_player(name, tables) for name in (*pair, family))
    except ParlourError:  # a player of single games
        return _one_by_one(table, pair, family, deals, runner, model, tallies)
    games = matches.one_seat(tables, own, reference, others, deals, tallies)
    rules: Game[Any] = tables.game
    roles = rules.role_names or ("",)
    named = np.array(roles)[np.minimum(games.roles, len(roles) - 1)]
    sides = np.array(tables.spec.sides)[games.sides]
    return SeatGames(np.arange(len(deals)), sides, named, games.won, games.reference)


def _one_by_one(
    table: StrangersTable,
    pair: tuple[str, str],
    family: str,
    deals: Sequence[int],
    runner: GameRunner,
    model: Model | None,
    tallies: Sequence[ConventionTally],
) -> SeatGames:
    policy, other = pair
    env = rollout.table(table.game, **table.options)
    base = env.game_env
    make = {name: partial(make_policy, name, base.spec.id, base.game.config, model) for name in (*pair, family)}
    reference = f"{other} there"
    candidates = {policy: make[policy], reference: make[other]}
    counting = dict(zip(candidates, tallies, strict=False))

    def count(job: Job, game: Episode) -> None:
        seat = deals.index(job.seed) % base.game.seats
        counting[job.players[seat][0]].add(game.last_views, seat)

    runner = replace(runner, finished=count) if counting else runner
    report = evaluate.single(env, candidates, (family, make[family]), deals, runner)
    rows = {(game.policy, game.seed): game for game in report.games}
    numbers = [k for k, seed in enumerate(deals) if {(policy, seed), (reference, seed)} <= set(rows)]
    kept = [(rows[policy, deals[k]], rows[reference, deals[k]]) for k in numbers]
    return SeatGames(
        np.array(numbers),
        np.array([row.side for row, _ in kept]),
        np.array([row.role for row, _ in kept]),
        np.array([row.won for row, _ in kept]),
        np.array([other.won for _, other in kept]),
    )
