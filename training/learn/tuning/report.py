"""The report of a run of the tuner: report.md, summary.json, the curve of its trials, and the response surface with its noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from parlour.training.learn.tuning.problem import Parameter, Parameters, Problem, Space, TuneConfig, show
from parlour.training.learn.tuning.study import Trial, ranked
from parlour.training.measure.statistics import Estimate, plain, show_interval
from parlour.training.results import plots
from parlour.training.results.pages.report import opening
from parlour.training.results.result_table import markdown_table
from parlour.training.results.verdicts import REWARD, compared, together


@dataclass(frozen=True)
class SurfacePoint:
    """One point of the grid."""

    parameters: dict[str, float]
    """All of them; those that are not on an axis have their defaults."""
    against: Estimate
    """Reward with these parameters less reward with the defaults, per deal."""


@dataclass(frozen=True)
class Tuned:
    """The result of a run."""

    problem: Problem
    config: TuneConfig
    parameters: dict[str, float]
    """The trained ones."""
    trials: tuple[Trial, ...]
    finals: Mapping[str, tuple[float, ...]]
    """Arm (`trial 7`) -> rewards on training and final deals together; empty if there were no finals."""
    rival: dict[str, float] | None
    """If the defaults were the best, what came next; it is tested in their place."""
    test: Estimate
    """Trained (or the rival's) less default parameters on held-out deals."""
    means: dict[str, float]
    """Mean reward there of `defaults` and `trained`, or of `runner-up`."""
    surface: tuple[SurfacePoint, ...]
    drawn: bool
    """Whether the pictures were drawn: that needs matplotlib, of the extra `train`."""

    @property
    def same(self) -> bool:
        """Whether the trained parameters are the defaults."""
        return dict(self.parameters) == self.problem.space.defaults


def verdict(tuned: Tuned) -> str:
    """What the held-out deals say; a difference that may be none is called that."""
    scale = REWARD.of("held-out deals")
    if tuned.same:
        verdict = "Nothing beat the default parameters in training, so the trained ones are the defaults."
        if tuned.rival is None:
            return verdict
        return together([verdict, compared(f"the runner-up ({show(tuned.rival)})", "the defaults", tuned.test, scale)])
    return compared("the trained parameter set", "the default one", tuned.test, scale)


def between(estimate: Estimate) -> str:
    """A difference with its interval and p.

    >>> between(Estimate(0.5, 0.25, 0.75, 9, 0.01))
    '+0.5000 a deal, interval at 95 % [+0.2500, +0.7500], p = 0.01'
    """
    return f"{estimate.value:+.4f} a deal, interval at 95 % {show_interval(estimate, '+.4f')}" + (
        "" if estimate.p is None else f", p = {estimate.p:.2g}"
    )


def summary(tuned: Tuned) -> dict[str, Any]:
    """Plain values."""
    config, problem = tuned.config, tuned.problem
    stored: dict[str, Any] = {
        "problem": problem.name,
        "settings": dict(problem.settings),
        "method": config.method,
        "seed": config.seed,
        "defaults": problem.space.defaults,
        "trained": dict(tuned.parameters),
        "runner_up": tuned.rival,
        "games_per_deal": problem.games,
        "held_out": {"means": tuned.means, "difference": plain(tuned.test), "clear": tuned.test.clear},
        "surface": [{"parameters": cell.parameters, "difference": plain(cell.against)} for cell in tuned.surface],
        "verdict": verdict(tuned),
    }
    complete = ranked(tuned.trials)
    stored["trials"] = {
        "complete": len(complete),
        "given_up": len(tuned.trials) - len(complete),
        "deals": sum(len(trial.rewards) for trial in tuned.trials),
        "best_in_training": {"trial": complete[0].number, "mean": complete[0].mean},
    }
    stored["finals"] = {arm: {"deals": len(played), "mean": fmean(played)} for arm, played in tuned.finals.items()}
    return stored


def text(tuned: Tuned) -> str:
    """The report, in Markdown."""
    problem = tuned.problem
    lines = [
        *opening(f"Tuning {problem.name}", verdict(tuned), *(["![curve](curve.png)"] if tuned.drawn else [])),
        f"Games per deal: {problem.games}; a deal is one case of every interval. Settings: "
        + (", ".join(f"{name} = {value}" for name, value in problem.settings.items()) or "none")
        + ".",
        "",
        markdown_table(
            ("parameter", "from", "to", "default", "trained"),
            [
                (p.name, f"{p.low:g}", f"{p.high:g}", f"{p.default:g}", f"{tuned.parameters[p.name]:.4g}")
                for p in problem.space.parameters
            ],
        ),
        "",
        "## Held-out deals",
        "",
        markdown_table(("parameters", "mean reward"), [(name, f"{x:.4f}") for name, x in tuned.means.items()]),
        "",
        f"{'Runner-up' if tuned.same else 'Trained'} less default: {between(tuned.test)}.",
        "",
        "## Training",
        "",
        *_trials(tuned),
        "",
        "## Response surface",
        "",
        *_surface(tuned),
    ]
    return "\n".join(lines) + "\n"


def _trials(tuned: Tuned) -> list[str]:
    complete, config = ranked(tuned.trials), tuned.config
    lines = [
        f"{len(tuned.trials)} trials on the same {config.deals} deals, {len(tuned.trials) - len(complete)} of them "
        f"given up early (pruner: {config.pruner}). Rewards are functions of parameters and deals. One process "
        "always gives the same trials; with several, which parameters are tried and which are given up "
        "depends on who was faster.",
        "",
        f"Best in training: trial {complete[0].number}, mean {complete[0].mean:.4f} ({show(complete[0].parameters)}); "
        f"the defaults (trial 0): {next(t.mean for t in tuned.trials if t.number == 0):.4f}.",
    ]
    if tuned.finals:
        by_number = {f"trial {trial.number}": trial for trial in complete}
        finals = [(by_number[arm], values) for arm, values in tuned.finals.items()]
        lines += [
            "",
            f"The best {config.finalists} and the defaults played {config.deals} more deals each; the highest mean of all "
            "deals was chosen:",
            "",
            markdown_table(
                ("trial", "parameters", "deals", "mean"),
                [(str(t.number), show(t.parameters), str(len(values)), f"{fmean(values):.4f}") for t, values in finals],
            ),
        ]
    return lines


def _surface(tuned: Tuned) -> list[str]:
    measured = tuned.surface
    clear = [cell for cell in measured if cell.against.clear]
    rows = [
        (show(cell.parameters), *("-" if x is None else f"{x:+.4f}" for x in cell.against.with_ends))
        for cell in measured
    ]
    return [
        f"{len(measured)} cells, {measured[0].against.n} common deals each; every number is the paired difference to "
        f"the defaults with its own interval at 95 %. {len(clear)} of {len(measured)} intervals leave out zero; about "
        f"{0.05 * len(measured):.0f} would by chance alone if all cells were equal.",
        "",
        "![surface](surface.png)" if tuned.drawn else "No picture: matplotlib is not installed.",
        "",
        markdown_table(("parameters", "difference", "low", "high"), rows),
    ]


_DARK: Final = 0.6  # of the largest difference: above it numbers are white


def played_by(problem: Problem) -> str:
    """Who played for the rewards, for a caption."""
    flags = ", ".join(
        f"{key} {value}" for key, value in problem.settings.items() if isinstance(value, bool | int | str)
    )
    games = "one game" if problem.games == 1 else f"{problem.games} games"
    return f"{problem.name}, {games} a deal" + (f" ({flags})" if flags else "")


def draw_trials(trials: Sequence[tuple[Trial, Estimate]], chosen: int, path: Path, who: str) -> None:
    """Each trial's paired difference to the defaults with its interval."""
    with plots.picture(
        path,
        9,
        4.5,
        title="Trials on common deals: paired difference to the defaults, 95 % intervals",
        who=who,
        n=f"n = {plots.range_of([difference.n for _, difference in trials])} deals a trial",
    ) as made:
        axes = made.add_subplot()
        axes.axhline(0, color="0.5", linewidth=0.8)
        for complete, label, color, mark in (
            (True, "all deals", plots.OWN, "o"),
            (False, "given up", "0.6", "x"),
        ):
            shown = {trial.number: d for trial, d in trials if trial.complete == complete}
            if shown:
                differences, label = [difference.with_ends for difference in shown.values()], f"{label} ({len(shown)})"
                plots.points(axes, list(shown), differences, fmt=mark, color=color, label=label)
        complete_ones = [(trial.number, d.value) for trial, d in trials if trial.complete]
        numbers, means = zip(*complete_ones, strict=True)
        best = np.maximum.accumulate(means)
        axes.step(numbers, best, where="post", color=plots.ORANGE, label="best so far, all deals")
        axes.axvline(chosen, color=plots.VERMILION, linestyle=":", label=f"chosen: trial {chosen}")
        plots.whole(axes.xaxis)
        axes.set_xlim(-0.5, max(trial.number for trial, _ in trials) + 0.5)
        plots.label(axes, "trial (0: the defaults)", "reward minus the defaults', per deal")
        plots.key(made)


def draw_surface(measured: Sequence[SurfacePoint], space: Space, trained: Parameters, path: Path, who: str) -> None:
    """The response surface: a map whose cells hold the paired differences to the defaults, and the same with noise bars."""
    others = ", ".join(f"{p.name} = {p.default:g}" for p in space.parameters[2:])
    single = len(space.parameters) == 1
    x, *more = space.parameters
    xs = sorted({cell.parameters[x.name] for cell in measured})
    ys = sorted({cell.parameters[more[0].name] for cell in measured}) if more else []
    with plots.picture(
        path,
        7 if single else 1.15 * len(xs) + 1.35 * len(ys) + 4.5,
        4 if single else 0.85 * len(ys) + 2.2,
        title="Reward minus the defaults', per deal" + (f"; {others}" if others else ""),
        who=who,
        n=f"n = {plots.range_of([cell.against.n for cell in measured])} common deals a {'point' if single else 'cell'}",
    ) as made:
        if single:
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
    gains = {(cell.parameters[x.name], cell.parameters[y.name]): cell.against for cell in measured}
    means = np.array([[gains[a, b].value for a in xs] for b in ys])
    most = float(np.abs(means).max()) or 1.0
    image = left.imshow(means, cmap="RdBu", vmin=-most, vmax=most, origin="lower", aspect="auto")
    for row, b in enumerate(ys):
        for column, a in enumerate(xs):
            _cell(left, column, row, gains[a, b], most)
    for values, mark, size, color, label in (
        (space.defaults, "o", 11, "none", "defaults"),
        (trained, "*", 15, "gold", "trained"),
    ):
        at = [np.interp(values[axis.name], of, range(len(of))) for axis, of in ((x, xs), (y, ys))]
        left.plot(*at, mark, markersize=size, markerfacecolor=color, markeredgecolor="black", zorder=5, label=label)
    plots.numbers(left, [f"{value:.3g}" for value in xs], [f"{value:.3g}" for value in ys])
    plots.label(left, x.name, y.name, "[95 % interval]; bold: it leaves out zero", grid="")
    plots.key(left)
    made.colorbar(image, ax=left, label="difference (blue: better than the defaults)")
    _bars(right, gains, (x, xs), (y, ys))


def _cell(axes: Any, column: int, row: int, estimate: Estimate, most: float) -> None:
    ends = "" if estimate.low is None or estimate.high is None else f"[{estimate.low:+.2f}, {estimate.high:+.2f}]"
    dark, weight = abs(estimate.value) > _DARK * most, "bold" if estimate.clear else "normal"
    plots.number(axes, column, row + 0.27, f"{estimate.value:+.3f}", dark=dark, fontsize=8.5, fontweight=weight)
    plots.number(axes, column, row - 0.33, ends, dark=dark, fontsize=6.5)


def _bars(
    axes: Any,
    gains: Mapping[tuple[float, float], Estimate],
    x: tuple[Parameter, Sequence[float]],
    y: tuple[Parameter, Sequence[float]],
) -> None:
    """One line for each value of x, over the values of y side by side, with the interval of every point."""
    axes.axhline(0, color="0.4", linewidth=0.8)
    width = 0.7 / len(x[1])
    for k, a in enumerate(x[1]):
        at = [row + (k - (len(x[1]) - 1) / 2) * width for row in range(len(y[1]))]
        share = k / max(1, len(x[1]) - 1)  # from amber to dark blue, told apart in grey as well
        colour = tuple(
            first + share * (last - first) for first, last in zip((0.93, 0.65, 0.2), (0.1, 0.1, 0.45), strict=True)
        )
        label = f"{x[0].name} = {a:.3g}"
        plots.points(axes, at, [gains[a, b].with_ends for b in y[1]], color=colour, markersize=4, label=label)
    for row in range(1, len(y[1])):
        axes.axvline(row - 0.5, color="0.85", linewidth=0.8)
    axes.set_xlim(-0.5, len(y[1]) - 0.5)
    axes.set_xticks(range(len(y[1])), [f"{value:.3g}" for value in y[1]])
    plots.label(axes, y[0].name, "difference, interval at 95 %", "the same with noise bars", grid="y")
    plots.key(axes)


def _line(made: Any, measured: Sequence[SurfacePoint], space: Space, trained: Parameters) -> None:
    axes, (x,) = made.add_subplot(), space.parameters
    at, gains = [cell.parameters[x.name] for cell in measured], [cell.against.with_ends for cell in measured]
    axes.axhline(0, color="0.5", linewidth=0.8)
    plots.points(axes, at, gains, fmt="o-", color=plots.OWN, label=plots.INTERVAL)
    axes.axvline(x.default, color="0.4", linestyle="--", label="default")
    axes.axvline(trained[x.name], color=plots.VERMILION, linestyle=":", label="trained")
    plots.label(axes, x.name, "reward minus the default's, per deal")
    plots.key(made)
