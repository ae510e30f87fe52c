"""A whole run in a folder: learn, let the best play on, test on held-out deals, draw the surface, report.

Leaves config.json; the study (study.sqlite3) or the checkpoint (checkpoint.json); trials.csv, or steps.csv; curve.csv and
curve.png; finals.jsonl and finals.csv; best.json; held_out.jsonl and held_out.csv; surface.jsonl, surface.csv and surface.png; summary.json
and report.md. Every stage resumes where a kill left it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from parlour.envs.core import check_from
from parlour.policies.files import write_json
from parlour.training.learn.tuning import pictures, report
from parlour.training.learn.tuning.config import TuneConfig
from parlour.training.learn.tuning.measure import measure
from parlour.training.learn.tuning.online import OnlineResult, learn, moving
from parlour.training.learn.tuning.problem import Problem
from parlour.training.learn.tuning.result import Tuned
from parlour.training.learn.tuning.space import Parameters
from parlour.training.learn.tuning.surface import measure_surface
from parlour.training.learn.tuning.trials import Trial, against_defaults, ranked
from parlour.training.measure.statistics import MeanEstimate, mean_difference
from parlour.training.play.parallel.executor import Workers
from parlour.training.results import plots
from parlour.training.results.pages.report import write_report
from parlour.training.results.runs import StageProgress, no_stage_progress, run_directory, write_csv

BEST: Final = "best.json"
TRIALS: Final = "trials.csv"
STEPS: Final = "steps.csv"
CURVE: Final = "curve.csv"
HELD_OUT: Final = "held_out.csv"
DEFAULTS: Final = "defaults"
TRAINED: Final = "trained"
RIVAL: Final = "runner-up"
Measure = Callable[..., dict[str, tuple[float, ...]]]
"""`measure`, given the problem and how it is played."""


def tune(
    problem: Problem,
    config: TuneConfig,
    out: str | Path,
    *,
    workers: Workers = 1,
    progress: StageProgress = no_stage_progress,
) -> Tuned:
    """Train the numbers of a problem, or resume the run in `out`, and test what was learned.

    Args:
        problem: What is tuned; picklable, if there are several workers.
        config: How. A run in `out` is resumed only if it has the same, and the same problem.
        out: Run directory.
        workers: Processes that play, or a pool; the result does not depend on it. On-line learning has one
            process, this one; what follows it has all.
        progress: Told how each stage goes on.

    Raises:
        ParlourError: A setting is not accepted, `out` holds another run or is in use, or the problem's rewards cannot be used.
    """
    if isinstance(workers, int):
        check_from("workers", workers, 1)
    settings = {"problem": problem.name, "space": problem.space.as_json(), "settings": dict(problem.settings)}
    with run_directory(out, asdict(config) | settings) as folder:
        return _tune(problem, config, folder, workers, progress)


def _tune(problem: Problem, config: TuneConfig, folder: Path, workers: Workers, progress: StageProgress) -> Tuned:
    play = partial(measure, problem, block=config.block, workers=workers, progress=progress)
    trials: list[Trial] = []
    learned: OnlineResult | None = None
    finals: dict[str, tuple[float, ...]] = {}
    drawn, who = plots.available(), pictures.played_by(problem)
    if config.method == "spsa":
        learned = learn(problem, config, folder, progress)
        parameters = learned.parameters
        _store_steps(learned, problem, folder)
        if drawn:
            pictures.steps(learned, problem.space, folder / "curve.png", who)
    else:
        from parlour.training.learn.tuning.study import search  # it needs Optuna, of the extra `train`

        trials = search(problem, config, folder, workers, progress, partial(_store_trials, folder))
        chosen, finals = _final(problem, config, trials, folder, play)
        parameters = dict(chosen.parameters)
        if drawn:
            pictures.trials(against_defaults(trials), chosen.number, folder / "curve.png", who)
    write_json(folder / BEST, {"problem": problem.name, "method": config.method, "parameters": dict(parameters)})
    arms: dict[str, Parameters] = {DEFAULTS: problem.space.defaults, TRAINED: parameters}
    rival = None
    if dict(parameters) == problem.space.defaults:
        rival = _rival(trials, finals)
        del arms[TRAINED]
        if rival is not None:
            arms[RIVAL] = rival
    means, test = _test(config, arms, folder, play)
    cells = measure_surface(problem, config, folder, play)
    if drawn:
        pictures.draw_surface(cells, problem.space, parameters, folder / "surface.png", who)
    tuned = Tuned(problem, config, parameters, tuple(trials), learned, finals, rival, test, means, tuple(cells), drawn)
    write_json(folder / "summary.json", report.summary(tuned))
    write_report(folder, report.text(tuned))
    return tuned


def _final(
    problem: Problem, config: TuneConfig, trials: Sequence[Trial], folder: Path, play: Measure
) -> tuple[Trial, dict[str, tuple[float, ...]]]:
    """Let the best trials and the defaults play on, and choose by all that they played.

    The best of many noisy means is mostly the luckiest; on further deals luck does not help.
    """
    order = ranked(trials)
    if not config.finalists:
        return order[0], {}
    ahead = order[: config.finalists]
    ahead += [trial for trial in order if trial.number == 0 and trial not in ahead]
    arms = {_arm(trial): trial.parameters for trial in ahead}
    found = play(arms, config.final, folder / "finals.jsonl", stage="finals")
    both = {_arm(trial): (*trial.rewards, *found[_arm(trial)]) for trial in ahead}
    rows = [
        [trial.number, *trial.parameters.values(), trial.mean, fmean(found[_arm(trial)]), fmean(both[_arm(trial)])]
        for trial in ahead
    ]
    heading = ["trial", *problem.space.names, "training_mean", "final_mean", "mean"]
    write_csv(folder / "finals.csv", heading, rows)
    return max(ahead, key=lambda trial: (fmean(both[_arm(trial)]), -trial.number)), both


def _arm(trial: Trial) -> str:
    return f"trial {trial.number}"


def _store_trials(folder: Path, trials: Sequence[Trial]) -> None:
    """Write the table and the curve of the trials, once that with the defaults is finished."""
    if not any(trial.number == 0 for trial in trials):
        return
    names = list(trials[0].parameters)
    rows, curve, best = [], [], None
    for trial, d in against_defaults(trials):
        state = "complete" if trial.complete else "given up"
        values = [trial.parameters[name] for name in names]
        rows.append([trial.number, state, *values, d.n, trial.mean, d.mean, d.low, d.high])
        if trial.complete:
            best = trial.mean if best is None else max(best, trial.mean)
        curve.append([trial.number, trial.mean, best, d.mean, d.low, d.high])
    heading = ["trial", "state", *names, "deals", "mean", "difference", "low", "high"]
    write_csv(folder / TRIALS, heading, rows)
    write_csv(folder / CURVE, ["trial", "mean", "best", "difference", "low", "high"], curve)


def _store_steps(learned: OnlineResult, problem: Problem, folder: Path) -> None:
    """Write the table and the curve of the steps."""
    rows: list[list[Any]] = []
    for k, step in enumerate(learned.steps):
        stage = "calibration" if k < learned.calibration else "learning"
        values = problem.space.bounded(step.point).values()
        rows.append([k, stage, step.deal, step.plus, step.minus, *values])
    write_csv(folder / STEPS, ["step", "stage", "deal", "plus", "minus", *problem.space.names], rows)
    learning = rows[learned.calibration :]
    means = moving(learned.learning, pictures.WINDOW)
    curve = [[k, value, *row[5:]] for k, (value, row) in enumerate(zip(means, learning, strict=True), 1)]
    write_csv(folder / CURVE, ["step", "reward", *problem.space.names], curve)


def _rival(trials: Sequence[Trial], finals: Mapping[str, Sequence[float]]) -> dict[str, float] | None:
    """If the defaults were the best: the parameters that came next, of those that played most."""
    others = [trial for trial in ranked(trials) if trial.number]
    played = [trial for trial in others if _arm(trial) in finals] or others
    if not played:
        return None
    return dict(max(played, key=lambda trial: fmean(finals.get(_arm(trial), trial.rewards))).parameters)


def _test(
    config: TuneConfig, arms: Mapping[str, Parameters], folder: Path, play: Measure
) -> tuple[dict[str, float], MeanEstimate]:
    """Two parameter sets on the held-out deals: the means, and the second less the first."""
    found = play(arms, config.test, folder / "held_out.jsonl", stage="held-out deals")
    write_csv(folder / HELD_OUT, ["deal", *arms], list(zip(config.test, *found.values(), strict=True)))
    first, *others = found.values()
    return {arm: fmean(own) for arm, own in found.items()}, mean_difference(others[0] if others else first, first)
