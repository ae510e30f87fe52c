"""`parlour train gratr`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError, accept
from parlour.training import display
from parlour.training.cli import common
from parlour.training.parallel.executor import Workers

GridOption = Annotated[int, typer.Option(min=2, help="Values of a parameter on the response surface.")]
FinalistsOption = Annotated[int, typer.Option(min=0, help="Best trials that play --games more; 0: none.")]
PrunerOption = Annotated[str, typer.Option(help="wilcoxon, median, halving or none.")]
ProcessesOption = Annotated[
    int, typer.Option(min=1, help="Processes that play. With several, which trials are made may vary.")
]


def gratr(
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/gratr"),
    games: Annotated[int, typer.Option(min=2, help="Training games of a trial; two for each deal.")] = 200,
    budget: Annotated[int, typer.Option(min=1, help="Trials; with `spsa`, as many games as they would have.")] = 40,
    method: Annotated[
        str, typer.Option(help="optuna (trials on common deals), or spsa (one deal at a time).")
    ] = "optuna",
    parameters: Annotated[str, typer.Option(help="Of rho, gamma, epsilon, width; with commas.")] = "rho,gamma",
    against: Annotated[str, typer.Option(help="Who plays the other four seats.")] = "werewolf_window",
    reward: Annotated[
        str, typer.Option(help="win (of the special block), or performance (its score by the paper's table 3).")
    ] = "win",
    mode: Annotated[str, typer.Option(help="How GRATR's equations are read: ours, paper or code.")] = "ours",
    held_out: Annotated[
        int, typer.Option(min=4, help="Held-out games of trained and of default parameters; two for each deal.")
    ] = 1000,
    surface: Annotated[int, typer.Option(min=4, help="Games of each cell of the response surface.")] = 80,
    grid: GridOption = 5,
    finalists: FinalistsOption = 4,
    pruner: PrunerOption = "wilcoxon",
    workers: ProcessesOption = 1,
    ray: common.RayOption = None,
    ray_workers: common.RayWorkersOption = None,
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Train GRATR's numbers from the rewards of mixed games, and test them against the defaults on held-out deals.

    Can be killed and called again. Needs the extra `train`.

    Example: [bold]parlour train gratr --games 200 --budget 40 --workers 2 --out runs/gratr[/bold]
    """
    from parlour.training.hyperopt.config import TuneConfig
    from parlour.training.werewolf.tuning import GratrTuning

    problem = GratrTuning(against, tuple(parameters.split(",")), reward, mode)  # type: ignore[arg-type]  # any words
    for name, number in (("games", games), ("held-out", held_out), ("surface", surface)):
        if number % problem.games:
            raise accept(name, number, "an even number: each deal is played from both sides")
    config = TuneConfig(
        method=method,  # type: ignore[arg-type]  # any word; refused if it is none
        pruner=pruner,  # type: ignore[arg-type]
        budget=budget,
        deals=games // problem.games,
        held_out=held_out // problem.games,
        surface=surface // problem.games,
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


@contextmanager
def executor(workers: int, ray: str | None, ray_workers: int | None) -> Iterator[Workers]:
    """Who plays: so many processes, or Ray's. Raises `ParlourError` if both are asked for."""
    if ray is not None and workers != 1:
        raise ParlourError(f"--workers {workers} goes without --ray; accepted: --ray-workers")
    with common.pool(ray, ray_workers) as pool:
        yield workers if pool is None else pool


def with_bars(problem: Any, config: Any, out: Path, workers: Workers) -> Any:
    """Call the tuner with a progress bar for each stage. Raises `ParlourError` where the extra `train` is missing."""
    try:
        from parlour.training.hyperopt import run

        if config.method == "optuna":
            import optuna  # noqa: F401 - missed before the first game is played
    except ModuleNotFoundError as error:
        if error.name == "fcntl":
            raise ParlourError("tuning needs POSIX file locks; accepted: Linux or macOS") from None
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[train]'") from None
    with display.progress_bar() as bar:
        tasks: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int, note: str) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, description=f"{stage}: {note}" if note else stage)

        return run.tune(problem, config, out, workers=workers, progress=progress)


def show(tuned: Any, out: Path) -> None:
    """Parameters, the held-out test in one sentence, and where everything lies."""
    from parlour.training.hyperopt.report import verdict

    shown = common.table(f"Tuning {tuned.problem.name}", "parameter", "default", "trained")
    for parameter in tuned.problem.space.parameters:
        shown.add_row(parameter.name, f"{parameter.default:g}", f"{tuned.parameters[parameter.name]:.4g}")
    for name, value in tuned.means.items():
        shown.add_row(f"mean reward, {name}", *([f"{value:.4f}", ""] if name == "defaults" else ["", f"{value:.4f}"]))
    common.console().print(shown)
    print(verdict(tuned))  # noqa: T201
    if not tuned.drawn:
        print("parlour: no pictures were drawn; for them: pip install 'parlour[train]'", file=sys.stderr)  # noqa: T201
    print(f"report: {out / 'report.md'}")  # noqa: T201
