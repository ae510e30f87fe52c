"""What a run of the tuner looks like: the curve of its trials or steps, and the response surface with its noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.training.learn.tuning.online import OnlineResult, moving
from parlour.training.learn.tuning.problem import Problem
from parlour.training.learn.tuning.space import Parameter, Parameters, Space
from parlour.training.learn.tuning.surface import SurfacePoint
from parlour.training.learn.tuning.trials import Trial
from parlour.training.measure.statistics import MeanEstimate
from parlour.training.results import plots

WINDOW: Final = 100  # steps of a moving mean
_DARK: Final = 0.6  # of the largest difference: above it numbers are white


def played_by(problem: Problem) -> str:
    """Who played for the rewards, for a caption."""
    told = ", ".join(f"{key} {value}" for key, value in problem.settings.items() if isinstance(value, bool | int | str))
    games = "one game" if problem.games == 1 else f"{problem.games} games"
    return f"{problem.name}, {games} a deal" + (f" ({told})" if told else "")


def trials(found: Sequence[tuple[Trial, MeanEstimate]], chosen: int, path: Path, who: str) -> None:
    """Each trial's paired difference to the defaults with its interval."""
    with plots.picture(
        path,
        9,
        4.5,
        title="Trials on common deals: paired difference to the defaults, 95 % intervals",
        who=who,
        n=f"n = {plots.range_of([difference.n for _, difference in found])} deals a trial",
    ) as made:
        axes = made.add_subplot()
        axes.axhline(0, color="0.5", linewidth=0.8)
        for complete, label, color, mark in (
            (True, "all deals", plots.OWN, "o"),
            (False, "given up", "0.6", "x"),
        ):
            shown = {trial.number: d for trial, d in found if trial.complete == complete}
            if shown:
                style: dict[str, Any] = {"fmt": mark, "color": color, "label": f"{label} ({len(shown)})"}
                plots.points(axes, list(shown), [_ends(one) for one in shown.values()], **style)
        complete_ones = [(trial.number, d.mean) for trial, d in found if trial.complete]
        numbers, means = zip(*complete_ones, strict=True)
        best = np.maximum.accumulate(means)
        axes.step(numbers, best, where="post", color=plots.ORANGE, label="best so far, all deals")
        axes.axvline(chosen, color=plots.VERMILION, linestyle=":", label=f"chosen: trial {chosen}")
        plots.whole(axes.xaxis)
        axes.set_xlim(-0.5, max(trial.number for trial, _ in found) + 0.5)
        plots.label(axes, "trial (0: the defaults)", "reward less that of the defaults, per deal")
        plots.key(made)


def _ends(found: MeanEstimate) -> plots.Estimated:
    return found.mean, found.low, found.high


def steps(learned: OnlineResult, space: Space, path: Path, who: str) -> None:
    """Moving mean of the rewards, and the way of each parameter."""
    panels = 1 + len(space.parameters)
    with plots.picture(
        path,
        8,
        2.2 * panels,
        title="Learning by SPSA: rewards, and the way of each parameter",
        who=who,
        n=f"n = {len(learned.learning):,} steps of two episodes on one deal",
    ) as made:
        shown = made.subplots(panels, 1, sharex=True)
        numbers = range(1, len(learned.learning) + 1)
        shown[0].plot(numbers, moving(learned.learning, WINDOW), color=plots.OWN, label="way")
        plots.label(shown[0], "", f"reward a deal, mean of\nthe last {WINDOW} steps")
        way = [space.bounded(step.point) for step in learned.learning]
        for axes, parameter in zip(shown[1:], space.parameters, strict=True):
            values = [parameter.default, *(values[parameter.name] for values in way)]
            axes.plot(range(len(values)), values, color=plots.OWN, linewidth=1, label="way")
            axes.axhline(parameter.default, color="0.5", linestyle="--", linewidth=1, label="default")
            axes.axhline(learned.parameters[parameter.name], color=plots.VERMILION, linestyle=":", label="result")
            plots.label(axes, "", parameter.name)
            axes.set_ylim(parameter.low, parameter.high)
        shown[-1].set_xlabel("step (two episodes on one deal)")
        plots.whole(shown[-1].xaxis)
        shown[-1].set_xlim(0, len(learned.learning))
        plots.key(made)


