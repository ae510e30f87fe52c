"""Pictures of an analysis: right votes and guesses of recorded players beside the heuristic's.

They need matplotlib, of the extra `train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.training.report import plots
from parlour.training.statistics import Estimate

from parlour_people.analysis.compare import ComparedGuesses, ComparedVotes

PLAYERS: Final = {"heuristic": "0.35"}

BLACK: Final = "black"
INTERVAL: Final = "95 % interval"
ORANGE: Final = "#E69F00"

_THEIRS: Final = ORANGE
_OURS: Final = PLAYERS["heuristic"]


def votes(rows: Sequence[ComparedVotes], theirs: str, path: Path) -> None:
    """Shares of right votes by group, theirs and ours, with intervals."""
    named = [(f"{_group(row.by, row.group)}\n{row.votes} votes", row.theirs, row.ours) for row in rows]
    counted = f"n = {plots.range_of([row.votes for row in rows])} votes a row"
    _pairs(named, theirs, ("Right votes of good seats", counted, "right votes of good seats, %"), path, {})


def guesses(rows: Sequence[ComparedGuesses], theirs: str, path: Path) -> None:
    """Shares of right guesses by group, theirs and ours, with intervals, and that of naming a good seat at random."""
    named = [(f"{_group(row.by, row.group)}\n{row.theirs.n} guesses", row.theirs, row.ours) for row in rows]
    chance = {number: row.chance / row.theirs.n for number, row in enumerate(rows)}
    counted = f"n = {plots.range_of([row.theirs.n for row in rows])} guesses a row"
    _pairs(named, theirs, ("Guesses at Merlin", counted, "guesses that named Merlin, %"), path, chance)


def _group(by: str, group: str) -> str:
    if by == group:
        return group
    return {"memory": f"{group} memory", "reasoning effort": f"effort {group}"}.get(by, f"{group} {by}")


def _pairs(
    rows: Sequence[tuple[str, Estimate, Estimate]],
    theirs: str,
    words: tuple[str, str, str],
    path: Path,
    chance: Mapping[int, float],
) -> None:
    title, counted, x = words
    with plots.picture(
        path,
        8,
        0.6 * len(rows) + 1.4,
        title=f"{title}: {theirs}, and the heuristic at the same Views",
        who=f"{theirs}; heuristic; bars: {INTERVAL}s",
        n=counted,
    ) as made:
        axes = made.add_subplot()
        for number, (_, a, b) in enumerate(rows):
            height = len(rows) - number
            _dot(axes, a, height + 0.15, "o", _THEIRS, theirs)
            _dot(axes, b, height - 0.15, "s", _OURS, "heuristic, same Views")
            if number in chance:
                at, ends = 100 * chance[number], [height - 0.3, height + 0.3]
                axes.plot([at, at], ends, color=BLACK, linestyle=":", label="a good seat at random")
        axes.set_yticks(range(len(rows), 0, -1), [name for name, _, _ in rows])
        axes.set_xlim(-2, 102)
        plots.label(axes, x, grid="x")
        plots.key(made)


def _dot(axes: Any, estimate: Estimate, height: float, mark: str, colour: str, label: str) -> None:
    mean = estimate.value
    ends = tuple(None if end is None else 100 * end for end in (estimate.low, estimate.high))
    plots.points(axes, [height], [(100 * mean, ends[0], ends[1])], across=True, fmt=mark, color=colour, label=label)
