"""A reproduced table as a report: the paper's figures beside ours, how many agree, and whose decisions ours rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from parlour.policies.llm.model import Model
from parlour.training.measure.decision_tables import decision_parts, figure, no_result
from parlour.training.papers.cells import Reproduction, TableCell
from parlour.training.report.report import Report
from parlour.training.report.result_table import Cell, Column, Figure, ResultTable
from parlour.training.report.verdicts import DecidedBy, together
from parlour.training.statistics import BETTER, UNCLEAR, WORSE

_COLUMNS: Final = (
    *map(Column, ("row", "of", "measure")),
    Column("paper", "5.1f", unit="%"),
    Column("ours [95 %]", "6.1%", shows=("n",), key="ours"),
)
_WRITTEN: Final = ("name", "title", "model", "cells", "remarks", "players")
"""What JSON has of a table."""
_DEVIATION: Final = Column("±", ".1%", key="deviation")
_APART: Final = Column("from the first row", "+.1f", 100, shows=("p",), key="difference")
_PAPER_NUMBER: Final = Column("", "6.3f")
_OUR_NUMBER: Final = Column("", "6.2f", shows=("n",))
_APART_NUMBER: Final = Column("", "+.2f", shows=("p",))
"""How cells are shown that are no shares."""


def report_of(made: Reproduction, model: Model, found: str = "") -> Report:
    """The report; `found` is the verdict, if it is not how many of the paper's figures lie in our intervals."""
    title = f"{made.name}: {made.title}; ours played by {model.called}"
    shown, whole = made.cells_shown, ResultTable(title, *_table(made, made.cells), wrap=True, file="cells.csv")
    named = [(", ".join(filter(None, (cell.row, cell.of, cell.measure))), cell.note) for cell in shown if cell.note]
    notes = sorted({f"{name}: {note}" for name, note in named})
    parts: list[ResultTable | tuple[str, ...] | str] = [whole]
    if left_out := len(made.cells) - len(shown):
        short = ResultTable(title, *_table(made, shown), wrap=True)
        parts = [short, f"{left_out} more figures are in report.md (--out DIR) and in --json."]
    return Report(
        f"{made.name}: {made.title}",
        verdict_of(made, model, found),
        (*parts, (*made.remarks, *notes), *decision_parts(made.players)),
        (*([whole] if left_out else []), made.written),
        made.picture,
        {name: getattr(made, name) for name in _WRITTEN},
        data=made.data,
    )


def verdict_of(made: Reproduction, model: Model, found: str = "") -> str:
    """What was found; by default how many of the paper's figures lie in our intervals, who played, and which rows differ from the first one."""
    if made.quick:
        return f"A quick run, played by {model.called}: too few games to compare with the paper."
    behind = [made.rests_on(row) for row in dict.fromkeys(cell.row for cell in made.cells)]
    refused = [DecidedBy(*own).no_score for own in behind]
    if any(refused):
        return together(refused)
    doubts = [DecidedBy(*own).doubt for own in behind]
    if found:
        return together([found, *doubts])
    known = [hit for cell in made.cells if (hit := cell.inside) is not None]
    paper = f"{sum(known)} of {len(known)} figures of the paper lie in our 95 % intervals; ours were played by {model.called}."
    apart = Counter(cell.difference.outcome for cell in made.cells if cell.difference is not None)
    rows = (
        f"Of {sum(apart.values())} differences from the first row, {apart[BETTER]} are above zero, {apart[WORSE]} below, "
        f"and {apart[UNCLEAR]} not shown."
    )
    measured = sum(cell.ours is not None for cell in made.cells)
    played = f"Played by {model.called}; {measured} of {len(made.cells)} figures measured."
    return together([paper if known else played, rows if apart else "", *doubts])


def _table(made: Reproduction, cells: Sequence[TableCell]) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Columns and rows; without deviations and differences where no cell has one."""
    columns, rows = (*_COLUMNS, _DEVIATION, _APART), list(_rows(made, cells))
    kept = [k for k in range(len(columns)) if k < len(_COLUMNS) or any(row[k] is not None for row in rows)]
    return tuple(columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in rows)


def _rows(made: Reproduction, cells: Sequence[TableCell]) -> Iterator[tuple[Cell, ...]]:
    """Each figure marked where its player, or that of the first row, made too few of the decisions itself."""
    firsts: dict[tuple[str, str], str] = {}
    for cell in cells:
        name, own, apart = cell.row, made.rests_on(cell.row)[1:], None
        if cell.difference is None:
            firsts[cell.of, cell.measure] = cell.row
        else:
            first = made.rests_on(firsts.get((cell.of, cell.measure), cell.row))
            column = None if cell.share else _APART_NUMBER
            before = no_result([(name, *own), first])
            apart = figure(cell.difference, own, first[1:], column=column, before=before)
        paper = cell.paper if cell.share or cell.paper is None else Figure(cell.paper, _PAPER_NUMBER)
        ours = figure(cell.ours, own, column=None if cell.share else _OUR_NUMBER)
        yield (DecidedBy(name, *own).marked, cell.of, cell.measure, paper, ours, cell.deviation, apart)
