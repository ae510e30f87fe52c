"""A leaderboard as a page: the verdict, the scores as a picture, the table."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.training.measure.benchmark.leaderboard import Entry, Leaderboard
from parlour.training.results.decision_tables import SIGN
from parlour.training.results.pages.report import intervals, part_html, write_verdict_page
from parlour.training.results.result_table import Cell, Column, ResultTable
from parlour.training.results.verdicts import POINTS, compared, together

LEADERBOARD_PAGE: Final = "leaderboard.html"
ANCHOR: Final = "Elo points above the expert of the table, whose rating is 0; intervals by resampling deals."


def leaderboard_table(board: Leaderboard) -> ResultTable:
    """A row for each player."""
    title = f"Leaderboard of {board.suite} (points of 100, 95 % interval)"
    columns = (
        *(Column("rank"), Column("player"), Column("points", ".1f"), Column("minus the first", "+.1f")),
        *(Column(f"Elo, {table}", "+.0f") for table in board.ratings),
        *(Column("own decisions", ".1f", 100, " %"), Column("tokens a game", ",.0f"), Column("dollars a game", ".4f")),
    )
    rows = tuple(_row(number, entry, board) for number, entry in enumerate(board.entries, 1))
    return ResultTable(title, columns, rows, ANCHOR if board.ratings else "")


def _row(number: int, entry: Entry, board: Leaderboard) -> tuple[Cell, ...]:
    own = entry.result.own
    share = own[0] / own[1] if own is not None and own[1] else None
    sign = f" {SIGN}" if entry.result.doubt else ""
    return (
        *(number if entry.score else None, f"{entry.result.name}{sign}", entry.score, entry.below_first),
        *(of.get(entry.result.name) for of in board.ratings.values()),
        *(share, entry.tokens, entry.dollars),
    )


def verdict_on(board: Leaderboard) -> str:
    """Who is first, and whether the second is behind; what throws doubt on players."""
    doubts = [entry.result.doubt for entry in board.entries]
    scored = [entry for entry in board.entries if entry.score is not None]
    if not scored:
        return together(doubts)
    first = scored[0]
    assert first.score is not None
    said = f"{first.result.name} is first of {len(board.entries)} with {first.score.value:.1f} points."
    if len(scored) == 1 or scored[1].below_first is None:
        return together([said, *doubts])
    return together([said, compared(scored[1].result.name, first.result.name, scored[1].below_first, POINTS), *doubts])


def write_leaderboard_page(folder: Path, board: Leaderboard) -> None:
    """Write it into a folder. Raises `OSError` as writing a file does."""
    rows = [(entry.result.name, entry.score, f"{entry.score.value:.1f}") for entry in board.entries if entry.score]
    picture = intervals("points of 100 with their 95 % intervals", rows, 0.0, 100.0) if rows else ""
    parts = [picture, part_html(leaderboard_table(board))]
    write_verdict_page(folder / LEADERBOARD_PAGE, f"Leaderboard: {board.suite}", verdict_on(board), parts)
