"""`parlour demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from parlour.training.cli.options import Answer, Options
from parlour.training.papers.demo.section import DemoConfig
from parlour.training.play.extras import import_extra


def demo(
    config: Annotated[DemoConfig, Options()],
    out: Annotated[Path, "Directory for the report and its data; resumes if it exists."] = Path("runs/demo"),
) -> Answer:
    """Play, record, train a seat and a whole table and measure them, offline; writes a report. Resumes from checkpoints.

    First writes a game to watch in a browser; then describes each part, with its time. OUT/index.html is the
    report,
    with its pictures, tables and replays.

    Example: [bold]parlour demo --quick --out runs/demo[/bold]
    """
    import_extra("parlour.training.learn.ppo.seat", "train")
    report = import_extra("parlour.training.papers.demo", "train").run(out, config)
    return Answer(report.numbers, [report.summary, f"The report: {report.path}"], verdict="\n".join(report.verdicts))
