"""The benchmark's suite as a task of Inspect: the deals, sides and opponents of `parlour benchmark`, and its figures as metrics.

inspect eval parlour_bench/parlour_bench_1 --model openai/gpt-5 -T quick=true
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan, sqrt
from typing import Any, Final

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from parlour.envs.registry import lookup
from parlour.training.harnesses.inspect_ai.played import seatings
from parlour.training.harnesses.inspect_ai.tasks import game_score, metrics_of, moves_chosen, whole_game
from parlour.training.report.verdicts import DecidedBy
from parlour.training.statistics import Estimate

from parlour_bench.played import WON
from parlour_bench.ratings import ratings
from parlour_bench.result import OVERALL, Points, scores, strata_of
from parlour_bench.suite import FULL, BenchmarkTable, Suite, chosen_suite, opponent_at

PLAYED: Final = "model"
"""What ratings call the model that is evaluated."""


@task(name="parlour_bench_1")
def parlour_bench_1(
    quick: bool = False,
    fresh: str | None = None,
    table: str | Sequence[str] | None = None,
    suite: str = FULL.name,
) -> Task:
    """The suite `parlour-bench-1`: every deal from both sides, against each opponent.

    Args:
        quick: The quick suite.
        fresh: Deals of this day, YYYY-MM-DD.
        table: Tables of the suite; None: all of them.
        suite: `full`, `quick` or `strangers`.

    Raises:
        ParlourError: An argument is not accepted, or a package is missing.
    """
    names = [table] if isinstance(table, str) else None if table is None else list(table)
    chosen = chosen_suite(suite, names, fresh, quick)
    return Task(
        dataset=MemoryDataset(list(samples_of(chosen)), name=str(chosen)),
        solver=suite_game(),
        scorer=suite_score(),
        metrics=suite_metrics(chosen.name, fresh, names),
        version=chosen.version,
        metadata={"suite": str(chosen), "sha256": chosen.digest},
    )


def samples_of(suite: Suite) -> Iterator[Sample]:
    """The games of a suite, in the order in which `parlour benchmark` plays them."""
    for table in suite.tables:
        sides = lookup(table.game).spec.sides
        for opponent in table.opponents:
            for options, deals in table.sittings():
                base = lookup(table.game).raw_env(**options)
                for game in seatings(base, deals, "all", sides):
                    yield _sample(table, options, opponent, game)


def _sample(table: BenchmarkTable, options: Mapping[str, Any], opponent: str, game: Any) -> Sample:
    metadata = {
        "table": table.name,
        "game": table.game,
        "options": dict(options),
        "opponent": opponent,
        "seed": game.seed,
        "seats": list(game.agents),
        "side": game.side,
        "role": game.role,
    }
    where = f"{table.name} against {opponent}, deal {game.seed}"
    return Sample(input=f"{where}: {game.side}", id=f"{table.name}-{opponent}-{game.name}", metadata=metadata)


@solver
def suite_game() -> Solver:
    """Play the sample's game, at the table that its metadata name."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        game, options = state.metadata["game"], state.metadata["options"]
        opponent = opponent_at(state.metadata["opponent"], game, lookup(game).raw_env(**options).game.config)
        return await whole_game(game, options, opponent)(state, generate)

    return solve


@scorer(metrics={"points": [mean()], "win": [mean()], "own": [mean()]}, name="suite")
def suite_score() -> Scorer:
    """As for a game, and `points`: 100 for a game won, 50 for a draw."""
    game = game_score()

    async def score(state: TaskState, target: Target) -> Score | None:
        result = await game(state, target)
        if result is None or result.answer is None:
            return result
        metadata = state.metadata
        points = _points(result.answer, metadata["side"], lookup(metadata["game"]).spec.sides)
        result.value = {**result.as_dict(), "points": points}
        result.metadata = {**(result.metadata or {}), "table": metadata["table"], "opponent": metadata["opponent"]}
        result.metadata |= {"points": points, "seed": metadata["seed"]}
        return result

    return score


def _points(winner: str, side: str, sides: Sequence[str]) -> float:
    if winner == side:
        return WON
    return 0.0 if winner in sides else WON / 2


def suite_metrics(name: str, fresh: str | None, tables: Sequence[str] | None) -> dict[str, list[Metric]]:
    """The metrics of the task: the figures of the suite, and the share of games won with its standard error."""
    return {
        "points": [suite_figures(name, fresh, tables)],
        **metrics_of(sides=False),
    }


@metric(name="suite")
def suite_figures(name: str, fresh: str | None, tables: Sequence[str] | None) -> Metric:
    """The score of `parlour benchmark` with its interval and standard error, and ratings in Elo points with bootstrap intervals.

    NaN where a game is missing, or where the model chose fewer than half of its moves itself.
    """
    suite = chosen_suite(name, tables, fresh)

    def value(scores: list[SampleScore]) -> Value:
        points = points_of_samples(suite, [sample.score.metadata or {} for sample in scores])
        return dict.fromkeys(("score", "low", "high", "stderr"), nan) if points is None else figures(suite, points)

    return value


def points_of_samples(suite: Suite, samples: Sequence[Mapping[str, Any]]) -> Points | None:
    """The points of a suite, from the metadata of its samples' scores; None where there is no score."""
    by_game = {(s["table"], s["opponent"], s["side"], s["seed"]): float(s["points"]) for s in samples}
    if DecidedBy(PLAYED, *moves_chosen(samples)).no_score or len(by_game) < suite.games_played:
        return None
    return {
        table.name: {
            opponent: {
                side: tuple(by_game[table.name, opponent, side, seed] for seed in table.numbers())
                for side in sorted(lookup(table.game).spec.sides)
            }
            for opponent in table.opponents
        }
        for table in suite.tables
    }


def figures(suite: Suite, points: Points) -> dict[str, float]:
    """The score, the ends of its interval at 95 % and its standard error; the same of the ratings, by table, without the error."""
    strata, weights = strata_of(suite, points)
    shares = [w**2 * float(np.var(of, ddof=1)) / len(of) for of, w in zip(strata, weights, strict=True) if len(of) > 1]
    numbers = {**_ends("score", scores(suite, points)[OVERALL]), "stderr": sqrt(sum(shares))}
    for table, rated in ratings(suite, {PLAYED: points}).items():
        numbers |= _ends(f"elo_{table}", rated[PLAYED], f"elo_{table}_")
    return numbers


def _ends(name: str, estimate: Estimate, before: str = "") -> dict[str, float]:
    low, high = estimate.ends
    return {name: estimate.value, f"{before}low": low, f"{before}high": high}
