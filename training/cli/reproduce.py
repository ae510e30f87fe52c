"""`parlour reproduce`, `parlour practise`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import accept
from parlour.policies.llm.model import Model
from parlour.training import display
from parlour.training import reproduce as reproducing
from parlour.training.avalon import practice
from parlour.training.cli import common
from parlour.training.cli.models import called, takes_model
from parlour.training.statistics import PairedDifference, show_interval
from rich.measure import Measurement

_WIDEST: Final = 250


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("reproduce")(takes_model(reproduce))
    app.command("practise")(takes_model(practise))


def reproduce(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(reproducing.TABLES)}.")],
    model: Model,
    games: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Held-out deals a row and side (200), held-out questions of GRACE (1000), mixed games of GRATR with "
            "each opponent (500), or held-out cases (100).",
        ),
    ] = None,
    practice: Annotated[
        int | None,
        typer.Option(min=0, help="Practice games on each side, where a row has experience (60), or questions (2000)."),
    ] = None,
    against: Annotated[
        str, typer.Option(help="Who plays the other side: `baseline` or `agent`; GRATR's tables: one of its opponents.")
    ] = "baseline",
    ours: Annotated[
        str, typer.Option(help="GRATR's tables: GRATR with settings, as gratr:gamma=0.02.", show_default=False)
    ] = "",
    workers: common.WorkersOption = 1,
    ray: common.RayOption = None,
    ray_workers: common.RayWorkersOption = None,
    seed: common.SeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the transcripts, or for pictures and their data.", show_default=False),
    ] = None,
    cases: Annotated[
        str,
        typer.Option(
            help="Murder mysteries: en or zh (generated, held out), or a folder of WellPlay scripts or cases."
        ),
    ] = "en",
    repetitions: Annotated[int, typer.Option(min=1, help="Murder mysteries: of the quiz.")] = 3,
    json: common.JsonOption = False,
) -> None:
    """Play a published table again and print the paper's rows beside ours, with intervals.

    Example: [bold]parlour reproduce avalon-2 --games 200[/bold]
    """
    if name not in reproducing.TABLES:
        raise accept("table", name, reproducing.TABLES)
    usual = reproducing.sizes(name)
    games, practice = usual[0] if games is None else games, usual[1] if practice is None else practice
    with common.pool(ray, ray_workers, model) as pool, display.progress_bar() as bar:
        setting = reproducing.ReproductionSetting(
            games,
            practice,
            model,
            workers,
            pool,
            seed,
            against,
            ours=ours,
            out=out,
            progress=display.Bar(bar),
            cases=cases,
            repetitions=repetitions,
        )
        found = reproducing.reproduce(name, setting)
    if json:
        common.print_json(found.as_json())
    else:
        show(found, model)


def show(found: reproducing.Reproduction, model: Model) -> None:
    """Print a table and the remarks below it."""
    title = f"{found.name}: {found.title}; ours played by {called(model)}"
    columns = ["row", "of", "measure", "paper", "ours [95 %]"]
    differs = any(cell.difference or cell.value_difference for cell in found.cells)
    shown = common.table(title, *columns, *(["from the first row"] if differs else []))
    for cell in found.cells:
        paper = "-" if cell.paper is None else _show_paper(cell, cell.paper)
        ours = display.show_rate(cell.ours) if cell.value is None else _show_value(cell.value)
        shown.add_row(cell.row, cell.of, cell.measure, paper, ours, *([_show_difference(cell)] if differs else []))
    out = common.console()
    if out.is_terminal:
        for column in shown.columns[:3]:
            column.no_wrap, column.overflow = False, "fold"
        out.print(shown)
    else:  # whoever reads a file or a pipe loses no figure
        out.width = max(out.width, Measurement.get(out, out.options.update(max_width=_WIDEST), shown).maximum)
        out.print(shown)
    notes = sorted({f"{_named(cell)}: {cell.note}" for cell in found.cells if cell.note})
    for remark in (*found.remarks, *notes):
        out.print(f"- {remark}", highlight=False)


def _named(cell: reproducing.TableCell) -> str:
    return ", ".join(part for part in (cell.row, cell.of, cell.measure) if part)


def _show_paper(cell: reproducing.TableCell, paper: float) -> str:
    return f"{paper:6.3f}" if cell.value is not None and not cell.value.share else f"{paper:5.1f}%"


def _show_value(found: reproducing.Value) -> str:
    unit = ".1%" if found.share else ".2f"
    deviation = "" if found.deviation is None else f" ±{found.deviation:{unit}}"
    return f"{found.value:6{unit}}{deviation}  {show_interval(found, unit)}  n={found.n}"


def _show_difference(cell: reproducing.TableCell) -> str:
    if cell.difference is not None:
        return _points(cell.difference)
    found = cell.value_difference
    if found is None:
        return ""
    unit, times = (".1f", 100) if found.share else (".2f", 1)
    return f"{times * found.value:+{unit}}  {show_interval(found, '+' + unit, times)}"


def _points(found: PairedDifference) -> str:
    return f"{100 * found.difference:+6.1f}  {show_interval(found, '+.1f', 100)}  p={found.p:.2g}"


def practise(
    model: Model,
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/practice"),
    games: Annotated[int, typer.Option(min=1, help="On each side.")] = 60,
    players: Annotated[int, typer.Option("--players", "-n", help="How many players.")] = 6,
    rules: Annotated[str, typer.Option(help="Which preset of the rules.")] = "paper",
    without: Annotated[str, typer.Option(help="Modules that are switched off, joined by +.", show_default=False)] = "",
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Let the six-module agent of Avalon learn from games against the baseline; can be killed and called again.

    Leaves experience.json, which `--policy avalon_agent:experience=FILE` plays by.

    Example: [bold]parlour practise --out runs/practice --games 60[/bold]
    """
    modules = tuple(without.split("+")) if without else ()
    config = practice.PracticeConfig(games, players, rules, modules, seed=seed)
    with display.progress_bar() as bar:
        task = bar.add_task("practice", total=2 * games)
        done = practice.practise(config, out, model, lambda n: bar.advance(task, n))
    told: dict[str, Any] = {
        "out": str(out),
        "model": model.name,
        "won_as_good": sum(done.won[0::2]),
        "won_as_evil": sum(done.won[1::2]),
        "games_on_each_side": games,
    }
    if json:
        common.print_json(told)
    else:
        print(  # noqa: T201
            f"{games} games on each side, answered by {called(model)}: won {told['won_as_good']} as good, "
            f"{told['won_as_evil']} as evil; see {out}"
        )
