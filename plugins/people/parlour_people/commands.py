"""`parlour train habits | clone`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.envs.settings import COMMON
from parlour.training.cli import common
from parlour.training.cli.options import Options
from parlour.training.play.extras import import_extra
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.runs.run import Run

from parlour_people.clone.choices import CloneConfig
from parlour_people.habits import report as habits_report
from parlour_people.habits.run import HabitsConfig, learn_habits

REPORT_FILE: Final = "report.md"
RunOption = Annotated[Path, COMMON, "Run directory; resumes if it exists."]


def train_habits(
    config: Annotated[HabitsConfig, Options(rename={"source": "--from"})],
    out: RunOption = Path("runs/habits"),
    log: common.LogOption = None,
) -> Report:
    """Learn from recorded games of Avalon or Werewolf how seats behave, and test on held-out games.

    Writes habits.json, tables, and a calibration curve. `--policy conduct:FILE` plays Avalon by any habits.json;
    `--policy heuristic:habits=FILE` by those of Werewolf and of `--reader`, such as `--reader --last 0.2` for games of people.

    Example: [bold]parlour train habits --from runs/records --out runs/habits[/bold]
    """
    with display.progress_line() as progress:
        result = learn_habits(config, Run(out, progress, log or ()))
    tested = "The last games" if result.often else "The other folder"
    scores = {"Cross-validation by game": result.scores, tested: result.tested}
    tables = (habits_report.score_table(title, of) for title, of in scores.items() if of)
    files = f"habits: {out / 'habits.json'}; report: {out / REPORT_FILE}"
    return Report("", result.verdict, (*tables, files), values={"out": str(out), **result.as_json()})


def train_clone(
    folder: Annotated[
        Path,
        typer.Option("--from"),
        "Directory of transcripts of Avalon, imported (`parlour import avalon`) or played here.",
    ],
    config: Annotated[CloneConfig, Options()],
    out: RunOption = Path("runs/clone"),
    log: common.LogOption = None,
) -> Report:
    """Learn a player that imitates recorded players, tested on held-out games. Needs the extra `train`.

    Writes clone.npz, which `--policy clone:FILE` seats at any table of Avalon, and a report.

    Example: [bold]parlour train clone --from runs/imported --out runs/clone[/bold]
    """
    by_date = config.method == "networks"
    run = import_extra(f"parlour_people.clone.{'by_date' if by_date else 'run'}", "train")
    learn, summary = (run.clone_networks, run.summary_by_date) if by_date else (run.clone, run.summary)
    report = import_extra("parlour_people.clone.report", "train")
    with display.progress_line() as progress:
        result = learn(folder, Run(out, progress, log or ()), config)
    table = report.score_table("Held-out games (95 % interval)", report.over_all(result.scores))
    files = f"player: --policy clone:{out / report.PLAYER}; report: {out / REPORT_FILE}"
    return Report("", report.verdict(result.scores), (table, files), values={"out": str(out), **summary(result)})
