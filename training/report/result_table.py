"""One type for every table of results: columns with formats, rows of values and estimates, and all forms it is shown in.

Whoever measures makes a `ResultTable`; the same table goes to a terminal, into Markdown and HTML reports, into CSV and JSON.
Values stay numbers until they are shown, so that a figure is rounded in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from parlour.training.runs.folder import write_csv

NONE: Final = "-"
"""What a cell without a value shows."""


@runtime_checkable
class HasInterval(Protocol):
    """An estimate with its interval at 95 %, such as `parlour.training.statistics.Estimate`."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


Plain = str | int | float | bool | None
"""A value without an interval."""


@dataclass(frozen=True)
class Figure:
    """A cell that is not shown as its column says: in another unit, marked, or with words before it."""

    value: Plain | HasInterval
    column: Column | None = None
    """How it is shown; None: as its column says."""
    mark: str = ""
    """Sign behind the value, such as a dagger."""
    before: str = ""
    """Words before it."""
    hidden: bool = False
    """Whether only the mark is shown; files have the value."""


Cell = Plain | HasInterval | Figure
"""A cell of a row; a text is shown as it is."""


@dataclass(frozen=True)
class Column:
    """One column: its heading, and how its numbers are shown."""

    heading: str
    format: str = ""
    """Format of numbers and of an estimate's value and ends, as in `format(x, ".1%")`; empty: as Python prints them."""
    times: float = 1
    """What numbers are multiplied by before they are shown, such as 100 for points."""
    unit: str = ""
    """Behind an estimate's value or a number, such as ` points`."""
    shows: tuple[str, ...] = ()
    """Attributes of an estimate that follow its interval, such as `n` and `p`."""
    key: str = ""
    """Name in CSV and JSON; empty: the heading."""
    none: str = NONE
    """What a cell without a value shows."""

    @property
    def name(self) -> str:
        """The column's name in files."""
        return self.key or self.heading


def rate_column(heading: str, key: str = "") -> Column:
    """A column of rates with their intervals and numbers of cases."""
    return Column(heading, "6.1%", shows=("n",), key=key)


def points_column(heading: str, key: str = "") -> Column:
    """A column of differences of rates in points, with their intervals, numbers of cases and tests."""
    return Column(heading, "+.1f", 100, " points", ("n", "p"), key)


def _interval(estimate: HasInterval, unit: str, times: float) -> str:
    """As `parlour.training.statistics.Estimate.interval`, without NumPy, so that lists of games are shown at once."""
    if estimate.low is None or estimate.high is None:
        return NONE
    return f"[{times * estimate.low:{unit}}, {times * estimate.high:{unit}}]"


def cell_text(cell: Cell, column: Column) -> str:
    """One cell as text.

    >>> cell_text(0.25, Column("share", ".1%")), cell_text(None, Column("share")), cell_text(12, Column("deals"))
    ('25.0%', '-', '12')
    """
    if isinstance(cell, Figure):
        shown = "" if cell.hidden else cell_text(cell.value, cell.column or column)
        return cell.before + " ".join(filter(None, (shown, cell.mark)))
    if cell is None:
        return column.none
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int | float):
        return f"{column.times * cell if column.times != 1 else cell:{column.format}}{column.unit}"
    parts = [
        f"{column.times * cell.value:{column.format}}{column.unit}",
        _interval(cell, column.format.lstrip("0123456789 "), column.times),
    ]
    for name in column.shows:
        value = getattr(cell, name)
        if value is not None:
            parts.append(f"{name}={value:.2g}" if isinstance(value, float) else f"{name}={value}")
    return "  ".join(parts)


@dataclass(frozen=True)
class ResultTable:
    """Results in rows and columns.

    >>> table = ResultTable("Wins", (Column("player"), Column("rate", ".0%")), (("heuristic", 0.5), ("random", None)))
    >>> print(table.markdown())
    | player | rate |
    |---|---|
    | heuristic | 50% |
    | random | - |
    >>> table.as_json()
    [{'player': 'heuristic', 'rate': 0.5}, {'player': 'random', 'rate': None}]
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    """A line below the table, such as what a sign means."""
    wrap: bool = False
    """In a terminal: whether cells may wrap; else they are cut off where there is no room."""
    file: str = ""
    """Name of the CSV file that a report leaves; empty: none."""

    @classmethod
    def plain(
        cls,
        title: str,
        headings: Iterable[str],
        rows: Iterable[Sequence[Cell]],
        *,
        note: str = "",
        wrap: bool = False,
        file: str = "",
    ) -> ResultTable:
        """A table whose cells are texts, or numbers that need no format."""
        return cls(title, tuple(map(Column, headings)), tuple(map(tuple, rows)), note, wrap, file)

    @property
    def headings(self) -> tuple[str, ...]:
        """The heading of each column."""
        return tuple(column.heading for column in self.columns)

    def texts(self) -> list[tuple[str, ...]]:
        """The rows as they are shown."""
        return [
            tuple(cell_text(cell, column) for cell, column in zip(row, self.columns, strict=True)) for row in self.rows
        ]

    def markdown(self) -> str:
        """The table in Markdown, without title and note, and without a line end behind it."""
        return markdown_table(self.headings, self.texts())

    def as_json(self) -> list[dict[str, Any]]:
        """A mapping for each row: column's name to plain value; an estimate becomes a mapping with `value`, `low`, `high`, and
        what else its column shows.
        """
        return [
            {column.name: _plain(cell, column) for cell, column in zip(row, self.columns, strict=True)}
            for row in self.rows
        ]

    def write_csv(self, path: Path) -> None:
        """Write the table as CSV, as a whole; an estimate fills the columns NAME, NAME_low, NAME_high, and what it shows."""
        wide = [
            any(not isinstance(_value(row[k]), str | int | float | bool | None) for row in self.rows)
            for k in range(len(self.columns))
        ]
        heading = [name for column, is_wide in zip(self.columns, wide, strict=True) for name in _names(column, is_wide)]
        rows = [
            [
                value
                for cell, column, is_wide in zip(row, self.columns, wide, strict=True)
                for value in _values(cell, column, is_wide)
            ]
            for row in self.rows
        ]
        write_csv(path, heading, rows)


def _value(cell: Cell) -> Plain | HasInterval:
    return cell.value if isinstance(cell, Figure) else cell


def _plain(cell: Cell, column: Column) -> Any:
    cell = _value(cell)
    if isinstance(cell, str | int | float | bool | None):
        return cell
    names = ("value", "low", "high", *column.shows)
    return {name: getattr(cell, name) for name in names}


def _names(column: Column, wide: bool) -> list[str]:
    if not wide:
        return [column.name]
    return [column.name, *(f"{column.name}_{end}" for end in ("low", "high", *column.shows))]


def _values(cell: Cell, column: Column, wide: bool) -> list[Any]:
    cell = _value(cell)
    if not wide:
        return [cell]
    if isinstance(cell, str | int | float | bool | None):
        return [cell, *[None] * (2 + len(column.shows))]
    return [cell.value, cell.low, cell.high, *(getattr(cell, name) for name in column.shows)]


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, without a line end behind it.

    >>> print(markdown_table(["side", "n"], [["good", "5"]]))
    | side | n |
    |---|---|
    | good | 5 |
    """
    lines = [f"|{'---|' * len(headings)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join([f"| {' | '.join(headings)} |", *lines])


def markdown_list(items: Iterable[str]) -> str:
    """A list in Markdown, without a line end behind it."""
    return "\n".join(f"- {item}" for item in items)
