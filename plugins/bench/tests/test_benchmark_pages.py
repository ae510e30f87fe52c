"""The pages of a benchmark and of its leaderboard in a browser: they fit a screen and a phone, and axe finds nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import pytest
from parlour.policies.llm.decisions import Decisions
from parlour.training.report.report import PAGE_FILE, Report
from parlour_bench.cli import score_parts
from parlour_bench.leaderboard import leaderboard
from parlour_bench.page import (
    LEADERBOARD_PAGE,
    write_benchmark_page,
    write_leaderboard_page,
    write_runs_page,
)
from parlour_bench.results_file import ABILITIES, RESULTS, read_result, reference_file
from parlour_bench.suite import FULL
from parlour_bench.verdict import verdict_of
from told_abilities import told_abilities

from tests.browser.watched_page import DESKTOP, GOOD, SCROLLING

SIZES = pytest.mark.parametrize("size", [DESKTOP, {"width": 390, "height": 844}], ids=["1280", "390"])


def benchmark_page(folder: Path) -> Path:
    """The random player's results of the full suite, under a name with markup in it."""
    result = replace(read_result(reference_file(FULL, "random")), name="<b>me</b>")
    report = Report("", verdict_of(result), tuple(score_parts(result, Decisions(), "")))
    write_benchmark_page(folder, result, report)
    return folder / PAGE_FILE


def leaderboard_page(folder: Path) -> Path:
    """The same results, with the players that come with parlour."""
    write_leaderboard_page(folder, leaderboard([reference_file(FULL, "random")]))
    return folder / LEADERBOARD_PAGE


def runs_page(folder: Path) -> Path:
    """The same results as a run with abilities."""
    run = folder / "run"
    run.mkdir()
    (run / ABILITIES).write_text(json.dumps(told_abilities()))
    copyfile(reference_file(FULL, "random"), run / RESULTS)
    write_runs_page(folder / "runs.html", [run], leaderboard([run]))
    return folder / "runs.html"


@SIZES
@pytest.mark.parametrize(
    ("write", "heading"),
    [
        (benchmark_page, "Benchmark parlour-bench-1, full: <b>me</b>"),
        (leaderboard_page, "Leaderboard: parlour-bench-1, full"),
        (runs_page, "Benchmark parlour-bench-1, full: random"),
    ],
    ids=["benchmark", "leaderboard", "runs"],
)
def test_a_page_fits_asks_for_nothing_and_can_be_read_by_everybody(
    watched, tmp_path: Path, size, write: Callable[[Path], Path], heading
):
    watched.page.set_viewport_size(size)
    page = watched.open(write(tmp_path))
    assert page.inner_text("h1") == heading
    assert watched.misdeeds() == GOOD
    assert watched.wider_than_screen() == 0
    assert page.evaluate(SCROLLING) == []
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert axe.run(page).response["violations"] == []
