"""`parlour benchmark leaderboard` and `page`: results files of one suite, checked and ranked, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.policies.files import write_json
from parlour.training.cli.options import Answer
from parlour.training.measure.benchmark.leaderboard import leaderboard
from parlour.training.results.pages.leaderboard_page import (
    LEADERBOARD_PAGE,
    leaderboard_table,
    verdict_on,
    write_leaderboard_page,
)
from parlour.training.results.pages.runs_page import write_runs_page

FIGURES: Final = "leaderboard.json"


def show_leaderboard(
    results: Annotated[list[Path], typer.Argument(), "Results files (benchmark.json), or run directories."],
    out: Annotated[Path, "Folder for the page and the figures."] = Path("runs/leaderboard"),
) -> Answer:
    """Rank players by their results of one suite, with the players that come with parlour.

    Each file is checked: its suite, its counts, and that its scores follow from its points. A file that fails is refused.

    Example: [bold]parlour benchmark leaderboard runs/llama runs/qwen --out site[/bold]
    """
    board = leaderboard(results)
    out.mkdir(parents=True, exist_ok=True)
    write_leaderboard_page(out, board)
    write_json(out / FIGURES, board.as_json())
    files = f"page: {out / LEADERBOARD_PAGE}; figures: {out / FIGURES}"
    return Answer(board.as_json(), [leaderboard_table(board), files], verdict=verdict_on(board))


def write_page(
    runs: Annotated[list[Path], typer.Argument(), "Run directories of a benchmark, of one suite."],
    html: Annotated[Path, "The page."] = Path("runs/benchmark.html"),
) -> Answer:
    """Put runs of the benchmark on one page: verdict, scores beside cost, abilities, games worth reading, commands.

    Abilities are on it for runs in which `parlour benchmark abilities` has measured them. The file benchmark.json of a run is what
    one submits to a leaderboard; it is checked as there.

    Example: [bold]parlour benchmark page runs/llama runs/qwen --html site/index.html[/bold]
    """
    board = leaderboard(runs)
    verdict = write_runs_page(html, runs, board)
    return Answer({**board.as_json(), "page": str(html)}, [leaderboard_table(board), f"page: {html}"], verdict=verdict)
