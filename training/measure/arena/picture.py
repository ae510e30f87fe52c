"""The picture of an arena: win rates of each pair of sides, and the ratings with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.policies.llm.decisions import foreign
from parlour.training.measure.arena.result import ArenaResult
from parlour.training.measure.decision_tables import MEANING
from parlour.training.report import plots
from parlour.training.statistics import Estimate

_COLORS: Final = (plots.BLUE, plots.VERMILION)
_MARKS: Final = ("o", "s", "D")
_NAMED: Final = 3
"""Cycles that are named in the picture."""


def draw(result: ArenaResult, path: Path) -> None:
    """Draw the picture as a PNG; needs matplotlib."""
    n = len(result.config.players)
    wide = 0.86 * n + 2.6
    with plots.picture(
        path,
        wide + 5.6,
        0.62 * n + 2.6,
        title=result.title,
        who=f"Whole sides, each player against each on both sides of common deals: {', '.join(result.config.players)}; "
        f"{_cycles(result)}{_mark(result)}",
        n=f"n = {plots.range_of([cell.n for cell in _cells(result)])} games a cell",
    ) as made:
        left, right = made.subplots(1, 2, width_ratios=[wide, 5.6])
        _matrix(left, result)
        _ratings(right, result)
        plots.key(right)


def _cells(result: ArenaResult) -> list[Estimate]:
    return [result.cell(a, b) for a in result.config.players for b in result.config.players]


def _mark(result: ArenaResult) -> str:
    """What the mark means, where a name has it."""
    return f"; {MEANING}" if any(foreign(of.own, of.decisions) for of in result.decisions.values()) else ""


def _cycles(result: ArenaResult) -> str:
    cycles = result.cycles
    text = "; ".join(" > ".join((*cycle, cycle[0])) for cycle in cycles[:_NAMED])
    more = f" and {len(cycles) - _NAMED} more" if len(cycles) > _NAMED else ""
    return f"cycles: {text}{more}" if cycles else "no cycles of three"


def _matrix(axes: Any, result: ArenaResult) -> None:
    """The strongest first, in rows and columns; the first side is held by the row."""
    names = [name for name, _ in result.standing]
    rates = np.full((len(names), len(names)), 0.5)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if result.scored >= {a, b}:
                rate = result.cell(a, b)
                rates[i, j] = rate.value
                plots.percent(axes, j, i, rate.value, *rate.ends)
    axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    shown = [result.shown(name) for name in names]
    plots.numbers(axes, shown, shown)
    for rate in axes.get_xticklabels():
        rate.set(rotation=30, ha="right")
    first, second = result.sides
    title = f"games won by {first}, % [95 % interval]"
    plots.label(axes, f"as {second}", f"as {first}", title, grid="")


def _ratings(axes: Any, result: ArenaResult) -> None:
    """A line a player, in the order of the rows."""
    shown = (
        ("rating", "black", 0.0),
        *((f"as {side}", c, d) for side, c, d in zip(result.sides, _COLORS, (-0.22, 0.22), strict=True)),
    )
    for k, (name, color, shift) in enumerate(shown):
        of = [
            (at + shift, (strength.rating, strength.first, strength.second)[k])
            for at, (player, strength) in enumerate(result.standing)
            if player in result.scored
        ]
        estimates = [(estimate.value, *estimate.ends) for _, estimate in of]
        plots.points(axes, [at for at, _ in of], estimates, across=True, color=color, fmt=_MARKS[k], label=name)
    axes.axvline(0, color=plots.REFERENCE, linewidth=0.8)
    axes.set_ylim(len(result.standing) - 0.5, -0.5)
    names = [plots.broken(result.shown(name)) for name, _ in result.standing]
    axes.set_yticks(range(len(names)), names)
    plots.label(axes, "points (400: odds of ten to one), 95 % intervals", "", "ratings", grid="x")
