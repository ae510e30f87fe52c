"""A whole run in a folder: learn, let the best play on, test on held-out deals, report.

Leaves config.json; the study (study.sqlite3); trials.csv; progress.csv and curve.png; finals.jsonl and finals.csv; best.json; held_out.jsonl and held_out.csv; summary.json
and report.md. Every stage resumes where a kill left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from parlour.envs.core import check_from
from parlour.policies.files import write_json
from parlour.training.learn.tuning import report
from parlour.training.learn.tuning.problem import Parameters, Problem, TuneConfig
from parlour.training.learn.tuning.report import Tuned
from parlour.training.learn.tuning.study import StudyRunner, Trial, against_defaults, ranked
from parlour.training.play.parallel.executor import Workers
from parlour.training.report import plots
from parlour.training.report.html import write_report
from parlour.training.runs.folder import run_directory, write_csv
from parlour.training.runs.loggers import Logger, Metrics, loggers, read_curve
from parlour.training.runs.progress import StageProgress, no_progress
from parlour.training.statistics import mean_difference

DEFAULTS: Final = "defaults"
TRAINED: Final = "trained"
RIVAL: Final = "runner-up"


def tune(
    problem: Problem,
    config: TuneConfig,
    out: str | Path,
    *,
    workers: Workers = 1,
    progress: StageProgress = no_progress,
    log: Iterable[str] = (),
) -> Tuned:
    """Train the numbers of a problem, or resume the run in `out`, and test what was learned.

    Args:
        problem: What is tuned; picklable, if there are several workers.
        config: How. A run in `out` is resumed only if it has the same, and the same problem.
        out: Run directory.
        workers: Processes that play, or a pool; the result does not depend on it.
        progress: Called as each stage advances.
        log: Loggers beside progress.csv, of `parlour.training.runs.loggers.NAMES`.

    Raises:
        ParlourError: A setting is not accepted, `out` holds another run or is in use, or the problem's rewards cannot be used.
    """
    if isinstance(workers, int):
        check_from("workers", workers, 1)
    settings = {"problem": problem.name, "space": problem.space.as_json(), "settings": dict(problem.settings)}
    with run_directory(out, config.plain() | settings) as folder:
        return _Run(StudyRunner(problem, config, folder, workers, progress), log).tuned()


class _Run:
    """The stages of a run, one after the other."""

    def __init__(self, runner: StudyRunner, log: Iterable[str]) -> None:
        self.log = log
        self.runner, self.problem, self.config = runner, runner.problem, runner.config
        self.folder = runner.folder
        self.drawn, self.who = plots.available(), report.played_by(runner.problem)
        self.trials: list[Trial] = []
        self.finals: dict[str, tuple[float, ...]] = {}

    def tuned(self) -> Tuned:
        """Learn, test, report."""
        curve = read_curve(self.folder)
        self.logged = len(curve)
        with loggers(self.folder, self.log, curve) as logger:
            self.trials = self.runner.search(partial(self._store_trials, logger))
        chosen = self._final()
        if self.drawn:
            report.draw_trials(against_defaults(self.trials), chosen.number, self.folder / "curve.png", self.who)
        return self._tested(dict(chosen.parameters))

    def _tested(self, parameters: dict[str, float]) -> Tuned:
        """Test the trained parameters on held-out deals, report."""
        best = {"problem": self.problem.name, "method": self.config.method, "parameters": parameters}
        write_json(self.folder / "best.json", best)
        arms: dict[str, Parameters] = {DEFAULTS: self.problem.space.defaults}
        rival = _rival(self.trials, self.finals) if parameters == self.problem.space.defaults else None
        if parameters != self.problem.space.defaults:
            arms[TRAINED] = parameters
        elif rival is not None:
            arms[RIVAL] = rival
        held_out = self.runner.measure("held_out", arms, self.config.test)
        rows = list(zip(self.config.test, *held_out.values(), strict=True))
        write_csv(self.folder / "held_out.csv", ["deal", *arms], rows)
        first, *others = held_out.values()
        tuned = Tuned(
            self.problem,
            self.config,
            parameters,
            tuple(self.trials),
            self.finals,
            rival,
            mean_difference(others[0] if others else first, first),
            {arm: fmean(own) for arm, own in held_out.items()},
            self.drawn,
        )
        write_json(self.folder / "summary.json", report.summary(tuned))
        write_report(self.folder, report.text(tuned))
        return tuned

    def _final(self) -> Trial:
        """Let the best trials and the defaults play on, and choose by all that they played.

        The best of many noisy means is mostly the luckiest; on further deals luck does not help.
        """
        order = ranked(self.trials)
        if not self.config.finalists:
            return order[0]
        ahead = order[: self.config.finalists]
        ahead += [trial for trial in order if trial.number == 0 and trial not in ahead]
        played = self.runner.measure("finals", {_arm(trial): trial.parameters for trial in ahead}, self.config.final)
        self.finals = {_arm(trial): (*trial.rewards, *played[_arm(trial)]) for trial in ahead}
        means = {trial.number: fmean(self.finals[_arm(trial)]) for trial in ahead}
        rows = [
            [trial.number, *trial.parameters.values(), trial.mean, fmean(played[_arm(trial)]), means[trial.number]]
            for trial in ahead
        ]
        heading = ["trial", *self.problem.space.names, "training_mean", "final_mean", "mean"]
        write_csv(self.folder / "finals.csv", heading, rows)
        return max(ahead, key=lambda trial: (means[trial.number], -trial.number))

    def _store_trials(self, logger: Logger, trials: Sequence[Trial]) -> None:
        """Write the table of the trials, once that with the defaults is finished, and log those that are new."""
        if not any(trial.number == 0 for trial in trials):
            return
        names = list(trials[0].parameters)
        rows, curve, best = list[list[Any]](), list[Metrics](), None
        for trial, d in against_defaults(trials):
            state = "complete" if trial.complete else "given up"
            values = [trial.parameters[name] for name in names]
            rows.append([trial.number, state, *values, d.n, trial.mean, *d.with_ends])
            if trial.complete:
                best = trial.mean if best is None else max(best, trial.mean)
            measured = {"charts/episodic_return": trial.mean, "charts/best_return": best}
            measured |= {"charts/difference": d.value, "charts/difference_low": d.low, "charts/difference_high": d.high}
            curve.append(measured | {f"parameters/{name}": trial.parameters[name] for name in names})
        heading = ["trial", "state", *names, "deals", "mean", "difference", "low", "high"]
        write_csv(self.folder / "trials.csv", heading, rows)
        for number in range(self.logged, len(curve)):
            logger.log(curve[number], number)
        self.logged = len(curve)


def _arm(trial: Trial) -> str:
    return f"trial {trial.number}"


def _rival(trials: Sequence[Trial], finals: Mapping[str, Sequence[float]]) -> dict[str, float] | None:
    """If the defaults were the best: the parameters that came next, of those that played most."""
    others = [trial for trial in ranked(trials) if trial.number]
    played = [trial for trial in others if _arm(trial) in finals] or others
    if not played:
        return None
    return dict(max(played, key=lambda trial: fmean(finals.get(_arm(trial), trial.rewards))).parameters)
