"""What the player's moves took in a benchmark, a game: first answers that were legal, tokens, dollars, from its results file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlour.policies.files import read_json
from parlour.training.measure.benchmark.results_file import RESULTS


@dataclass(frozen=True)
class MovesTaken:
    """Sums and means over all games of the run."""

    games: int
    first_share: float | None
    """Share of its decisions that were its first answer, and legal; None without a decision."""
    tokens: float
    """Read and written, a game."""
    dollars: float | None
    """A game; None if a reply has an unknown cost."""


def moves_taken(folder: Path) -> MovesTaken | None:
    """What the results file in a run directory says; None while the run has none.

    Raises:
        ParlourError: The file cannot be read.
    """
    path = folder / RESULTS
    if not path.exists():
        return None
    stored = read_json(path)
    made: Mapping[str, Any] = stored["all decisions"]
    games = sum(len(of) for by in stored["points"].values() for sides in by.values() for of in sides.values())
    first = made.get("first", 0) / made["decisions"] if made["decisions"] else None
    dollars = made.get("dollars", 0.0)
    tokens = made.get("prompt", 0) + made.get("completion", 0)
    return MovesTaken(games, first, tokens / games, None if dollars is None else dollars / games)
