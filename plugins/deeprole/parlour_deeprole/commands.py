"""`parlour train deeprole`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import check_one_of
from parlour.envs.settings import COMMON
from parlour.training.cli import common
from parlour.training.cli.options import Options
from parlour.training.play.extras import import_extra
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.runs.run import Run

from parlour_deeprole.config import GAME, DeepRoleConfig


def train_deeprole(
    config: Annotated[DeepRoleConfig, Options()],
    game: Annotated[str | None, typer.Argument(), "Name of the game."] = GAME,
    out: Annotated[Path, COMMON, "Run directory; resumes if it exists."] = Path("runs/deeprole"),
    log: common.LogOption = None,
) -> Report:
    """Train DeepRole's value networks for five-player Avalon; resumes after the last finished network. Needs the extra `train`.

    Writes deeprole.npz, which `--policy deeprole:FILE` plays with `--players 5 --rules official --set roles=deeprole --set
    talk=false`.

    Example: [bold]parlour train deeprole avalon_v0 --out runs/deeprole[/bold]
    """
    check_one_of("game", game, (GAME,))
    run = import_extra("parlour_deeprole.run", "train")
    with display.progress_line() as progress:
        result = run.learn(config, Run(out, progress, log or ()))
    lines = f"player: --policy deeprole:{out / run.PLAYER}", f"report: {out / 'report.md'}"
    report: Report = result.report
    return replace(report, parts=(*report.parts, *lines), values={"out": str(out), **report.values})
