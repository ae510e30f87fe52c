"""The report of a run of the tuner: report.md and summary.json."""

from __future__ import annotations

from dataclasses import asdict
from statistics import fmean
from typing import Any

from parlour.training.learn.tuning.result import Tuned
from parlour.training.learn.tuning.space import show
from parlour.training.learn.tuning.trials import ranked
from parlour.training.measure.statistics import MeanEstimate, show_interval
from parlour.training.results.result_table import markdown_table


def verdict(tuned: Tuned) -> str:
    """What the held-out deals say; a difference that may be none is called that."""
    test, n = tuned.test, f"{tuned.test.n} held-out deals"
    if tuned.same:
        told = "Nothing beat the default parameters in training, so the trained ones are the defaults."
        if tuned.rival is None:
            return told
        return f"{told} What came next ({show(tuned.rival)}) against them on {n}: {between(test)}; see the response surface."
    interval = between(test)
    if not test.clear:
        return f"On {n} the trained parameters cannot be told from the defaults: {interval}; see the response surface."
    word = "beat" if test.mean > 0 else "lose to"
    return f"On {n} the trained parameters {word} the defaults: {interval}."


def between(found: MeanEstimate) -> str:
    """A difference with its interval and p.

    >>> between(MeanEstimate(9, 0.5, 0.25, 0.75, 0.01))
    '+0.5000 a deal, interval at 95 % [+0.2500, +0.7500], p = 0.01'
    """
    return f"{found.mean:+.4f} a deal, interval at 95 % {show_interval(found, '+.4f')}" + (
        "" if found.p is None else f", p = {found.p:.2g}"
    )


def summary(tuned: Tuned) -> dict[str, Any]:
    """Plain values."""
    config, problem = tuned.config, tuned.problem
    told: dict[str, Any] = {
        "problem": problem.name,
        "settings": dict(problem.settings),
        "method": config.method,
        "seed": config.seed,
        "defaults": problem.space.defaults,
        "trained": dict(tuned.parameters),
        "runner_up": tuned.rival,
        "games_per_deal": problem.games,
        "held_out": {"means": tuned.means, "difference": asdict(tuned.test), "clear": tuned.test.clear},
        "surface": [{"parameters": cell.parameters, "difference": asdict(cell.against)} for cell in tuned.surface],
        "verdict": verdict(tuned),
    }
    if tuned.learned is not None:
        learned = tuned.learned
        told["steps"] = {
            "calibration": learned.calibration,
            "learning": len(learned.learning),
            "gain": learned.gain,
            "deals_that_told": fmean([step.plus != step.minus for step in learned.steps]),
        }
    else:
        complete = ranked(tuned.trials)
        told["trials"] = {
            "complete": len(complete),
            "given_up": len(tuned.trials) - len(complete),
            "deals": sum(len(trial.rewards) for trial in tuned.trials),
            "best_in_training": {"trial": complete[0].number, "mean": complete[0].mean},
        }
        told["finals"] = {arm: {"deals": len(found), "mean": fmean(found)} for arm, found in tuned.finals.items()}
    return told


def text(tuned: Tuned) -> str:
    """The report, in Markdown."""
    problem = tuned.problem
    lines = [
        f"# Tuning {problem.name}",
        "",
        verdict(tuned),
        "",
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
        *(_steps(tuned) if tuned.learned is not None else _trials(tuned)),
        "",
        "![curve](curve.png)" if tuned.drawn else "No picture: matplotlib is not installed.",
        "",
        "## Response surface",
        "",
        *_surface(tuned),
    ]
    return "\n".join(lines) + "\n"


def _trials(tuned: Tuned) -> list[str]:
    complete, config = ranked(tuned.trials), tuned.config
    lines = [
        f"{len(tuned.trials)} trials on the same {config.deals} deals, of which {len(tuned.trials) - len(complete)} were "
        f"given up early (pruner: {config.pruner}). Rewards are functions of parameters and deals. One process "
        "always gives the same trials; with several, which parameters are tried and which are given up "
        "depends on who was faster.",
        "",
        f"Best in training: trial {complete[0].number}, mean {complete[0].mean:.4f} ({show(complete[0].parameters)}); "
        f"the defaults (trial 0): {next(t.mean for t in tuned.trials if t.number == 0):.4f}.",
    ]
    if tuned.finals:
        by_number = {f"trial {trial.number}": trial for trial in complete}
        finals = [(by_number[arm], found) for arm, found in tuned.finals.items()]
        lines += [
            "",
            f"The best {config.finalists} and the defaults played {config.deals} more deals each; the highest mean of all "
            "deals was chosen:",
            "",
            markdown_table(
                ("trial", "parameters", "deals", "mean"),
                [(str(t.number), show(t.parameters), str(len(found)), f"{fmean(found):.4f}") for t, found in finals],
            ),
        ]
    return lines


def _steps(tuned: Tuned) -> list[str]:
    assert tuned.learned is not None
    steps, first = tuned.learned.steps, tuned.learned.calibration
    told = sum(step.plus != step.minus for step in steps)
    return [
        f"SPSA: {first} steps to set the gain (a = {tuned.learned.gain:.4g}), then {len(steps) - first} steps, two "
        f"episodes each on one deal. {told} of {len(steps)} deals told the two sides apart.",
    ]


def _surface(tuned: Tuned) -> list[str]:
    measured = tuned.surface
    clear = [cell for cell in measured if cell.against.clear]
    rows = [
        (show(cell.parameters), f"{cell.against.mean:+.4f}", _end(cell.against.low), _end(cell.against.high))
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


def _end(of_interval: float | None) -> str:
    return "-" if of_interval is None else f"{of_interval:+.4f}"
