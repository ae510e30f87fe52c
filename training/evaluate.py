"""Measuring policies: on common seeds, with sides and seats swapped, every rate with n, interval and paired comparison.

Two designs. `team`: two policies as teams; for each seed A plays one side and B the other, then they change over on
the same deal. `single`: several candidates take the same seat of the same deal, one after another, against the same
opponents. The seat goes round with the seed. Scores are pure functions of the table of games, and do not depend on how
many games are played at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from parlour.envs.aec import GameEnv
from parlour.envs.core import GameSpec, ParlourError, check_one_of
from parlour.training.parallel.concurrent_games import Job, MakePolicy, Progress, no_progress, play_each
from parlour.training.parallel.executor import Pool
from parlour.training.rollout import Episode
from parlour.training.runs import write_csv
from parlour.training.statistics import PairedDifference, Rate, paired, rate
from pettingzoo.utils.env import AECEnv


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


@dataclass(frozen=True)
class Comparison:
    """Two policies on the same deals."""

    a: str
    b: str
    side: str
    """`"all"`, or the side to which the comparison is restricted."""
    result: PairedDifference


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    design: str
    table: Mapping[str, Any]
    """Which game, with its configuration."""
    games: tuple[Game, ...]
    rates: Mapping[str, Mapping[str, Rate | None]]
    """Policy -> what (`all`, a side, `role: ...`) -> win rate."""
    comparisons: tuple[Comparison, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values; the games themselves are left out."""
        return {
            "design": self.design,
            "table": dict(self.table),
            "games": len(self.games),
            "rates": {p: {w: asdict(r) if r else None for w, r in of.items()} for p, of in self.rates.items()},
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
        }


def single(
    env: AECEnv[str, Any, Any],
    candidates: Mapping[str, MakePolicy],
    opponents: tuple[str, MakePolicy],
    seeds: Sequence[int],
    progress: Progress = no_progress,
    own: int | None = None,
    workers: int = 1,
    out: Path | None = None,
    pool: Pool | None = None,
) -> Report:
    """Let each candidate take the same seat of the same deals.

    Args:
        env: What `rollout.table` makes.
        candidates: Name -> policy. The first one is compared with each other one.
        opponents: Name and policy of all other seats.
        seeds: One deal each.
        progress: Counts the games that are finished.
        own: The candidates' seat; None: for the k-th seed the seat k modulo the number of seats.
        workers: How many games are played at once; see `parlour.training.parallel.concurrent_games`.
        out: Folder for a transcript of each game, named after the seed, the seat and the candidate.
        pool: Processes that play; see `parlour.training.parallel.concurrent_games`.

    Raises:
        ParlourError: There is no such seat, or a transcript exists.
    """
    base = _base(env)
    n = base.game.seats
    if own is not None:
        check_one_of("seat", own, range(n))
    jobs: list[Job] = []
    asked: list[tuple[str, int]] = []
    for candidate, label in zip(candidates.items(), _labels(candidates), strict=True):
        for number, seed in enumerate(seeds):
            taken = number % n if own is None else own
            players = tuple(candidate if k == taken else opponents for k in range(n))
            jobs.append(Job(seed, players, _file(out, base, f"{seed}-seat{taken}-{label}")))
            asked.append((candidate[0], taken))

    def row(number: int, episode: Episode) -> Game:
        return _seat_row(episode, *asked[number], opponents[0])

    rows = play_each(env, jobs, row, workers=workers, progress=progress, what=", ".join(candidates), pool=pool)
    return _report("single", base, rows, tuple(candidates))


