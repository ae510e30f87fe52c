"""The report of `parlour reproduce avalon-records` in Markdown: every figure of the study, and where the rest is."""

from __future__ import annotations

from collections.abc import Sequence

from parlour.training.measure.statistics import show_interval
from parlour.training.papers.cells import Reproduction, TableCell, Value
from parlour.training.results.result_table import markdown_list, markdown_table


def study_report(made: Reproduction, written: Sequence[tuple[str, str]]) -> str:
    """The report.

    Args:
        made: The figures.
        written: What else the study wrote: path from the report, and what it is.
    """
    measures = list(dict.fromkeys(one.measure for one in made.cells))
    parts = [
        f"# {made.title}",
        markdown_list(made.remarks),
        markdown_list(f"[{path}]({path}): {what}" for path, what in written),
    ]
    for measure in measures:
        cells = [one for one in made.cells if one.measure == measure]
        parts += [f"## {measure[0].upper()}{measure[1:]}", _table(cells)]
    notes = sorted({f"{one.row}, {one.of}, {one.measure}: {one.note}" for one in made.cells if one.note})
    parts += [markdown_list(notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def _table(cells: Sequence[TableCell]) -> str:
    printed = any(one.paper is not None for one in cells)
    apart = any(one.apart is not None for one in cells)
    headings = ["", "of", *(["published"] if printed else []), "here [95 %]", "n", *(["difference"] if apart else [])]
    rows = []
    for one in cells:
        figure = one.figure
        row = [one.row, one.of or "all"]
        row += [("-" if one.paper is None else _paper(one.paper, figure))] if printed else []
        row += ["nothing to count", "0"] if figure is None else [shown(figure), str(figure.n)]
        row += ["" if one.apart is None else shown(one.apart, sign="+")] if apart else []
        rows.append(row)
    return markdown_table(headings, rows)


def _paper(printed: float, figure: Value | None) -> str:
    return f"{printed:g}" if figure is not None and not figure.share else f"{printed:g} %"


def shown(value: Value, sign: str = "") -> str:
    """A figure with its interval: shares in percent, their differences in points."""
    times, unit = (100, ".1f") if value.share else (1, ".3f")
    percent = " %" if value.share and not sign else ""
    interval = "" if value.low is None or value.high is None else f" {show_interval(value, sign + unit, times)}"
    return f"{times * value.value:{sign}{unit}}{percent}{interval}"
