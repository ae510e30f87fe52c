"""What a benchmark found, in words: a player's score, and how it compares with the players that come with parlour."""

from __future__ import annotations

from itertools import combinations
from math import ceil
from typing import Final

from parlour.training.report.verdicts import DifferenceScale, together
from parlour.training.statistics import Estimate

from parlour_bench.result import OVERALL, scores
from parlour_bench.results_file import BenchmarkResult, references
from parlour_bench.suite import Suite

POINTS: Final = DifferenceScale("points", matters=3.0)

POWER: Final = 1.43

_BESIDE: Final = ("trained", "heuristic")
"""Players that come with parlour with which a verdict compares."""
SMALL_DIFFERENCE: Final = 5.0
"""Points of 100, for which the number of games is said that would show them."""


def expectation(suite: Suite) -> str:
    """How many games a player will play, how long its interval will be, and which difference of two players the suite can show.

    Lengths are the longest ones of the players that come with parlour, on the same tables. A player whose deals differ more has a
    longer interval.
    """
    known = [reference.points for reference in references(suite.usual)]
    games = f"Benchmark {suite}: {suite.games_played} games."
    if not known:
        return games
    alone = max(half(scores(suite.usual, points)[OVERALL]) for points in known)
    differences = [scores(suite.usual, points, other)[OVERALL] for points, other in combinations(known, 2)]
    apart = max(map(half, differences))
    deals = max(filter(None, (difference.cases_needed(SMALL_DIFFERENCE) for difference in differences)))
    needed = 10 * ceil(deals / differences[0].n * suite.games_played / 10)
    return (
        f"{games} The 95 % interval of the score will be {ceil(alone)} points to each side or more; a difference of two "
        f"players is shown four times in five if it is about {ceil(POWER * apart)} points. "
        f"To show {SMALL_DIFFERENCE:g} points would take about {needed:,} games."
    )


def half(estimate: Estimate) -> float:
    """Half the length of an interval; 0.0 where there is none."""
    low, high = estimate.ends
    return (high - low) / 2


def verdict_of(result: BenchmarkResult) -> str:
    """Score and comparisons on the same deals; neither for a player that made fewer than half of its decisions itself."""
    if result.no_score:
        return result.no_score
    own = scores(result.suite, result.points)[OVERALL]
    said = [f"{result.name} scores {own.value:.1f} points of 100 {own.interval('.1f')}; {own.n:,} deals."]
    for other in references(result.suite):
        if other.name in _BESIDE and other.name != result.name:
            difference = scores(result.suite, result.points, other.points)[OVERALL]
            said.append(POINTS.compared(result.name, other.name, difference))
    return together([*said, result.doubt])