def team(
    env: AECEnv[str, Any, Any],
    a: tuple[str, MakePolicy],
    b: tuple[str, MakePolicy],
    seeds: Sequence[int],
    progress: Progress = no_progress,
    workers: int = 1,
    out: Path | None = None,
    pool: Pool | None = None,
) -> Report:
    """Let two policies play whole sides, each deal twice, with sides changed over. Names must differ.

    The arguments are those of `single`; transcripts are named after the seed and who is on which side.

    Raises:
        ParlourError: The game has not two sides, the names are the same, or a transcript exists.
    """
    if a[0] == b[0]:
        raise ParlourError(f"both sides are called {a[0]!r}; accepted: two different names")
    base = _base(env)
    one, other = two_sides(base.spec)
    label = dict(zip((a[0], b[0]), _labels((a[0], b[0])), strict=True))
    jobs: list[Job] = []
    for seed in seeds:
        base.reset(seed=seed)
        views: list[Any] = [base.view(k) for k in range(base.game.seats)]
        for ones, others in ((a, b), (b, a)):
            players = tuple(ones if side == one else others for side in [view.side for view in views])
            name = f"{seed}-{one}-{label[ones[0]]}-{other}-{label[others[0]]}"
            jobs.append(Job(seed, players, _file(out, base, name)))

    def rows(number: int, episode: Episode) -> list[Game]:
        ones, others = (a[0], b[0]) if number % 2 == 0 else (b[0], a[0])
        return [_side_row(episode, ones, one, others), _side_row(episode, others, other, ones)]

    what = f"{a[0]} and {b[0]}"
    played = play_each(env, jobs, rows, workers=workers, progress=progress, what=what, pool=pool)
    return _report("team", base, [row for pair in played for row in pair], (a[0], b[0]))


def _labels(names: Iterable[str]) -> list[str]:
    """Names that can stand in the name of a file: numbered from 1, because two paths may end alike."""
    return [f"{k}_{re.sub(r'[^A-Za-z0-9]+', '_', Path(name).stem)[:40]}" for k, name in enumerate(names, 1)]


def _file(out: Path | None, base: GameEnv, arrangement: str) -> Path | None:
    return None if out is None else out / f"{base.spec.id}-{arrangement}.jsonl"


def _base(env: AECEnv[str, Any, Any]) -> GameEnv:
    base = env.unwrapped
    assert isinstance(base, GameEnv), "evaluation takes parlour's own environments"
    return base


def two_sides(spec: GameSpec) -> tuple[str, str]:
    """The sides of a game of two. Raises `ParlourError` for another game."""
    if len(spec.sides) != 2:
        told = f"the sides {', '.join(spec.sides)}" if spec.sides else "no sides"
        raise ParlourError(f"this game has {told}; accepted: a game of two sides, or the design single")
    return spec.sides[0], spec.sides[1]


def _seat_row(episode: Episode, name: str, own: int, opponent: str) -> Game:
    view, outcome = episode.last_views[own], episode.outcome
    side, role = getattr(view, "side", ""), getattr(view, "role", "")
    won = outcome.returns[own] > 0
    return Game(episode.seed, name, own, side, role, opponent, won, outcome.winner, outcome.reason, episode.moves)


def _side_row(episode: Episode, name: str, side: str, opponent: str) -> Game:
    outcome = episode.outcome
    won = outcome.winner == side
    return Game(episode.seed, name, None, side, "", opponent, won, outcome.winner, outcome.reason, episode.moves)


def _report(design: str, base: GameEnv, rows: Sequence[Game], names: Sequence[str]) -> Report:
    table = {"game": base.spec.id, **base.game.config}
    rates = {name: _rates([row for row in rows if row.policy == name]) for name in names}
    comparisons = [c for other in names[1:] for c in _compare(rows, names[0], other)]
    return Report(design, table, tuple(rows), rates, tuple(comparisons))


def _rates(rows: Sequence[Game]) -> dict[str, Rate | None]:
    groups: dict[str, list[Game]] = {"all": list(rows)}
    for side in sorted({row.side for row in rows} - {""}):
        groups[side] = [row for row in rows if row.side == side]
    for role in sorted({row.role for row in rows} - {""}):
        groups[f"role: {role}"] = [row for row in rows if row.role == role]
    return {what: rate(sum(row.won for row in group), len(group)) for what, group in groups.items()}


def _compare(rows: Sequence[Game], a: str, b: str) -> list[Comparison]:
    """A and B on the cases that both played: same seed, same seat, same side."""
    won = {name: {(row.seed, row.seat, row.side): row.won for row in rows if row.policy == name} for name in (a, b)}
    compared = []
    for side in ("all", *sorted({row.side for row in rows} - {""})):
        cases = [case for case in won[a] if case in won[b] and side in ("all", case[2])]
        if cases:
            result = paired([won[a][case] for case in cases], [won[b][case] for case in cases])
            compared.append(Comparison(a, b, side, result))
    return compared


def write_table(report: Report, path: Path) -> None:
    """The table of games as CSV, a row a game and scored policy."""
    rows = [list(asdict(game).values()) for game in report.games]
    write_csv(path, [field.name for field in fields(Game)], rows, end="\r\n")
