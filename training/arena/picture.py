"""The picture of an arena: who wins how often as one side against whom as the other, and the ratings with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.training import plots
from parlour.training.arena import report
from parlour.training.arena.result import ArenaResult

_COLORS: Final = ("tab:blue", "tab:red")
_NAMED: Final = 3
"""Cycles that are named in the picture."""


def draw(found: ArenaResult, path: Path) -> bool:
    """Draw the picture as a PNG; False if matplotlib is not installed."""
    if not plots.available():
        return False
    n = len(found.config.players)
    made = plots.figure(0.78 * n + 8.2, 0.6 * n + 3.2)
    left, right = made.subplots(1, 2, width_ratios=[0.78 * n + 2.6, 5.6])
    _matrix(left, found)
    _ratings(right, found)
    cycles = found.pairs.cycles()
    told = "; ".join(" > ".join((*one, one[0])) for one in cycles[:_NAMED])
    more = f" and {len(cycles) - _NAMED} more" if len(cycles) > _NAMED else ""
    made.suptitle(f"{report.title(found)}\n{f'cycles: {told}{more}' if cycles else 'no cycles of three'}", fontsize=10)
    plots.save(made, path)
    return True


def _matrix(axes: Any, found: ArenaResult) -> None:
    """The strongest first, in rows and columns; the first side is held by the row."""
    names = [name for name, _ in found.standing]
    rates = np.array([[found.cell(a, b).rate for b in names] for a in names])
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            one = found.cell(a, b)
            dark, half = abs(one.rate - 0.5) > 0.3, (one.high - one.low) / 2
            plots.number(axes, j, i - 0.12, f"{100 * one.rate:.0f}", dark=dark, fontsize=9.5)
            plots.number(axes, j, i + 0.25, f"±{100 * half:.0f}", dark=dark, fontsize=6.5)
    axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    plots.numbers(axes, names, names)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    for one in axes.get_xticklabels():
        one.set(rotation=30, ha="left")
    first, second = found.sides
    plots.label(axes, f"as {second}", f"as {first}", grid="")
    axes.set_title(f"games won by {first} in %, ± half the 95 % interval", fontsize=9, y=-0.06)


def _ratings(axes: Any, found: ArenaResult) -> None:
    """A line a player, in the order of the rows."""
    shown = (
        ("rating", "black", 0.0),
        *((f"as {side}", c, d) for side, c, d in zip(found.sides, _COLORS, (-0.22, 0.22), strict=True)),
    )
    for k, (name, color, shift) in enumerate(shown):
        of = [(one.rating, one.first, one.second)[k] for _, one in found.standing]
        bars = [[one.value - one.low for one in of], [one.high - one.value for one in of]]
        at = np.arange(len(of)) + shift
        axes.errorbar(
            [one.value for one in of],
            at,
            xerr=np.maximum(bars, 0),
            fmt="o",
            color=color,
            markersize=5,
            capsize=2,
            label=name,
        )
    axes.axvline(0, color=plots.REFERENCE, linewidth=0.8)
    axes.set_ylim(len(found.standing) - 0.5, -0.5)
    axes.set_yticks(range(len(found.standing)), [])
    plots.label(axes, "points (400: odds of ten to one), 95 % intervals", "", "ratings", grid="x")
    axes.legend(fontsize=8, loc="upper left")  # the strongest are at the top, on the right
