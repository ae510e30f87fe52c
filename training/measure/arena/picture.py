"""The picture of an arena: who wins how often as one side against whom as the other, and the ratings with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.training.measure.arena import report
from parlour.training.measure.arena.result import ArenaResult
from parlour.training.measure.statistics import Estimate
from parlour.training.results import plots

_COLORS: Final = (plots.BLUE, plots.VERMILION)
_MARKS: Final = ("o", "s", "D")
_NAMED: Final = 3
"""Cycles that are named in the picture."""


def draw(found: ArenaResult, path: Path) -> bool:
    """Draw the picture as a PNG; False if matplotlib is not installed."""
    if not plots.available():
        return False
    n = len(found.config.players)
    wide = 0.86 * n + 2.6
    with plots.picture(
        path,
        wide + 5.6,
        0.62 * n + 2.6,
        title=report.title(found),
        who=f"Whole sides, each player against each on both sides of common deals: {', '.join(found.config.players)}; "
        f"{_cycles(found)}",
        n=f"n = {plots.range_of([one.n for one in _cells(found)])} games a cell",
    ) as made:
        left, right = made.subplots(1, 2, width_ratios=[wide, 5.6])
        _matrix(left, found)
        _ratings(right, found)
        plots.key(right)
    return True


def _cells(found: ArenaResult) -> list[Estimate]:
    return [found.cell(a, b) for a in found.config.players for b in found.config.players]


def _cycles(found: ArenaResult) -> str:
    cycles = found.pairs.cycles()
    told = "; ".join(" > ".join((*one, one[0])) for one in cycles[:_NAMED])
    more = f" and {len(cycles) - _NAMED} more" if len(cycles) > _NAMED else ""
    return f"cycles: {told}{more}" if cycles else "no cycles of three"


def _matrix(axes: Any, found: ArenaResult) -> None:
    """The strongest first, in rows and columns; the first side is held by the row."""
    names = [name for name, _ in found.standing]
    rates = np.array([[found.cell(a, b).value for b in names] for a in names])
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            one = found.cell(a, b)
            plots.percent(axes, j, i, one.value, *one.ends)
    axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    plots.numbers(axes, names, names)
    for one in axes.get_xticklabels():
        one.set(rotation=30, ha="right")
    first, second = found.sides
    title = f"games won by {first}, % [95 % interval]"
    plots.label(axes, f"as {second}", f"as {first}", title, grid="")


def _ratings(axes: Any, found: ArenaResult) -> None:
    """A line a player, in the order of the rows."""
    shown = (
        ("rating", "black", 0.0),
        *((f"as {side}", c, d) for side, c, d in zip(found.sides, _COLORS, (-0.22, 0.22), strict=True)),
    )
    for k, (name, color, shift) in enumerate(shown):
        of = [(one.rating, one.first, one.second)[k] for _, one in found.standing]
        told = [(one.value, *one.ends) for one in of]
        heights = (np.arange(len(of)) + shift).tolist()
        plots.points(axes, heights, told, across=True, color=color, fmt=_MARKS[k], label=name)
    axes.axvline(0, color=plots.REFERENCE, linewidth=0.8)
    axes.set_ylim(len(found.standing) - 0.5, -0.5)
    axes.set_yticks(range(len(found.standing)), [plots.broken(name) for name, _ in found.standing])
    plots.label(axes, "points (400: odds of ten to one), 95 % intervals", "", "ratings", grid="x")
