"""Measuring policies: on common seeds, with sides and seats swapped, every rate with n, interval and paired comparison.

Two designs. `team`: two policies as teams; for each seed A plays one side and B the other, then they change over on
the same deal. `single`: several candidates take the same seat of the same deal, one after another, against the same
opponents. The seat goes round with the seed. Scores are pure functions of the table of games, and do not depend on how
many games are played at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.common.plain import fields_of, plain
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.spec import GameSpec
from parlour.policies.llm.decisions import Decisions
from parlour.training.play.parallel.concurrent_games import Job, MakePolicy
from parlour.training.play.rollout import Episode, Unfinished
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.statistics import Estimate
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv

ALL_GAMES: Final = "all"
"""What a rate or a comparison over all games is called; beside it stand sides and roles."""


@dataclass(frozen=True)
class Game:
    """One row of the table of games."""

    seed: int
    policy: str
    """The policy that is scored in this row."""
    seat: int | None
    """Its seat, or None if it played a whole side."""
    side: str
    role: str
    """Its role; empty for a side."""
    opponent: str
    won: bool
    winner: str
    reason: str
    moves: int
    decisions: int = 0
    """Decisions of its seat, or of its side."""
    own: int = 0
    """How many of these were the player's own."""
    file: str = ""
    """Name of the transcript's file; empty if there is none."""


class DecisionShare(NamedTuple):
    """How many of the decisions behind a figure were the player's own."""

    own: int
    decisions: int


@dataclass(frozen=True)
class GivenUp:
    """A game that no figure counts, because a player failed in it."""

    seed: int
    players: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Comparison:
    """Two policies on the same deals."""

    a: str
    b: str
    side: str
    """`"all"`, or the side to which the comparison is restricted."""
    result: Estimate


@dataclass(frozen=True)
class Evaluation:
    """All that was measured."""

    design: str
    table: Mapping[str, Any]
    """Which game, with its configuration."""
    games: tuple[Game, ...]
    rates: Mapping[str, Mapping[str, Estimate | None]]
    """Policy -> what (`all`, a side, `role: ...`) -> win rate."""
    comparisons: tuple[Comparison, ...]
    own: Mapping[str, Mapping[str, DecisionShare]] = field(default_factory=dict)
    """Policy -> what, as in `rates` -> whose the decisions were."""
    players: Mapping[str, Decisions] = field(default_factory=dict)
    """Everybody who played, opponents too -> all decisions, and what they took."""
    unfinished: tuple[GivenUp, ...] = ()
    others: int = 0
    """Number of seats beside the measured one; 0 where whole sides were measured."""

    @property
    def worth_watching(self) -> str:
        """Name of the transcript to look at first: the first game that the first player lost, or else the first."""
        lost = (game.file for game in self.games if game.policy == next(iter(self.rates)) and not game.won)
        return next(lost, _file_name(0))

    def rests_on(self, comparison: Comparison) -> list[tuple[str, int, int]]:
        """The two players of a comparison, each with its own decisions and all of them."""
        both = (comparison.a, comparison.b)
        return [(name, *self.own.get(name, {}).get(comparison.side, DecisionShare(0, 0))) for name in both]

    def as_json(self) -> dict[str, Any]:
        """Plain values; the games themselves are left out."""
        comparisons = [
            {**plain(pair), "own": {name: plain(DecisionShare(*of)) for name, *of in self.rests_on(pair)}}
            for pair in self.comparisons
        ]
        return fields_of(replace(self, games=())) | {"games": len(self.games), "comparisons": comparisons}


