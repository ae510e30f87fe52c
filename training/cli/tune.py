"""`parlour train gratr` and `train questum`: parameters tuned by the rewards of whole games."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError, accept
from parlour.training import display
from parlour.training.cli import common
from parlour.training.cli.options import Answer, Options
from parlour.training.hyperopt.config import TuneConfig
from parlour.training.murder_mystery.tuning import QuestumTuning
from parlour.training.parallel.executor import Workers
from parlour.training.werewolf.tuning import GratrTuning


@dataclass(frozen=True)
class ProcessSettings(common.ThreadSettings):
    """Which processes play."""

    workers: int = 1
    """Number of processes that play. With several, the set of trials may vary."""

    @contextmanager
    def players(self) -> Iterator[Workers]:
        """A number of processes, or Ray's. Raises `ParlourError` if both are asked for."""
        if self.ray is not None and self.workers != 1:
            raise ParlourError(f"--workers {self.workers} goes without --ray; accepted: --ray-workers")
        with self.pool() as pool:
            yield self.workers if pool is None else pool


ProcessOptions = Annotated[ProcessSettings, Options()]


def train_gratr(
    config: Annotated[TuneConfig, Options(exclude=("deals", "held_out", "surface"))],
    problem: Annotated[GratrTuning, Options(rename={"reward_by": "--reward"})],
    processes: ProcessOptions,
    games: Annotated[int, typer.Option(min=2), "Number of training games of a trial; two for each deal."] = 200,
    held_out: Annotated[
        int, typer.Option(min=4), "Number of held-out games of trained and of default parameters; two for each deal."
    ] = 1000,
    surface: Annotated[int, typer.Option(min=4), "Number of games for each cell of the response surface."] = 80,
    out: common.RunOption = Path("runs/gratr"),
) -> Answer:
    """Train GRATR's parameters by the rewards of mixed games, and test them against the defaults on held-out deals.

    Resumes from the last finished trial. Needs the extra `train`.

    Example: [bold]parlour train gratr --games 200 --budget 40 --workers 2 --out runs/gratr[/bold]
    """
    for name, number in (("games", games), ("held-out", held_out), ("surface", surface)):
        if number % problem.games:
            raise accept(name, number, "an even number: each deal is played from both sides")
    deals, held_out, surface = (number // problem.games for number in (games, held_out, surface))
    return _tune(problem, replace(config, deals=deals, held_out=held_out, surface=surface), out, processes)


def train_questum(
    config: Annotated[
        TuneConfig,
        Options(rename={"deals": "--games"}, defaults={"budget": 30, "deals": 60, "held_out": 200, "surface": 30}),
    ],
    problem: Annotated[QuestumTuning, Options()],
    processes: ProcessOptions,
    out: common.RunOption = Path("runs/questum"),
) -> Answer:
    """Train Questum's beta and epsilon on generated cases, and test them against 0.2 and 0.1 on held-out ones.

    A deal is a generated case. Resumes from the last finished trial. Needs the extra `train`.

    Example: [bold]parlour train questum --games 60 --budget 30 --workers 2 --out runs/questum[/bold]
    """
    return _tune(problem, config, out, processes)


def _tune(problem: Any, config: TuneConfig, out: Path, processes: ProcessSettings) -> Answer:
    """Call the tuner. Raises `ParlourError` where the extra `train` is missing."""
    if find_spec("fcntl") is None:
        raise ParlourError("tuning needs POSIX file locks; accepted: Linux or macOS")
    if config.method == "optuna":
        common.require("optuna", "train")  # before the first game is played
    run = common.require("parlour.training.hyperopt.run", "train")
    report = common.require("parlour.training.hyperopt.report", "train")
    with processes.players() as workers, display.stage_bars() as progress:
        tuned = run.tune(problem, config, out, workers=workers, progress=progress)
    return Answer({"out": str(out)} | report.summary(tuned), partial(_show_tuned, report, tuned, out))


def _show_tuned(report: Any, tuned: Any, out: Path) -> None:
    """Parameters, the held-out test in one sentence, and where the report is."""
    rows = [
        (parameter.name, f"{parameter.default:g}", f"{tuned.parameters[parameter.name]:.4g}")
        for parameter in tuned.problem.space.parameters
    ]
    for name, value in tuned.means.items():
        cells = (f"{value:.4f}", "") if name == "defaults" else ("", f"{value:.4f}")
        rows.append((f"mean reward, {name}", *cells))
    display.show_table(f"Tuning {tuned.problem.name}", ("parameter", "default", "trained"), rows)
    print(report.verdict(tuned))  # noqa: T201
    if not tuned.drawn:
        print("parlour: no pictures were drawn; accepted: pip install 'parlour[train]'", file=sys.stderr)  # noqa: T201
    print(f"report: {out / 'report.md'}")  # noqa: T201
