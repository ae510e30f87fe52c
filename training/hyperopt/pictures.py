"""What a run of the tuner looks like: the curve of its trials or steps, and the response surface with its noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.training import plots
from parlour.training.hyperopt.online import OnlineResult, moving
from parlour.training.hyperopt.space import Parameter, Parameters, Space
from parlour.training.hyperopt.surface import SurfacePoint
from parlour.training.hyperopt.trials import Trial
from parlour.training.statistics import MeanEstimate

WINDOW: Final = 100  # steps of a moving mean
_DARK: Final = 0.6  # of the largest difference: above it numbers are white


def trials(found: Sequence[tuple[Trial, MeanEstimate]], chosen: int, path: Path) -> None:
    """Each trial's paired difference to the defaults with its interval."""
    made = plots.figure(9, 4.5)
    axes = made.add_subplot()
    axes.axhline(0, color="0.5", linewidth=0.8)
    for complete, label, color, mark in (
        (True, "all deals", "tab:blue", "o"),
        (False, "given up", "0.6", "x"),
    ):
        shown = {trial.number: d for trial, d in found if trial.complete == complete}
        if shown:
            style = {"fmt": mark, "color": color, "markersize": 5, "elinewidth": 1, "capsize": 2}
            _errors(axes, list(shown), list(shown.values()), label=f"{label} ({len(shown)})", **style)
    complete_ones = [(trial.number, d.mean) for trial, d in found if trial.complete]
    numbers, means = zip(*complete_ones, strict=True)
    axes.step(numbers, np.maximum.accumulate(means), where="post", color="tab:orange", label="best so far, all deals")
    axes.axvline(chosen, color="tab:red", linestyle=":", label="chosen")
    axes.xaxis.get_major_locator().set_params(integer=True)
    title = "Trials on common deals, interval at 95 % of each paired difference"
    plots.label(axes, "trial (0: the defaults)", "reward less that of the defaults, per deal", title)
    made.legend(loc="outside lower center", ncols=4)
    plots.save(made, path)


def _errors(axes: Any, at: Sequence[float], found: Sequence[MeanEstimate], **how: Any) -> None:
    """Means with their intervals."""
    below = [0.0 if one.low is None else one.mean - one.low for one in found]
    bars = [below, [0.0 if one.high is None else one.high - one.mean for one in found]]
    axes.errorbar(at, [one.mean for one in found], bars, **how)


def steps(learned: OnlineResult, space: Space, path: Path) -> None:
    """Moving mean of the rewards, and the way of each parameter."""
    panels = 1 + len(space.parameters)
    made = plots.figure(8, 2.2 * panels)
    shown = made.subplots(panels, 1, sharex=True)
    numbers = range(1, len(learned.learning) + 1)
    shown[0].plot(numbers, moving(learned.learning, WINDOW), color="tab:blue")
    plots.label(shown[0], "", f"reward, mean of\nthe last {WINDOW} steps", "SPSA")
    way = [space.bounded(step.point) for step in learned.learning]
    for axes, parameter in zip(shown[1:], space.parameters, strict=True):
        axes.plot(numbers, [values[parameter.name] for values in way], color="tab:blue", linewidth=1, label="way")
        axes.axhline(parameter.default, color="0.5", linestyle="--", linewidth=1, label="default")
        axes.axhline(learned.parameters[parameter.name], color="tab:red", linestyle=":", label="result")
        plots.label(axes, "", parameter.name)
        axes.set_ylim(parameter.low, parameter.high)
    shown[-1].set_xlabel("step (two episodes on one deal)")
    shown[1].legend(loc="upper right", fontsize=8)
    plots.save(made, path)


def draw_surface(measured: Sequence[SurfacePoint], space: Space, trained: Parameters, path: Path) -> None:
    """The response surface: a map whose cells hold the paired differences to the defaults, and the same with noise bars."""
    plots.save(_line(measured, space, trained) if len(space.parameters) == 1 else _map(measured, space, trained), path)