def single(
    env: AECEnv[str, Any, Any],
    candidates: Mapping[str, MakePolicy],
    opponents: tuple[str, MakePolicy],
    seeds: Sequence[int],
    runner: GameRunner = ONE_AT_A_TIME,
    own: int | None = None,
) -> Evaluation:
    """Let each candidate take the same seat of the same deals.

    Args:
        env: What `rollout.table` makes.
        candidates: Name -> policy. The first one is compared with each other one.
        opponents: Name and policy of all other seats.
        seeds: One deal each.
        runner: How games are played; with `out`, transcripts are numbered deal by deal.
        own: The candidates' seat; None: for the k-th seed the seat k modulo the number of seats.

    Raises:
        ParlourError: There is no such seat, or a transcript exists; or as `failures` says.
    """
    base = _base(env)
    n = base.game.seats
    if own is not None:
        check_one_of("seat", own, range(n))
    jobs: list[Job] = []
    asked: list[tuple[str, int]] = []
    for which, candidate in enumerate(candidates.items()):
        for number, seed in enumerate(seeds):
            taken = number % n if own is None else own
            players = tuple(candidate if k == taken else opponents for k in range(n))
            jobs.append(Job(seed, players, _file(runner.out, number * len(candidates) + which)))
            asked.append((candidate[0], taken))

    tally = _Tally(jobs)

    def row(number: int, episode: Episode) -> Game:
        tally.add(number, episode)
        return tally.counted(number, _seat_row(episode, *asked[number], opponents[0]))

    rows = runner.play_each(env, jobs, row, ", ".join(candidates), tally.skip, tally.note)
    return replace(_report("single", base, rows, tuple(candidates), tally), others=n - 1)


def team(
    env: AECEnv[str, Any, Any],
    a: tuple[str, MakePolicy],
    b: tuple[str, MakePolicy],
    seeds: Sequence[int],
    runner: GameRunner = ONE_AT_A_TIME,
) -> Evaluation:
    """Let two policies play whole sides, each deal twice, with sides changed over. Names must differ.

    The arguments are as for `single`.

    Raises:
        ParlourError: The game has not two sides, the names are the same, or a transcript exists.
    """
    if a[0] == b[0]:
        raise ParlourError(f"both sides are called {a[0]!r}; accepted: two different names")
    base = _base(env)
    first, other = two_sides(base.spec)
    jobs: list[Job] = []
    for seed in seeds:
        base.reset(seed=seed)
        views: list[Any] = [base.view(k) for k in range(base.game.seats)]
        for ones, others in ((a, b), (b, a)):
            players = tuple(ones if side == first else others for side in [view.side for view in views])
            jobs.append(Job(seed, players, _file(runner.out, len(jobs))))

    tally = _Tally(jobs)

    def rows(number: int, episode: Episode) -> list[Game]:
        tally.add(number, episode)
        names = [name for name, _ in jobs[number].players]
        ones, others = (a[0], b[0]) if number % 2 == 0 else (b[0], a[0])
        rows = (_side_row(episode, names, ones, first, others), _side_row(episode, names, others, other, ones))
        return [tally.counted(number, row) for row in rows]

    played = runner.play_each(env, jobs, rows, f"{a[0]} and {b[0]}", tally.skip, tally.note)
    return _report("team", base, [row for pair in played for row in pair], (a[0], b[0]), tally)


