"""`parlour demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from parlour.training.cli import demo_run as commands
from parlour.training.play.extras import import_extra
from parlour.training.report.report import Report


def demo(
    out: Annotated[Path, "Directory for the page and what the commands leave; resumes if it exists."] = Path(
        "runs/demo"
    ),
    full: Annotated[bool, "Larger amounts, and all papers: some 10 minutes on two quiet cores."] = False,
) -> Report:
    """Run a list of commands offline: a game to watch, OUT/index.html, and what they found, OUT/found.html. Two minutes on two quiet cores.

    A talked game to watch; a seat and a whole table that learn Avalon; GRATR's trust; methods for murder mysteries. What is
    done is not run again; an interrupted demo resumes.

    Example: [bold]parlour demo --out runs/demo[/bold]
    """
    import_extra("parlour.training.learn.ppo.seat", "train")
    return commands.run_steps(out, full=full)
