"""The pictures of a run: the cross-play matrix as a heat map with numbers, and the curves with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.training import plots
from parlour.training.plots import REFERENCE, Curve, CurvePoint
from parlour.training.selfplay.config import FIXED, RANDOM, RULE
from parlour.training.selfplay.population import Population

_COLORS: Final = ("tab:blue", "tab:orange", "tab:green")


def crossplay(found: Population, path: Path) -> None:
    """Who wins how often against whom. The heuristic is the first row, set off by a line."""
    played, config = found.crossplay, found.config
    names = [RULE, *(one.name for one in played.members if one.name != RULE)]
    n = len(names)
    rates = np.full((n, n), np.nan)
    made = plots.figure(0.72 * n + 3.2, 0.56 * n + 2.4)
    axes = made.add_subplot()
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j and (one := played.rate(a, b)) is not None:
                rates[i, j] = one.rate
                dark, half = abs(one.rate - 0.5) > 0.3, (one.high - one.low) / 2
                plots.number(axes, j, i - 0.12, f"{100 * one.rate:.0f}", dark=dark, fontsize=9.5)
                plots.number(axes, j, i + 0.25, f"±{100 * half:.0f}", dark=dark, fontsize=6.5)
            else:
                axes.text(j, i, "·", ha="center", va="center", color="0.5")
    image = axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    axes.axhline(0.5, color="black", linewidth=1.5)
    axes.axvline(0.5, color="black", linewidth=1.5)
    steps = {one.name: one.steps for one in played.members}
    labels = [name if steps[name] is None else f"{name} ({(steps[name] or 0) / 1000:.0f}k)" for name in names]
    plots.numbers(axes, names, labels, rotation=45 if n > 8 else 0)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    plots.label(axes, "opponent", "player (decisions learned from)", grid="")
    made.colorbar(image, ax=axes, label="win rate of the row's player")
    made.suptitle(
        f"{config.game}: whole sides on common held-out deals, sides swapped\n"
        f"{2 * config.deals} games a cell ({2 * config.test_deals} among {RULE}, first and last snapshot),\n"
        "in %, ± half the 95 % interval",
        fontsize=10,
    )
    plots.save(made, path)


def curve(found: Population, path: Path) -> None:
    """Each snapshot against `heuristic`, `random` and the first snapshot, and its rating; dashed: the heuristic."""
    made = plots.figure(10, 7.2)
    panels = made.subplots(2, 2, sharex=True).flat
    opponents = (RULE, RANDOM, found.first)
    for axes, opponent, color in zip(panels, opponents, _COLORS, strict=False):
        _against(axes, found, opponent, color)
    _rating(panels[3], found)
    for axes in (panels[2], panels[3]):
        axes.set_xlabel("decisions learned from (thousands)")
    made.suptitle(f"{found.config.game}, snapshots as whole sides on held-out deals (from both sides), 95 % intervals")
    plots.save(made, path)


def _against(axes: Any, found: Population, opponent: str, color: str) -> None:
    met = [one for one in found.snapshots if one.name != opponent]
    played = [((one.steps or 0) / 1000, found.crossplay.rate(one.name, opponent)) for one in met]
    points = [CurvePoint(at, won.rate, won.low, won.high) for at, won in played if won is not None]
    plots.draw(axes, Curve("snapshots", points, marker="o", interval=""), color=color, markersize=4)
    own = None if opponent == RULE else found.crossplay.rate(RULE, opponent)
    level = 0.5 if own is None else own.rate
    label = f"{RULE} against itself (by symmetry)" if own is None else f"{RULE} ({own.n} games)"
    axes.axhline(level, color=REFERENCE, linestyle="--", label=label)
    if own is not None:
        axes.axhspan(own.low, own.high, color=REFERENCE, alpha=0.12)
    axes.set_ylim(0, 1)
    title = f"against {opponent}" if opponent in FIXED else f"against {opponent}, the first snapshot"
    plots.label(axes, "", "win rate", title)
    axes.legend(loc="best", fontsize=8)


def _rating(axes: Any, found: Population) -> None:
    rated = {one.name: one for one in found.ratings}
    steps = [(one.steps or 0) / 1000 for one in found.snapshots]
    own = [rated[one.name] for one in found.snapshots]
    bars = [2 * one.sigma for one in own]
    axes.errorbar(steps, [one.mu for one in own], bars, fmt="o-", markersize=4, capsize=2, color="tab:purple")
    for name, style in ((RULE, "--"), (RANDOM, ":")):
        axes.axhline(rated[name].mu, color=REFERENCE, linestyle=style, label=name)
    plots.label(axes, "", "mu", "rating (openskill, Plackett-Luce), ± 2 sigma")
    axes.legend(loc="lower left", bbox_to_anchor=(0.02, 0.08), fontsize=8)  # between the lines, not on them
