"""`parlour train questum`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import ParlourError
from parlour.training.cli import common
from parlour.training.cli.tune import (
    FinalistsOption,
    GridOption,
    ProcessesOption,
    PrunerOption,
    executor,
    show,
    with_bars,
)


def questum(
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/questum"),
    games: Annotated[int, typer.Option(min=1, help="Training cases of a trial.")] = 60,
    budget: Annotated[int, typer.Option(min=1, help="Trials; with `spsa`, as many cases as they would have.")] = 30,
    method: Annotated[
        str, typer.Option(help="optuna (trials on common cases), or spsa (one case at a time).")
    ] = "optuna",
    parameters: Annotated[str, typer.Option(help="Of beta, epsilon; with commas.")] = "beta,epsilon",
    weights: Annotated[
        str, typer.Option(help="Of win, right answers and cost in the reward; with commas.")
    ] = "0.4,0.4,0.2",
    language: Annotated[str, typer.Option(help="en or zh; the stories are the same.")] = "en",
    rounds: Annotated[int, typer.Option(min=1, help="Of questions.")] = 3,
    held_out: Annotated[int, typer.Option(min=2, help="Held-out cases of trained and of default parameters.")] = 200,
    surface: Annotated[int, typer.Option(min=2, help="Cases of each cell of the response surface.")] = 30,
    grid: GridOption = 5,
    finalists: FinalistsOption = 4,
    pruner: PrunerOption = "wilcoxon",
    workers: ProcessesOption = 1,
    ray: common.RayOption = None,
    ray_workers: common.RayWorkersOption = None,
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Train Questum's beta and epsilon on generated cases, and test them against 0.2 and 0.1 on held-out ones.

    Can be killed and called again. Needs the extra `train`.

    Example: [bold]parlour train questum --games 60 --budget 30 --workers 2 --out runs/questum[/bold]
    """
    from parlour.training.hyperopt.config import TuneConfig
    from parlour.training.murder_mystery.tuning import QuestumTuning

    win, right, cost = _numbers(weights)
    problem = QuestumTuning(tuple(parameters.split(",")), win, right, cost, language, rounds)
    config = TuneConfig(
        method=method,  # type: ignore[arg-type]  # any word; refused if it is none
        pruner=pruner,  # type: ignore[arg-type]
        budget=budget,
        deals=games,
        held_out=held_out,
        surface=surface,
        grid=grid,
        finalists=finalists,
        seed=seed,
    )
    with executor(workers, ray, ray_workers) as players:
        tuned = with_bars(problem, config, out, players)
    if json:
        from parlour.training.hyperopt.report import summary

        common.print_json({"out": str(out)} | summary(tuned))
    else:
        show(tuned, out)


def _numbers(text: str) -> tuple[float, float, float]:
    try:
        win, right, cost = (float(part) for part in text.split(","))
    except ValueError:
        raise ParlourError(f"weights {text!r} are not accepted; accepted: three numbers, such as 0.4,0.4,0.2") from None
    return win, right, cost
