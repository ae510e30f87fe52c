"""`parlour reproduce`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

import typer
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.settings import COMMON
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption
from parlour.training.cli.options import Options
from parlour.training.papers import reproduce as tables
from parlour.training.papers.cells import ReproductionSetting, StudySetting
from parlour.training.papers.gratr_teams import GratrSetting
from parlour.training.papers.questum_games import MysterySetting
from parlour.training.papers.report import report_of
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable

_SHARED: Final = tuple(ReproductionSetting.model_fields)
"""What all papers' tables need; other options are of a paper."""


def reproduce(
    setting: Annotated[
        ReproductionSetting, Options(exclude=("games", "practice", "model", "pool", "progress", "failures"))
    ],
    teams: Annotated[GratrSetting, Options(exclude=_SHARED)],
    cases: Annotated[MysterySetting, Options(exclude=_SHARED)],
    study: Annotated[StudySetting, Options(exclude=(*_SHARED, "workers"))],
    model: ModelOption,
    ray: common.RayOptions,
    failures: common.FailureOptions,
    name: Annotated[str | None, typer.Argument(), f"One of: {', '.join(tables.TABLES)}; None: with --list."] = None,
    listing: Annotated[
        bool,
        typer.Option("--list"),
        COMMON,
        "List every table and figure of the papers: reproduced, or what it needs.",
    ] = False,
    games: Annotated[
        int | None,
        typer.Option(min=1),
        COMMON,
        "Number of held-out deals for each row and side; GRACE: held-out questions; GRATR: mixed games with each "
        "opponent; murder mysteries: held-out cases; None: as `--list` says, with `--quick` few.",
    ] = None,
    practice: Annotated[
        int | None,
        typer.Option(min=0),
        COMMON,
        "Number of practice games on each side, if a row has experience; GRACE: calibration questions; games of people: "
        "thousands of decisions an expert learns from; None: as `--list` says, with `--quick` few.",
    ] = None,
) -> Report:
    """Reproduce a published table and print the paper's rows next to ours, with intervals.

    Example: [bold]parlour reproduce avalon-2 --games 200[/bold]
    """
    if listing:
        columns, rows = ("name", "place", "content", "status", "games + practice"), tables.listed()
        values = [dict(zip(columns, row, strict=True)) for row in rows]
        return Report("", parts=(ResultTable.plain("Tables and figures", columns, rows, wrap=True),), values=values)
    if name is None:
        raise accept("table", name, (*tables.TABLES, "--list"))
    check_one_of("table", name, tables.TABLES)
    table = tables.TABLES[name]
    given = dict(setting)
    for options in (teams, cases, study):
        for part, value in options:
            if part in table.setting.model_fields:
                given.setdefault(part, value)
            elif value != type(options).model_fields[part].get_default():
                raise ParlourError(f"--{part} is not accepted with {name}; accepted: {name} without --{part}")
    with ray.pool(model) as pool, display.progress_line(model=model) as progress:
        given |= {"model": model, "pool": pool, "progress": progress, "failures": failures}
        sizes = table.quick if setting.quick else table.sizes
        given["games"] = sizes[0] if games is None else games
        given["practice"] = sizes[1] if practice is None else practice
        report = report_of(tables.reproduce(name, table.setting(**given)), model)
    more = f"parlour reproduce {name}" if setting.quick else f"parlour reproduce {name} --games {2 * given['games']}"
    return replace(report, following=(more, "parlour reproduce --list"))
