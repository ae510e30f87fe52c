"""`parlour reproduce`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Final

import typer
from parlour.envs.core import check_one_of
from parlour.policies.llm.model import Model
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer, Options
from parlour.training.measure.statistics import Estimate, show_interval
from parlour.training.papers import reproduce as tables
from parlour.training.results import display
from parlour.training.results.decision_tables import decision_parts, marked, no_result
from parlour.training.results.evaluation_tables import show_rate
from rich.measure import Measurement

_WIDEST: Final = 250


def reproduce(
    name: Annotated[str, typer.Argument(), f"One of: {', '.join(tables.TABLES)}."],
    model: ModelOption,
    setting: Annotated[
        tables.ReproductionSetting,
        Options(
            exclude=("games", "practice", "model", "pool", "progress", "failures"), rare=("readers", "data", "level")
        ),
    ],
    ray: common.RayOptions,
    failures: common.FailureOptions,
    games: Annotated[
        int | None,
        typer.Option(min=1),
        "Number of held-out deals for each row and side; GRACE: held-out questions; GRATR: mixed games with each "
        "opponent; murder mysteries: held-out cases; None: 200; GRACE: 1000; GRATR: 500; murder mysteries: 100, sensors "
        "and rounds: 10.",
    ] = None,
    practice: Annotated[
        int | None,
        typer.Option(min=0),
        "Number of practice games on each side, if a row has experience; GRACE: calibration questions; None: 60; "
        "GRACE: 2000.",
    ] = None,
) -> Answer:
    """Reproduce a published table and print the paper's rows next to ours, with intervals.

    Example: [bold]parlour reproduce avalon-2 --games 200[/bold]
    """
    check_one_of("table", name, tables.TABLES)
    usual = tables.sizes(name)
    games = usual[0] if games is None else games
    practice = usual[1] if practice is None else practice
    with ray.pool(model) as pool, display.progress_line() as progress:
        setting = replace(
            setting, games=games, practice=practice, model=model, pool=pool, progress=progress, failures=failures
        )
        found = tables.reproduce(name, setting)
    return Answer(found.as_json(), partial(show_reproduction, found, model))


def show_reproduction(reproduction: tables.Reproduction, model: Model) -> None:
    """Print a table and the remarks below it."""
    differs = any(cell.difference or cell.value_difference for cell in reproduction.cells)
    rows = []
    firsts: dict[tuple[str, str], str] = {}
    for cell in reproduction.cells:
        paper = "-" if cell.paper is None else _show_paper(cell, cell.paper)
        ours = show_rate(cell.ours) if cell.value is None else _show_value(cell.value)
        apart = _show_difference(cell)
        if apart:
            first = firsts.get((cell.of, cell.measure), cell.row)
            apart = no_result([reproduction.rests_on(cell.row), reproduction.rests_on(first)]) + apart
        else:
            firsts[cell.of, cell.measure] = cell.row
        row = marked(*reproduction.rests_on(cell.row))
        rows.append((row, cell.of, cell.measure, paper, ours, *([apart] if differs else [])))
    title = f"{reproduction.name}: {reproduction.title}; ours played by {called(model)}"
    headings = ("row", "of", "measure", "paper", "ours [95 %]", *(["from the first row"] if differs else []))
    shown, out = display.rich_table(title, headings, rows), display.console()
    if out.is_terminal:
        for column in shown.columns[:3]:
            column.no_wrap, column.overflow = False, "fold"
    else:  # files and pipes keep every figure
        out.width = max(out.width, Measurement.get(out, out.options.update(max_width=_WIDEST), shown).maximum)
    out.print(shown)
    notes = sorted({f"{_named(cell)}: {cell.note}" for cell in reproduction.cells if cell.note})
    for remark in (*reproduction.remarks, *notes):
        out.print(f"- {remark}", highlight=False)
    display.show(*decision_parts(reproduction.players))


def _named(cell: tables.TableCell) -> str:
    return ", ".join(part for part in (cell.row, cell.of, cell.measure) if part)


def _show_paper(cell: tables.TableCell, paper: float) -> str:
    return f"{paper:6.3f}" if cell.value is not None and not cell.value.share else f"{paper:5.1f}%"


def _show_value(value: tables.Value) -> str:
    unit = ".1%" if value.share else ".2f"
    deviation = "" if value.deviation is None else f" ±{value.deviation:{unit}}"
    return f"{value.value:6{unit}}{deviation}  {show_interval(value, unit)}  n={value.n}"


def _show_difference(cell: tables.TableCell) -> str:
    if cell.difference is not None:
        return _points(cell.difference)
    found = cell.value_difference
    if found is None:
        return ""
    unit, times = (".1f", 100) if found.share else (".2f", 1)
    return f"{times * found.value:+{unit}}  {show_interval(found, '+' + unit, times)}"


def _points(estimate: Estimate) -> str:
    return f"{100 * estimate.value:+6.1f}  {show_interval(estimate, '+.1f', 100)}  p={estimate.p:.2g}"
