"""`parlour evaluate mysteries`: methods for murder mysteries on the same cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.vocabulary.facts import LANGUAGES
from parlour.envs.settings import COMMON
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption
from parlour.training.cli.options import Options
from parlour.training.measure.murder_mystery.games import GAME, CaseSetting
from parlour.training.measure.murder_mystery.methods import METHODS, method_of
from parlour.training.papers.figures import picture_of
from parlour.training.papers.questum import by_budget, comparison, quiz_verdict
from parlour.training.papers.questum_games import MysterySetting
from parlour.training.papers.report import report_of
from parlour.training.play.seeds import HeldOutDeals
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.runs.run import Run


def evaluate_mysteries(
    setting: Annotated[
        MysterySetting, Options(exclude=("games", "practice", "model", "pool", "seed", "progress", "failures"))
    ],
    held_out: Annotated[HeldOutDeals, Options(defaults={"games": 50})],
    table: Annotated[CaseSetting, Options(exclude=("repetitions", "budget", "embedder"))],
    model: ModelOption,
    ray: common.RayOptions,
    failures: common.FailureOptions,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m"),
        COMMON,
        f"{', '.join(METHODS)}; or an agent with settings. Repeatable: compared with the first; None: all.",
    ] = None,
    budget: Annotated[
        list[int] | None,
        typer.Option(min=1),
        COMMON,
        "Number of questions to the model in a game, after which nobody asks. Repeatable: a part of the table for "
        "each; None: no limit.",
    ] = None,
) -> Report:
    """Compare methods for murder mysteries: verdicts, quiz and questions on the same cases, the first beside each other.

    With --out, resumes if it exists.

    Example: [bold]parlour evaluate mysteries --method questum --method mystery_ocot --games 50 --budget 50 --budget 100[/bold]
    """
    names = method or list(METHODS)
    for what, chosen in (("method", names), ("budget", budget or [])):
        if len(set(chosen)) < len(chosen):
            raise ParlourError(f"{what} {', '.join(map(str, chosen))} is not accepted; accepted: each once")
    with ray.pool(model) as pool, display.progress_line(model=model) as progress:
        given = {**dict(held_out), "model": model, "pool": pool, "progress": progress, "failures": failures}
        setting = setting.replace(practice=0, level=setting.level or 0, **given)
        rows = {name: method_of(name) for name in names}
        with Run(setting.out).opened():
            if budget:
                report = report_of(by_budget("compare", setting, rows, table, budget), model)
            else:
                made = comparison("compare", setting, rows, table)
                cases = f"{setting.games} held-out cases" if setting.cases in LANGUAGES else setting.cases
                picture = picture_of(made, f"{GAME}, {cases}", model)
                report = report_of(replace(made, picture=picture), model, quiz_verdict(made, made.cells[0].row))
            if setting.out is not None:
                report.write(setting.out)
    return report