def draw_surface(measured: Sequence[SurfacePoint], space: Space, trained: Parameters, path: Path, who: str) -> None:
    """The response surface: a map whose cells hold the paired differences to the defaults, and the same with noise bars."""
    others = ", ".join(f"{p.name} = {p.default:g}" for p in space.parameters[2:])
    one = len(space.parameters) == 1
    x, *more = space.parameters
    xs = sorted({cell.parameters[x.name] for cell in measured})
    ys = sorted({cell.parameters[more[0].name] for cell in measured}) if more else []
    with plots.picture(
        path,
        7 if one else 1.15 * len(xs) + 1.35 * len(ys) + 4.5,
        4 if one else 0.85 * len(ys) + 2.2,
        title="Reward less that of the defaults, per deal" + (f"; {others}" if others else ""),
        who=who,
        n=f"n = {plots.range_of([cell.against.n for cell in measured])} common deals a {'point' if one else 'cell'}",
    ) as made:
        if one:
            _line(made, measured, space, trained)
        else:
            _map(made, measured, space, trained, (xs, ys))


def _map(
    made: Any,
    measured: Sequence[SurfacePoint],
    space: Space,
    trained: Parameters,
    values_of: tuple[list[float], list[float]],
) -> None:
    x, y = space.parameters[:2]
    xs, ys = values_of
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
    plots.label(left, x.name, y.name, "[95 % interval]; bold: it leaves out zero", grid="")
    plots.key(left)
    made.colorbar(image, ax=left, label="difference (blue: better than the defaults)")
    _bars(right, found, (x, xs), (y, ys))


def _cell(axes: Any, column: int, row: int, found: MeanEstimate, most: float) -> None:
    ends = "" if found.low is None or found.high is None else f"[{found.low:+.2f}, {found.high:+.2f}]"
    dark, weight = abs(found.mean) > _DARK * most, "bold" if found.clear else "normal"
    plots.number(axes, column, row + 0.27, f"{found.mean:+.3f}", dark=dark, fontsize=8.5, fontweight=weight)
    plots.number(axes, column, row - 0.33, ends, dark=dark, fontsize=6.5)


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
        style: dict[str, Any] = {
            "color": _shade(k / max(1, len(x[1]) - 1)),
            "markersize": 4,
            "label": f"{x[0].name} = {a:.3g}",
        }
        plots.points(axes, at, [_ends(found[a, b]) for b in y[1]], **style)
    for row in range(1, len(y[1])):
        axes.axvline(row - 0.5, color="0.85", linewidth=0.8)
    axes.set_xlim(-0.5, len(y[1]) - 0.5)
    axes.set_xticks(range(len(y[1])), [f"{value:.3g}" for value in y[1]])
    plots.label(axes, y[0].name, "difference, interval at 95 %", "the same with noise bars", grid="y")
    plots.key(axes)


def _shade(share: float) -> tuple[float, ...]:
    """From amber to dark blue, told apart in grey as well."""
    return tuple(a + share * (b - a) for a, b in zip((0.93, 0.65, 0.2), (0.1, 0.1, 0.45), strict=True))


def _between(values: Sequence[float], value: float, axis: Parameter) -> float:
    """Where a value lies on an axis whose ticks are the numbers of the values."""
    places = [axis.place(one) for one in values]
    return float(np.interp(axis.place(value), places, range(len(values))))


def _line(made: Any, measured: Sequence[SurfacePoint], space: Space, trained: Parameters) -> None:
    axes, (x,) = made.add_subplot(), space.parameters
    at, found = [cell.parameters[x.name] for cell in measured], [_ends(cell.against) for cell in measured]
    axes.axhline(0, color="0.5", linewidth=0.8)
    plots.points(axes, at, found, fmt="o-", color=plots.OWN, label=plots.INTERVAL)
    axes.axvline(x.default, color="0.4", linestyle="--", label="default")
    axes.axvline(trained[x.name], color=plots.VERMILION, linestyle=":", label="trained")
    if x.log:
        from matplotlib.ticker import LogFormatter

        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(LogFormatter())
        axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))
    plots.label(axes, x.name, "reward less that of the default, per deal")
    plots.key(made)
