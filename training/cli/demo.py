"""`parlour demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.training.cli import common, train


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("demo")(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report and everything it tells of.")] = Path("runs/demo"),
    steps: Annotated[int, typer.Option(min=1, help="Decisions to train the seat with.")] = 409_600,
    games: Annotated[int, typer.Option(min=10, help="Held-out deals of each measurement.")] = 2000,
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Play, record, train a seat and measure it, offline; leaves a report. Can be killed and called again.

    Example: [bold]parlour demo --out runs/demo[/bold]
    """
    train.require_training()
    from parlour.training import demo as demonstration

    report = demonstration.run(out, demonstration.DemoConfig(steps=steps, games=games, seed=seed))
    if json:
        common.print_json(report.numbers)
    else:
        common.console().print(report.summary, markup=False, highlight=False)
        print(f"The report: {report.path}")  # noqa: T201
