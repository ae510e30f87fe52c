"""What `parlour evaluate` measured as a page: tables that sort, and the win rates with their intervals as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parlour.envs.core import ParlourError
from parlour.policies.files import atomic_write
from parlour.training.measure.evaluate import Report
from parlour.training.measure.statistics import Rate
from parlour.training.results import decision_tables, display
from parlour.training.results.pages.page import Page, render
from parlour.training.results.pages.report import EstimateLine, ReportPart, intervals, of_blocks

_GAMES = ("seed", "player", "seat", "side", "role", "against", "won", "winner", "reason", "moves", "decisions", "own")
_MOST_GAMES = 5_000
"""Rows of the table of games, at most: all of them stand in the file of `--table`."""


def check_out(path: Path) -> None:
    """Raises `ParlourError` if a page cannot be written there, before any game is played."""
    if path.is_dir() or not path.parent.is_dir():
        raise ParlourError(f"--html {str(path)!r} is not accepted; accepted: a file in a folder that exists")


def write_page(path: Path, report: Report, note: str = "") -> None:
    """Write the page of a report. Raises `OSError` as writing a file does."""
    atomic_write(path, render(evaluation_page(report, note)))


def evaluation_page(report: Report, note: str = "") -> Page:
    """The page: rates with their picture, comparisons, whose the decisions were, every game."""
    title = f"Win rates in {report.table.get('game', 'a game')}{note}"
    lines = list(_lines(report))
    picture = intervals("win rates with their 95 % Wilson intervals; n is the number of games", lines) if lines else ""
    return of_blocks(title, [ReportPart("h1", title), *_parts(report)], picture)


def _lines(report: Report) -> Iterator[EstimateLine]:
    for player, of in report.rates.items():
        for what, found in of.items():
            if isinstance(found, Rate):
                note = f"{found.rate:.1%}, n={found.n}"
                yield EstimateLine(f"{player} as {what}", found.rate, found.low, found.high, note)


def _parts(report: Report) -> Iterator[ReportPart]:
    yield ReportPart("p", ", ".join(f"{name} = {value}" for name, value in report.table.items()))
    headings = ("player", "as", "win rate")
    yield ReportPart("table", "Win rates (95 % Wilson interval)", rows=[headings, *display.rate_rows(report)])
    if report.comparisons:
        told = "Same deals, paired (95 % interval; exact McNemar test)"
        rows = [("players", "as", "difference"), *display.comparison_rows(report)]
        yield ReportPart("table", told, rows=rows)
    if display.mark_of(report):
        yield ReportPart("note", display.mark_of(report))
    for caption, names, found in decision_tables.grids(report.players):
        yield ReportPart("table", caption, rows=[names, *found])
    if report.unfinished:
        yield ReportPart("h2", "Not finished, and not counted")
        yield from (ReportPart("li", f"seed {one.seed}: {one.why}") for one in report.unfinished)
    yield ReportPart("h2", "Games")
    if len(report.games) > _MOST_GAMES:
        yield ReportPart("p", f"The first {_MOST_GAMES:,} of {len(report.games):,}; --table writes all.")
    yield ReportPart("table", "One row for each game of a measured player", rows=[_GAMES, *_game_rows(report)])


def _game_rows(report: Report) -> list[tuple[str, ...]]:
    return [
        (
            *(str(one.seed), one.policy, "" if one.seat is None else str(one.seat), one.side, one.role, one.opponent),
            *("yes" if one.won else "no", one.winner, one.reason, str(one.moves), str(one.decisions), str(one.own)),
        )
        for one in report.games[:_MOST_GAMES]
    ]
