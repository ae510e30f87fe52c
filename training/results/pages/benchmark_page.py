"""A benchmark as a page: the verdict and the scores with their intervals as a picture, then the tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from parlour.policies.files import atomic_write
from parlour.training.measure.benchmark.result import scores
from parlour.training.measure.benchmark.results_file import BenchmarkResult
from parlour.training.results.pages.page import render
from parlour.training.results.pages.report import HTML, intervals, page_of, part_html, text_html
from parlour.training.results.result_table import ResultTable

_MOST = 12
"""Scores in the picture: the whole, games, sides and tables come first."""


def write_benchmark_page(
    folder: Path, result: BenchmarkResult, verdict: str, parts: Sequence[ResultTable | str]
) -> None:
    """Write the page into the directory of a run. Raises `OSError` as writing a file does."""
    title = f"Benchmark {result.suite.name}: {result.name}"
    found = [(name, one, f"{one.value:.1f}, n={one.n}") for name, one in scores(result.suite, result.points).items()]
    label = "points of 100 with their 95 % intervals; n is the number of deals"
    opening = [text_html("h1", title), text_html("blockquote", verdict), intervals(label, found[:_MOST], 0.0, 100.0)]
    atomic_write(folder / HTML, render(page_of(title, [*opening, *map(part_html, parts)])))