class _Tally:
    """Everybody's decisions, by name, and the games that were given up."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._names = [tuple(name for name, _ in job.players) for job in jobs]
        self._files = ["" if job.transcript is None else job.transcript.name for job in jobs]
        self.players: dict[str, Decisions] = {}
        self.unfinished: list[GivenUp] = []
        self._won: Counter[str] = Counter()
        self._played: Counter[str] = Counter()

    def counted(self, number: int, row: Game) -> Game:
        """The row of a game, with its file; it counts for `note`."""
        self._won[row.policy] += row.won
        self._played[row.policy] += 1
        return replace(row, file=self._files[number])

    def note(self) -> str:
        """The win rates so far, for the line of progress."""
        rates = [f"{name} {self._won[name] / n:.2f}" for name, n in self._played.items()]
        return f"win rate {', '.join(rates)}" if rates else ""

    def add(self, number: int, game: Episode | Unfinished) -> None:
        """Count the decisions of a game."""
        for name, decision in zip(self._names[number], game.decisions, strict=True):
            self.players[name] = self.players.get(name, Decisions()) + decision

    def skip(self, number: int, game: Unfinished) -> None:
        """Note a game that was given up; its decisions count as made."""
        self.add(number, game)
        self.unfinished.append(GivenUp(game.seed, self._names[number], game.why))


def _file(out: Path | None, number: int) -> Path | None:
    return None if out is None else out / _file_name(number)


def _file_name(number: int) -> str:
    return f"game-{number + 1:03}.jsonl"


def _base(env: AECEnv[str, Any, Any]) -> GameEnv:
    return inner_game(env, "evaluation", full=True)


def two_sides(spec: GameSpec) -> tuple[str, str]:
    """The sides of a game of two. Raises `ParlourError` for another game."""
    if len(spec.sides) != 2:
        sides = f"the sides {', '.join(spec.sides)}" if spec.sides else "no sides"
        raise ParlourError(f"this game has {sides}; accepted: a game of two sides, or the design single")
    return spec.sides[0], spec.sides[1]


def _seat_row(episode: Episode, name: str, own: int, opponent: str) -> Game:
    view, outcome = episode.last_views[own], episode.outcome
    side, role = getattr(view, "side", ""), getattr(view, "role", "")
    won = outcome.returns[own] > 0
    made = DecisionShare(episode.decisions[own].own, episode.decisions[own].decisions)
    end = (outcome.winner, outcome.reason, episode.moves)
    return Game(episode.seed, name, own, side, role, opponent, won, *end, decisions=made.decisions, own=made.own)


def _side_row(episode: Episode, seated: Sequence[str], name: str, side: str, opponent: str) -> Game:
    outcome = episode.outcome
    won = outcome.winner == side
    made = [decision for who, decision in zip(seated, episode.decisions, strict=True) if who == name]
    end = (outcome.winner, outcome.reason, episode.moves)
    decisions, own = sum(made_by.decisions for made_by in made), sum(made_by.own for made_by in made)
    return Game(episode.seed, name, None, side, "", opponent, won, *end, decisions=decisions, own=own)


def _report(design: str, base: GameEnv, rows: Sequence[Game], names: Sequence[str], tally: _Tally) -> Evaluation:
    table = {"game": base.spec.id, **base.game.config}
    groups = {name: _groups([row for row in rows if row.policy == name]) for name in names}
    rates = {name: {what: _rate(group) for what, group in of.items()} for name, of in groups.items()}
    own = {name: {what: _own(group) for what, group in of.items()} for name, of in groups.items()}
    comparisons = [c for other in names[1:] for c in _compare(rows, names[0], other)]
    unfinished = tuple(tally.unfinished)
    return Evaluation(design, table, tuple(rows), rates, tuple(comparisons), own, tally.players, unfinished)


def _rate(group: Sequence[Game]) -> Estimate | None:
    return Estimate.rate(sum(row.won for row in group), len(group))


def _own(group: Sequence[Game]) -> DecisionShare:
    return DecisionShare(sum(row.own for row in group), sum(row.decisions for row in group))


def _groups(rows: Sequence[Game]) -> dict[str, list[Game]]:
    groups: dict[str, list[Game]] = {ALL_GAMES: list(rows)}
    for side in sorted({row.side for row in rows} - {""}):
        groups[side] = [row for row in rows if row.side == side]
    for role in sorted({row.role for row in rows} - {""}):
        groups[f"role: {role}"] = [row for row in rows if row.role == role]
    return groups


def _compare(rows: Sequence[Game], a: str, b: str) -> list[Comparison]:
    """A and B on the cases that both played: same seed, same seat, same side.

    Over all games a deal of which both played both sides is one case: what A gains as one side it gains as the other, too.
    """
    won = {name: {(row.seed, row.seat, row.side): row.won for row in rows if row.policy == name} for name in (a, b)}
    both = [case for case in won[a] if case in won[b]]
    compared = []
    for side in (ALL_GAMES, *sorted({row.side for row in rows} - {""})):
        cases = [case for case in both if side in (ALL_GAMES, case[2])]
        by_deal: dict[tuple[int, int | None], list[int]] = {}
        for case in cases:
            by_deal.setdefault(case[:2], []).append(won[a][case] - won[b][case])
        if len(by_deal) < len(cases):
            result = Estimate.mean([sum(gains) / len(gains) for gains in by_deal.values()], (-1.0, 1.0))
            compared.append(Comparison(a, b, side, result))
        elif cases:
            result = Estimate.paired([won[a][case] for case in cases], [won[b][case] for case in cases])
            compared.append(Comparison(a, b, side, result))
    return compared
