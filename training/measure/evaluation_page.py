"""What `parlour evaluate` measured as a page: tables that sort, and the win rates with their intervals as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, fields
from pathlib import Path

from parlour.envs.core import ParlourError
from parlour.training.measure.evaluate import Evaluation, Game
from parlour.training.measure.evaluation_tables import report_parts, verdict_of
from parlour.training.report.html import intervals, table_html, text_html, write_verdict_page
from parlour.training.report.result_table import ResultTable, plain_table

_MOST_GAMES = 5_000
"""Most rows of the table of games; the file of `--table` has all."""
_HEADINGS = {"policy": "player", "opponent": "against"}


def check_out(path: Path) -> None:
    """Raises `ParlourError` if a page cannot be written there, before any game is played."""
    if path.is_dir() or not path.parent.is_dir():
        raise ParlourError(f"--html {str(path)!r} is not accepted; accepted: a file in a folder that exists")


def write_page(path: Path, report: Evaluation, note: str = "") -> None:
    """Write rates with their picture, comparisons, whose the decisions were, every game. Raises `OSError` as writing does."""
    title = f"Win rates in {report.table.get('game', 'a game')}{note}"
    lines = [
        (f"{player} as {what}", rate, f"{rate.value:.1%}, n={rate.n}")
        for player, rates in report.rates.items()
        for what, rate in rates.items()
        if rate
    ]
    picture = intervals("win rates with their 95 % Wilson intervals; n is the number of games", lines) if lines else ""
    write_verdict_page(path, title, verdict_of(report), [picture, *_parts(report)])


def _parts(report: Evaluation) -> Iterator[str]:
    yield text_html("p", ", ".join(f"{name} = {value}" for name, value in report.table.items()))
    for part in report_parts(report):
        yield table_html(part) if isinstance(part, ResultTable) else text_html("p", part, "note")
    yield text_html("h2", "Games")
    if len(report.games) > _MOST_GAMES:
        yield text_html("p", f"The first {_MOST_GAMES:,} of {len(report.games):,}; --table writes all.")
    headings = [_HEADINGS.get(field.name, field.name) for field in fields(Game)]
    rows = [tuple("" if value is None else value for value in astuple(game)) for game in report.games[:_MOST_GAMES]]
    yield table_html(plain_table("One row for each game of a measured player", headings, rows))
