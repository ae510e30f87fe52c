"""A benchmark as a page and in Markdown: the verdict, on the page the scores as a picture, then the tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parlour.policies.files import atomic_write
from parlour.training.measure.benchmark.result import scores
from parlour.training.measure.benchmark.results_file import BenchmarkResult
from parlour.training.results.decision_tables import SIGN
from parlour.training.results.pages.report import (
    HTML,
    MARKDOWN,
    intervals,
    opening,
    part_html,
    part_markdown,
    write_verdict_page,
)
from parlour.training.results.result_table import ResultTable

_MOST = 12
"""Scores in the picture: the whole, games, sides and tables come first."""


def write_benchmark_page(
    folder: Path, result: BenchmarkResult, verdict: str, parts: Sequence[ResultTable | str]
) -> None:
    """Write both into the directory of a run. Raises `OSError` as writing a file does."""
    title = f"Benchmark {result.suite}: {result.name}"
    write_verdict_page(folder / HTML, title, verdict, [_picture(result), *map(part_html, parts)])
    atomic_write(folder / MARKDOWN, "\n".join([*opening(title, verdict), *map(part_markdown, parts)]))


def _picture(result: BenchmarkResult) -> str:
    """The scores with their intervals; nothing for a player without a score."""
    if result.no_score:
        return ""
    sign = f" {SIGN}" if result.doubt else ""
    rows = [
        (name, score, f"{score.value:.1f}{sign}, n={score.n}")
        for name, score in scores(result.suite, result.points).items()
    ]
    label = "points of 100 with their 95 % intervals; n is the number of deals"
    return intervals(label, rows[:_MOST], 0.0, 100.0)