def _map(measured: Sequence[SurfacePoint], space: Space, trained: Parameters) -> Any:
    x, y = space.parameters[:2]
    xs, ys = (sorted({cell.parameters[axis.name] for cell in measured}) for axis in (x, y))
    made = plots.figure(1.15 * len(xs) + 1.35 * len(ys) + 4.5, 0.85 * len(ys) + 2.2)
    left, right = made.subplots(1, 2, width_ratios=(1.15 * len(xs) + 1, 1.35 * len(ys) + 1))
    found = {(cell.parameters[x.name], cell.parameters[y.name]): cell.against for cell in measured}
    means = np.array([[found[a, b].mean for a in xs] for b in ys])
    most = float(np.abs(means).max()) or 1.0
    image = left.imshow(means, cmap="RdBu", vmin=-most, vmax=most, origin="lower", aspect="auto")
    for row, b in enumerate(ys):
        for column, a in enumerate(xs):
            _cell(left, column, row, found[a, b], most)
    for values, mark, size, color, label in (
        (space.defaults, "o", 11, "none", "defaults"),
        (trained, "*", 15, "gold", "trained"),
    ):
        at = _between(xs, values[x.name], x), _between(ys, values[y.name], y)
        left.plot(*at, mark, markersize=size, markerfacecolor=color, markeredgecolor="black", zorder=5, label=label)
    plots.numbers(left, [f"{value:.3g}" for value in xs], [f"{value:.3g}" for value in ys])
    title = "± half the 95 % interval; bold: it leaves out zero"
    plots.label(left, x.name, y.name, title, grid="", small=True)
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=9)
    made.colorbar(image, ax=left, label="difference (blue: better than the defaults)")
    _bars(right, found, (x, xs), (y, ys))
    others = ", ".join(f"{p.name} = {p.default:g}" for p in space.parameters[2:])
    made.suptitle(
        f"Reward less that of the defaults, per deal; {measured[0].against.n} common deals a cell"
        + (f"; {others}" if others else ""),
        fontsize=11,
    )
    return made


def _cell(axes: Any, column: int, row: int, found: MeanEstimate, most: float) -> None:
    half = "" if found.low is None else f"\n±{found.mean - found.low:.3f}"
    how = {"fontsize": 8.5, "fontweight": "bold" if found.clear else "normal"}
    plots.number(axes, column, row + 0.2, f"{found.mean:+.3f}{half}", dark=abs(found.mean) > _DARK * most, **how)


def _bars(
    axes: Any,
    found: Mapping[tuple[float, float], MeanEstimate],
    x: tuple[Parameter, Sequence[float]],
    y: tuple[Parameter, Sequence[float]],
) -> None:
    """One line for each value of x, over the values of y side by side, with the interval of every point."""
    axes.axhline(0, color="0.4", linewidth=0.8)
    width = 0.7 / len(x[1])
    for k, a in enumerate(x[1]):
        at = [row + (k - (len(x[1]) - 1) / 2) * width for row in range(len(y[1]))]
        style = {"fmt": "o", "color": _shade(k / max(1, len(x[1]) - 1)), "markersize": 4, "capsize": 2}
        _errors(axes, at, [found[a, b] for b in y[1]], label=f"{x[0].name} = {a:.3g}", **style)
    for row in range(1, len(y[1])):
        axes.axvline(row - 0.5, color="0.85", linewidth=0.8)
    axes.set_xlim(-0.5, len(y[1]) - 0.5)
    axes.set_xticks(range(len(y[1])), [f"{value:.3g}" for value in y[1]])
    plots.label(axes, y[0].name, "difference, interval at 95 %", "the same with noise bars", grid="y", small=True)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, fontsize=9)


def _shade(share: float) -> tuple[float, ...]:
    """From amber to dark blue, told apart in grey as well."""
    return tuple(a + share * (b - a) for a, b in zip((0.93, 0.65, 0.2), (0.1, 0.1, 0.45), strict=True))


def _between(values: Sequence[float], value: float, axis: Parameter) -> float:
    """Where a value lies on an axis whose ticks are the numbers of the values."""
    places = [axis.place(one) for one in values]
    return float(np.interp(axis.place(value), places, range(len(values))))


def _line(measured: Sequence[SurfacePoint], space: Space, trained: Parameters) -> Any:
    made = plots.figure(7, 4)
    axes, (x,) = made.add_subplot(), space.parameters
    at, found = [cell.parameters[x.name] for cell in measured], [cell.against for cell in measured]
    axes.axhline(0, color="0.5", linewidth=0.8)
    _errors(axes, at, found, fmt="o-", capsize=4, label="interval at 95 %")
    axes.axvline(x.default, color="0.4", linestyle="--", label="default")
    axes.axvline(trained[x.name], color="tab:red", linestyle=":", label="trained")
    if x.log:
        axes.set_xscale("log")
    plots.label(axes, x.name, "reward less that of the default, per deal", f"{found[0].n} common deals a point")
    axes.legend()
    return made
