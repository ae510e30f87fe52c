"""Two players on the same deals: by how many points one is above the other, with intervals and a test."""

from __future__ import annotations

from pathlib import Path

from parlour.envs.core import ParlourError

from parlour_bench.result import Scores, scores
from parlour_bench.results_file import (
    REFERENCE_PLAYERS,
    BenchmarkResult,
    read_result,
    reference_file,
)
from parlour_bench.suite import Suite


def compare(a: BenchmarkResult, b: BenchmarkResult) -> tuple[Suite, Scores]:
    """The tables that both played, and the points of A minus the points of B.

    Raises:
        ParlourError: The results are of different versions, or have no table in common.
    """
    if a.suite.version != b.suite.version:
        raise ParlourError(
            f"{a.name!r} played version {a.suite.version} of the suite, {b.name!r} version {b.suite.version}; accepted: two "
            "results of one version"
        )
    common = [table.name for table in a.suite.tables if table in b.suite.tables]
    if a.suite.name != b.suite.name or not common:
        raise ParlourError(
            f"{a.name!r} played suite {a.suite}, {b.name!r} suite {b.suite}: no table in common; accepted: two results of one suite"
        )
    suite = a.suite.only(common)
    return suite, scores(suite, a.points, b.points)


def two_results(a: str, b: str) -> tuple[BenchmarkResult, BenchmarkResult]:
    """Results files or directories of runs, or players that come with parlour by name, as they did on the other's suite.

    Raises:
        ParlourError: There is no such file or player, or both are players that come with parlour.
    """
    if a in REFERENCE_PLAYERS and b in REFERENCE_PLAYERS:
        raise ParlourError(f"{a!r} and {b!r} tell no suite; accepted: a results file or a directory for one of them")
    read = {name: read_result(Path(name)) for name in (a, b) if name not in REFERENCE_PLAYERS}
    suite = next(iter(read.values())).suite
    shipped = next((name for name in (a, b) if name in REFERENCE_PLAYERS), None)
    if suite.day and shipped is not None:
        raise ParlourError(f"{shipped!r} has not played the deals of {suite.day}; accepted: two results of that day")
    first, other = (read[name] if name in read else read_result(reference_file(suite, name)) for name in (a, b))
    return first, other
