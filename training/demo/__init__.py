"""The main job, offline: each game adds a section that plays, trains and measures, and a part of the report.

To add a game: write a module with a function from (folder, config) to `Section`, and name it in the `demo` of its spec.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from parlour.envs import dotted
from parlour.envs.registry import loadable
from parlour.policies.files import atomic_write
from parlour.training.demo.section import DemoConfig, Section
from parlour.training.runs import run_directory

__all__ = ["DemoConfig", "DemoReport", "run"]


@dataclass(frozen=True)
class DemoReport:
    """What the demo leaves."""

    path: Path
    summary: str
    """A few lines for the terminal."""
    numbers: dict[str, Any]
    """Everything measured, as plain values."""


def run(out: Path, config: DemoConfig) -> DemoReport:
    """Run every section and write `report.md` and `numbers.json` to `out`, which is held as the directory of a run."""
    with run_directory(out) as folder:
        return _run(folder, config)


def _run(out: Path, config: DemoConfig) -> DemoReport:
    started = monotonic()
    names = [name for spec in loadable() for name in spec.demo]
    sections: list[Section] = [dotted.load(name, "section of the demo")(out, config) for name in names]
    minutes = (monotonic() - started) / 60
    heading = (
        "# parlour: what the demo measured\n\n"
        f"Python {platform.python_version()} on {platform.machine()}, {minutes:.1f} minutes after the installation. "
        f"Seed {config.seed}. All players here are random, heuristics or trained networks; no language model played, and agents that can ask "
        "one were answered by heuristics. "
        "Intervals are at 95 %: Wilson for rates, paired for differences (the same deals for both players).\n\n"
    )
    path = out / "report.md"
    atomic_write(path, heading + "\n".join(section.markdown for section in sections))
    numbers = {section.name: section.numbers for section in sections}
    atomic_write(out / "numbers.json", json.dumps(numbers, indent=2) + "\n")
    return DemoReport(path, "\n".join(section.summary for section in sections), numbers)
