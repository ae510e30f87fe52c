"""The pictures of a run: the cross-play matrix as a heat map with numbers, and the curves with their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.training.learn.selfplay.config import FIXED, RANDOM, RULE
from parlour.training.learn.selfplay.report import Population
from parlour.training.measure.statistics import Estimate
from parlour.training.results import plots
from parlour.training.results.plots import Curve, CurvePoint

_SNAPSHOTS: Final = "snapshots"
_STEPS: Final = "decisions learned from"


def crossplay(population: Population, path: Path) -> None:
    """Win rates of each pair of players. The heuristic is the first row, set off by a line."""
    played = population.crossplay
    names = [RULE, *(member.name for member in played.members if member.name != RULE)]
    n = len(names)
    met = [rate for a in names for b in names if a != b and (rate := played.rate(a, b)) is not None]
    with plots.picture(
        path,
        0.8 * n + 3.2,
        0.58 * n + 1.6,
        title="Cross-play: games won by the row's player, % [95 % interval]",
        who=f"{population.config.game}; whole sides on common held-out deals, sides swapped; {_snapshots(population)}",
        n=f"n = {plots.range_of([rate.n for rate in met])} games a cell",
    ) as made:
        _matrix(made, population, names)


def _matrix(made: Any, population: Population, names: list[str]) -> None:
    axes, n = made.add_subplot(), len(names)
    rates = np.full((n, n), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j and (rate := population.crossplay.rate(a, b)) is not None:
                rates[i, j] = rate.value
                plots.percent(axes, j, i, rate.value, *rate.ends)
            else:
                axes.text(j, i, "·", ha="center", va="center", color="0.5")
    image = axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    axes.axhline(0.5, color="black", linewidth=1.5)
    axes.axvline(0.5, color="black", linewidth=1.5)
    steps = {member.name: member.steps for member in population.crossplay.members}
    labels = [name if steps[name] is None else f"{name} ({(steps[name] or 0) / 1000:,.0f}k)" for name in names]
    plots.numbers(axes, labels, labels)
    for rate in axes.get_xticklabels():
        rate.set(rotation=45 if n > 8 else 0, ha="left" if n > 8 else "center")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.xaxis.labelpad = 8
    plots.label(axes, "opponent", f"player ({_STEPS})", grid="")
    made.colorbar(image, ax=axes, label="win rate of the row's player")


def _snapshots(population: Population) -> str:
    """What the names of the members mean."""
    others = [
        member.name for member in population.crossplay.members if member.name not in FIXED and member.steps is None
    ]
    named = f", {', '.join(others)}" if others else ""
    return f"{RULE}, {RANDOM}{named}, and snapshots s000 and later of the network that learned"


def curve(population: Population, path: Path) -> None:
    """Each snapshot against `heuristic`, `random` and the first snapshot, and its rating; dashed: the heuristic."""
    played = population.crossplay
    opponents = (RULE, RANDOM, population.first)
    met = [
        played.rate(snapshot.name, other)
        for snapshot in population.snapshots
        for other in opponents
        if snapshot.name != other
    ]
    with plots.picture(
        path,
        10,
        7.2,
        title="Snapshots of the network, from its first to its last",
        who=f"{population.config.game}; whole sides on held-out deals, from both sides; bands: 95 % intervals",
        n=f"n = {plots.range_of([rate.n for rate in met if rate is not None])} games a point",
    ) as made:
        panels = made.subplots(2, 2, sharex=True).flat
        for axes, opponent in zip(panels, opponents, strict=False):
            _against(axes, population, opponent)
        _rating(panels[3], population)
        for axes in (panels[2], panels[3]):
            axes.set_xlabel(_STEPS)
        plots.whole(panels[3].xaxis)
        plots.key(made)


def _against(axes: Any, population: Population, opponent: str) -> None:
    met = [snapshot for snapshot in population.snapshots if snapshot.name != opponent]
    played = [(snapshot.steps or 0, population.crossplay.rate(snapshot.name, opponent)) for snapshot in met]
    points = [CurvePoint(at, won.value, won.low, won.high) for at, won in played if won is not None]
    plots.draw(axes, Curve(_SNAPSHOTS, points, marker="o", interval=""), color=plots.OWN, markersize=4)
    for name, style in ((RULE, "--"), (RANDOM, ":")):
        if name == opponent:
            plots.level(axes, name, (0.5, None, None), style)  # against itself: one half, by symmetry
        elif (own := population.crossplay.rate(name, opponent)) is not None:
            plots.level(axes, name, _interval(own), style)
    axes.set_ylim(-0.02, 1.02)
    title = f"against {opponent}" if opponent in FIXED else f"against {opponent}, the first snapshot"
    plots.label(axes, "", "share of games won", title)


def _interval(estimate: Estimate) -> plots.Estimated:
    return estimate.value, estimate.low, estimate.high


def _rating(axes: Any, population: Population) -> None:
    rated = {rating.name: rating for rating in population.ratings}
    own = [rated[snapshot.name] for snapshot in population.snapshots]
    ratings = [(snapshot.mu, snapshot.mu - 2 * snapshot.sigma, snapshot.mu + 2 * snapshot.sigma) for snapshot in own]
    steps = [snapshot.steps or 0 for snapshot in population.snapshots]
    plots.points(axes, steps, ratings, fmt="o-", markersize=4, color=plots.OWN)
    for name, style in ((RULE, "--"), (RANDOM, ":")):
        plots.level(axes, name, (rated[name].mu, None, None), style)
    plots.label(axes, "", "mu (points)", "rating (openskill, Plackett-Luce), bars: 2 sigma each way")
