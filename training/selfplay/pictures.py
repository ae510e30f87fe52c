"""The pictures of a run: the cross-play matrix as a heat map with numbers, and the curves with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.figure import Figure
from parlour.training.ppo.phase_config import replacing
from parlour.training.selfplay.config import FIXED, RANDOM, RULE
from parlour.training.statistics import Rate

if TYPE_CHECKING:
    from parlour.training.selfplay.run import Population

_COLORS: Final = ("tab:blue", "tab:orange", "tab:green")
_REFERENCE: Final = "0.35"


def crossplay(found: Population, path: Path) -> None:
    """Who wins how often against whom. The heuristic is the first row, set off by a line."""
    played, config = found.crossplay, found.config
    names = [RULE, *(one.name for one in played.members if one.name != RULE)]
    n = len(names)
    rates = np.full((n, n), np.nan)
    half = np.full((n, n), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j and (one := played.rate(a, b)) is not None:
                rates[i, j], half[i, j] = one.rate, (one.high - one.low) / 2
    made = Figure(figsize=(0.72 * n + 3.2, 0.56 * n + 2.4), dpi=120, layout="constrained")
    axes = made.add_subplot()
    image = axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    for i in range(n):
        for j in range(n):
            _cell(axes, i, j, rates[i, j], half[i, j])
    axes.axhline(0.5, color="black", linewidth=1.5)
    axes.axvline(0.5, color="black", linewidth=1.5)
    steps = {one.name: one.steps for one in played.members}
    labels = [name if steps[name] is None else f"{name} ({_thousands(steps[name])})" for name in names]
    axes.set_yticks(range(n), labels)
    axes.set_xticks(range(n), names, rotation=45 if n > 8 else 0)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel("opponent")
    axes.set_ylabel("player (decisions learned from)")
    made.colorbar(image, ax=axes, label="win rate of the row's player")
    made.suptitle(
        f"{config.game}: whole sides on common held-out deals, sides swapped\n"
        f"{2 * config.deals} games a cell ({2 * config.test_deals} among {RULE}, first and last snapshot), "
        "in %, ± half the 95 % interval",
        fontsize=10,
    )
    _save(made, path)


def _cell(axes: Any, row: int, column: int, value: float, half: float) -> None:
    if np.isnan(value):
        axes.text(column, row, "·", ha="center", va="center", color="0.5")
        return
    color = "white" if abs(value - 0.5) > 0.3 else "black"
    axes.text(column, row - 0.12, f"{100 * value:.0f}", ha="center", va="center", fontsize=9.5, color=color)
    axes.text(column, row + 0.25, f"±{100 * half:.0f}", ha="center", va="center", fontsize=6.5, color=color)


def curve(found: Population, path: Path) -> None:
    """Each snapshot against `heuristic`, `random` and the first snapshot, and its rating; dashed: the heuristic."""
    made = Figure(figsize=(10, 7.2), dpi=120, layout="constrained")
    panels = made.subplots(2, 2, sharex=True).flat
    opponents = (RULE, RANDOM, found.first)
    for axes, opponent, color in zip(panels, opponents, _COLORS, strict=False):
        _against(axes, found, opponent, color)
    _rating(panels[3], found)
    for axes in (panels[2], panels[3]):
        axes.set_xlabel("decisions learned from (thousands)")
    config = found.config
    made.suptitle(f"{config.game}, snapshots as whole sides on held-out deals (from both sides), 95 % intervals")
    _save(made, path)


def _against(axes: Any, found: Population, opponent: str, color: str) -> None:
    shown: list[tuple[float, Rate]] = []
    for one in found.snapshots:
        won = None if one.name == opponent else found.crossplay.rate(one.name, opponent)
        if won is not None and one.steps is not None:
            shown.append((one.steps / 1000, won))
    steps = [at for at, _ in shown]
    axes.fill_between(steps, [won.low for _, won in shown], [won.high for _, won in shown], color=color, alpha=0.2)
    axes.plot(steps, [won.rate for _, won in shown], marker="o", markersize=4, color=color, label="snapshots")
    own = None if opponent == RULE else found.crossplay.rate(RULE, opponent)
    level = 0.5 if own is None else own.rate
    label = f"{RULE} against itself (by symmetry)" if own is None else f"{RULE} ({own.n} games)"
    axes.axhline(level, color=_REFERENCE, linestyle="--", label=label)
    if own is not None:
        axes.axhspan(own.low, own.high, color=_REFERENCE, alpha=0.12)
    axes.set_ylim(0, 1)
    axes.set_title(f"against {opponent}" if opponent in FIXED else f"against {opponent}, the first snapshot")
    axes.set_ylabel("win rate")
    axes.grid(alpha=0.3)
    axes.legend(loc="best", fontsize=8)


def _rating(axes: Any, found: Population) -> None:
    rated = {one.name: one for one in found.ratings}
    steps = [(one.steps or 0) / 1000 for one in found.snapshots]
    own = [rated[one.name] for one in found.snapshots]
    bars = [2 * one.sigma for one in own]
    axes.errorbar(steps, [one.mu for one in own], bars, fmt="o-", markersize=4, capsize=2, color="tab:purple")
    for name, style in ((RULE, "--"), (RANDOM, ":")):
        axes.axhline(rated[name].mu, color=_REFERENCE, linestyle=style, label=name)
    axes.set_title("rating (openskill, Plackett-Luce), ± 2 sigma")
    axes.set_ylabel("mu")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left", bbox_to_anchor=(0.02, 0.08), fontsize=8)  # between the lines, not on them


def _thousands(steps: int | None) -> str:
    return f"{(steps or 0) / 1000:.0f}k"


def _save(made: Figure, path: Path) -> None:
    with replacing(path) as new:
        made.savefig(new)
