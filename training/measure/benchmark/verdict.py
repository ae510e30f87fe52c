"""What a benchmark found, in words: a player's score, and how it compares with the players that come with parlour."""

from __future__ import annotations

from typing import Final

from parlour.training.measure.benchmark.result import OVERALL, scores
from parlour.training.measure.benchmark.results_file import BenchmarkResult, references
from parlour.training.measure.statistics import show_interval
from parlour.training.results.verdicts import POINTS, compared, together

_BESIDE: Final = ("trained", "heuristic")
"""Players that come with parlour with which a verdict compares."""


def verdict_of(result: BenchmarkResult) -> str:
    """Score and comparisons on the same deals; neither for a player that made fewer than half of its decisions itself."""
    if result.no_score:
        return result.no_score
    own = scores(result.suite, result.points)[OVERALL]
    interval = "" if own.low is None else f" {show_interval(own, '.1f')}"
    said = [f"{result.name} scores {own.value:.1f} points of 100{interval}; {own.n:,} deals."]
    for other in references(result.suite):
        if other.name in _BESIDE and other.name != result.name:
            difference = scores(result.suite, result.points, other.points)[OVERALL]
            said.append(compared(result.name, other.name, difference, POINTS))
    return together([*said, result.doubt])
