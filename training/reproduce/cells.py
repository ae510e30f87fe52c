"""What a reproduced table consists of: cells with the paper's figure and ours, and the setting it was played in."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from parlour.policies.models.base import Model, OfflineModel
from parlour.training.in_flight import Progress, no_progress
from parlour.training.statistics import PairedDifference, Rate


@dataclass(frozen=True)
class Setting:
    """How a table is played."""

    games: int = 200
    """Held-out deals a row and side."""
    practice: int = 60
    """Practice games on each side, where a row has experience."""
    model: Model = field(default_factory=OfflineModel)
    """Who answers the agents' questions, and the judge's."""
    workers: int = 1
    """Games in flight."""
    seed: int = 0
    """Number of the first held-out deal, and of the practice."""
    against: str = "baseline"
    """Who plays the other side: `baseline`, or `agent` for the six-module agent with all modules."""
    out: Path | None = None
    """Folder for the transcripts; None keeps none."""
    progress: Progress = no_progress


@dataclass(frozen=True)
class Cell:
    """One figure of a table."""

    row: str
    of: str
    """A side or a role."""
    measure: str
    paper: float | None
    """In percent; None where the paper prints none."""
    ours: Rate | None
    """None where there was nothing to count."""
    difference: PairedDifference | None = None
    """From the first row, on the same deals."""
    note: str = ""
    """About the paper's figure."""


@dataclass(frozen=True)
class Reproduction:
    """A table, with what is to be known about it."""

    name: str
    title: str
    model: str
    cells: tuple[Cell, ...]
    remarks: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@cache
def printed() -> dict[tuple[str, str, str, str], tuple[float, str]]:
    """What the paper prints: (table, row, side or role, measure) -> percent, note."""
    text = resources.files(__package__).joinpath("data", "avalon.csv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines())
    return {(r["table"], r["row"], r["side"], r["measure"]): (float(r["value"]), r["note"]) for r in rows}


def cell(
    table: str, row: str, of: str, measure: str, ours: Rate | None, difference: PairedDifference | None = None
) -> Cell:
    """A cell with the paper's figure, if it prints one."""
    paper, note = printed().get((table, row, of, measure), (None, ""))
    return Cell(row, of, measure, paper, ours, difference, note)


def unprinted(table: str, rows: Iterable[str]) -> tuple[Cell, ...]:
    """The paper's cells in rows that cannot be played: results of models that are not here."""
    return tuple(
        Cell(row, of, measure, paper, None, None, note)
        for (one, row, of, measure), (paper, note) in printed().items()
        if one == table and row in set(rows)
    )
