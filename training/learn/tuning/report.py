"""The result of a run of the tuner, and its report: parameters, held-out deals, finals, and the curve of its trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from parlour.envs.common.plain import plain
from parlour.training.learn.tuning.problem import Problem, TuneConfig, show
from parlour.training.learn.tuning.study import Trial, against_defaults, ranked
from parlour.training.report import plots
from parlour.training.report.report import Part, Picture, Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import REWARD, WIN_RATE, together
from parlour.training.statistics import Estimate


@dataclass(frozen=True)
class Tuned:
    """The result of a run."""

    problem: Problem
    config: TuneConfig
    chosen: Trial
    """The one with the trained parameters."""
    trials: tuple[Trial, ...]
    finals: Mapping[str, tuple[float, ...]]
    """Arm (`trial 7`) -> rewards on training and final deals together; empty if there were no finals."""
    rival: dict[str, float] | None
    """If the defaults were the best, what came next; it is tested in their place."""
    test: Estimate
    """Trained (or the rival's) less default parameters on held-out deals."""
    means: dict[str, float]
    """Mean reward there of `defaults` and `trained`, or of `runner-up`."""

    @property
    def parameters(self) -> dict[str, float]:
        """The trained ones."""
        return self.chosen.parameters

    @property
    def same(self) -> bool:
        """Whether the trained parameters are the defaults."""
        return self.parameters == self.problem.space.defaults


def arm_of(trial: Trial) -> str:
    """What a trial is called in `Tuned.finals`."""
    return f"trial {trial.number}"


def verdict(tuned: Tuned) -> str:
    """What the held-out deals say; a difference that may be none is called that."""
    scale = (WIN_RATE if tuned.problem.settings.get("reward") == "win" else REWARD).of("held-out deals")
    if tuned.same:
        verdict = "Nothing beat the default parameters in training, so the trained ones are the defaults."
        if tuned.rival is None:
            return verdict
        return together([verdict, scale.compared(f"the runner-up ({show(tuned.rival)})", "the defaults", tuned.test)])
    return scale.compared("the trained parameter set", "the default one", tuned.test)


def between(estimate: Estimate) -> str:
    """A difference with its interval and p.

    >>> between(Estimate(0.5, 0.25, 0.75, 9, 0.01))
    '+0.5000 a deal, interval at 95 % [+0.2500, +0.7500], p = 0.01'
    """
    return f"{estimate.value:+.4f} a deal, interval at 95 % {estimate.interval('+.4f')}" + (
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


def report(tuned: Tuned) -> Report:
    """The parameters and what they earned on held-out deals; with the training behind them."""
    problem = tuned.problem
    settings = ", ".join(f"{name} = {value}" for name, value in problem.settings.items()) or "none"
    numbers = [Column(name, ".4g") for name in ("from", "to", "default", "trained")]
    of_each = ((p.name, p.low, p.high, p.default, tuned.parameters[p.name]) for p in problem.space.parameters)
    return Report(
        f"Tuning {problem.name}",
        verdict(tuned),
        (
            ResultTable(f"Tuning {problem.name}", (Column("parameter"), *numbers), tuple(of_each)),
            ResultTable(
                "Held-out deals",
                (Column("parameters"), Column("mean reward", ".4f")),
                tuple(tuned.means.items()),
                f"{'Runner-up' if tuned.same else 'Trained'} less default: {between(tuned.test)}.",
            ),
        ),
        (
            f"Games per deal: {problem.games}; a deal is one case of every interval. Settings: {settings}.",
            *_training(tuned),
        ),
        Picture(partial(draw_trials, tuned), "Trials"),
        summary(tuned),
    )


def _training(tuned: Tuned) -> Iterator[Part]:
    """Trials, and what the best of them played on."""
    complete, config = ranked(tuned.trials), tuned.config
    yield (
        f"Training: {len(tuned.trials)} trials on the same {config.deals} deals, {len(tuned.trials) - len(complete)} of them "
        f"given up early (pruner: {config.pruner}). Rewards are functions of parameters and deals. One process "
        "always gives the same trials; with several, which parameters are tried and which are given up "
        "depends on who was faster."
    )
    yield (
        f"Best in training: trial {complete[0].number}, mean {complete[0].mean:.4f} ({show(complete[0].parameters)}); "
        f"the defaults (trial 0): {next(t.mean for t in tuned.trials if t.number == 0):.4f}."
    )
    if not tuned.finals:
        return
    names, rows = tuned.problem.space.names, []
    for trial in (trial for trial in complete if arm_of(trial) in tuned.finals):
        every = tuned.finals[arm_of(trial)]
        means = (trial.mean, fmean(every[len(trial.rewards) :]), fmean(every))
        rows.append((trial.number, *(trial.parameters[name] for name in names), *means))
    means_of = [
        Column(f"{part} mean".strip(), ".4f", key=f"{part}_mean".strip("_")) for part in ("training", "final", "")
    ]
    yield ResultTable(
        "Finals",
        (Column("trial"), *(Column(name, ".4g") for name in names), *means_of),
        tuple(rows),
        f"The best {config.finalists} and the defaults played {config.deals} more deals each; the highest mean of all deals was chosen.",
        file="finals.csv",
    )


def played_by(problem: Problem) -> str:
    """Who played for the rewards, for a caption."""
    flags = ", ".join(
        f"{key} {value}" for key, value in problem.settings.items() if isinstance(value, bool | int | str)
    )
    games = "one game" if problem.games == 1 else f"{problem.games} games"
    return f"{problem.name}, {games} a deal" + (f" ({flags})" if flags else "")


def draw_trials(tuned: Tuned, path: Path) -> None:
    """Each trial's paired difference to the defaults with its interval."""
    trials, chosen = against_defaults(tuned.trials), tuned.chosen.number
    with plots.picture(
        path,
        9,
        4.5,
        title="Trials on common deals: paired difference to the defaults, 95 % intervals",
        who=played_by(tuned.problem),
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
