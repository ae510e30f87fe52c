"""`parlour reproduce`."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Annotated, Final

import typer
from parlour.envs.core import check_one_of
from parlour.policies.llm.model import Model
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer, Options
from parlour.training.measure.decision_tables import decision_parts, figure, marked, no_result
from parlour.training.measure.evaluation_tables import show_rate
from parlour.training.papers import reproduce as tables
from parlour.training.report import display
from parlour.training.report.verdicts import BETTER, UNCLEAR, WORSE, doubt, no_score, together, word
from parlour.training.statistics import show_interval
from rich.measure import Measurement

_WIDEST: Final = 250


def reproduce(
    name: Annotated[str, typer.Argument(), f"One of: {', '.join(tables.TABLES)}."],
    model: ModelOption,
    setting: Annotated[
        tables.ReproductionSetting,
        Options(exclude=("games", "practice", "model", "pool", "progress", "failures"), rare=("data", "level")),
    ],
    ray: common.RayOptions,
    failures: common.FailureOptions,
    games: Annotated[
        int | None,
        typer.Option(min=1),
        "Number of held-out deals for each row and side; GRACE: held-out questions; GRATR: mixed games with each "
        "opponent; murder mysteries: held-out cases; None: 200; GRACE: 1000; GRATR: 500; murder mysteries: 100, sensors "
        "and rounds: 10; games of people: 4000.",
    ] = None,
    practice: Annotated[
        int | None,
        typer.Option(min=0),
        "Number of practice games on each side, if a row has experience; GRACE: calibration questions; games of people: "
        "thousands of decisions an expert learns from; None: 60; GRACE: 2000; games of people: 1500.",
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
        setting = setting.replace(
            games=games, practice=practice, model=model, pool=pool, progress=progress, failures=failures
        )
        reproduction = tables.reproduce(name, setting)
    return Answer(
        reproduction.as_json(), partial(show_reproduction, reproduction, model), verdict=verdict_of(reproduction, model)
    )


def verdict_of(reproduction: tables.Reproduction, model: Model, found: str = "") -> str:
    """What was found; by default how many of the paper's figures lie in our intervals, who played, and which rows differ from the first one."""
    behind = [reproduction.rests_on(row) for row in dict.fromkeys(cell.row for cell in reproduction.cells)]
    refused = [no_score(*own) for own in behind]
    if any(refused):
        return together(refused)
    doubts = [doubt(*own) for own in behind]
    if found:
        return together([found, *doubts])
    inside = [_inside(cell) for cell in reproduction.cells if cell.paper is not None]
    known = [hit for hit in inside if hit is not None]
    paper = f"{sum(known)} of {len(known)} figures of the paper lie in our 95 % intervals; ours were played by {called(model)}."
    apart = Counter(word(cell.difference) for cell in reproduction.cells if cell.difference is not None)
    rows = (
        f"Of {sum(apart.values())} differences from the first row, {apart[BETTER]} are above zero, {apart[WORSE]} below, "
        f"and {apart[UNCLEAR]} not shown."
    )
    played = f"Played by {called(model)}; {len(reproduction.cells)} figures."
    return together([paper if known else played, rows if apart else "", *doubts])


def _inside(cell: tables.TableCell) -> bool | None:
    """Whether the paper's figure lies in our interval; None where there is none."""
    ours = cell.ours if cell.value is None else cell.value
    if cell.paper is None or ours is None or ours.low is None or ours.high is None:
        return None
    share = cell.value is None or cell.value.share
    return ours.low <= (cell.paper / 100 if share else cell.paper) <= ours.high


def show_reproduction(reproduction: tables.Reproduction, model: Model) -> None:
    """Print a table and the remarks below it."""
    cells = reproduction.cells_shown
    differs = any(cell.difference or cell.value_difference for cell in cells)
    rows = []
    firsts: dict[tuple[str, str], str] = {}
    for cell in cells:
        paper = "-" if cell.paper is None else _show_paper(cell, cell.paper)
        ours = show_rate(cell.ours) if cell.value is None else _show_value(cell.value)
        apart, (name, own, made) = _show_difference(cell), reproduction.rests_on(cell.row)
        if apart:
            first = reproduction.rests_on(firsts.get((cell.of, cell.measure), cell.row))
            apart = no_result([(name, own, made), first]) + figure(apart, (own, made), first[1:])
        else:
            firsts[cell.of, cell.measure] = cell.row
        row = (marked(name, own, made), cell.of, cell.measure, paper, figure(ours, (own, made)))
        rows.append((*row, *([apart] if differs else [])))
    title = f"{reproduction.name}: {reproduction.title}; ours played by {called(model)}"
    headings = ("row", "of", "measure", "paper", "ours [95 %]", *(["from the first row"] if differs else []))
    shown, out = display.rich_table(title, headings, rows), display.console()
    if out.is_terminal:
        for column in shown.columns[:3]:
            column.no_wrap, column.overflow = False, "fold"
    else:  # files and pipes keep every figure
        out.width = max(out.width, Measurement.get(out, out.options.update(max_width=_WIDEST), shown).maximum)
    out.print(shown)
    if left_out := len(reproduction.cells) - len(cells):
        out.print(f"- {left_out} more figures are in report.md (--out DIR) and in --json.", highlight=False)
    named = [(", ".join(filter(None, (cell.row, cell.of, cell.measure))), cell.note) for cell in cells if cell.note]
    notes = sorted({f"{name}: {note}" for name, note in named})
    for remark in (*reproduction.remarks, *notes):
        out.print(f"- {remark}", highlight=False)
    display.show(*decision_parts(reproduction.players))


def _show_paper(cell: tables.TableCell, paper: float) -> str:
    return f"{paper:6.3f}" if cell.value is not None and not cell.value.share else f"{paper:5.1f}%"


def _show_value(value: tables.Value) -> str:
    unit = ".1%" if value.share else ".2f"
    deviation = "" if value.deviation is None else f" ±{value.deviation:{unit}}"
    return f"{value.value:6{unit}}{deviation}  {show_interval(value, unit)}  n={value.n}"


def _show_difference(cell: tables.TableCell) -> str:
    if cell.difference is not None:
        points = f"{100 * cell.difference.value:+6.1f}  {show_interval(cell.difference, '+.1f', 100)}"
        return f"{points}  p={cell.difference.p:.2g}"
    difference = cell.value_difference
    if difference is None:
        return ""
    unit, times = (".1f", 100) if difference.share else (".2f", 1)
    return f"{times * difference.value:+{unit}}  {show_interval(difference, '+' + unit, times)}"
