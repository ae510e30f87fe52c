"""A whole run in a folder: learn, let the best play on, test on held-out deals, report.

Leaves config.json; the study (study.sqlite3); trials.csv and progress.csv, which grow while it learns; finals.jsonl; best.json;
held_out.jsonl and held_out.csv; and the files of the report: curve.png, finals.csv, summary.json and report.md. Every stage
resumes where a kill left it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any, Final

from parlour.envs.core import check_from
from parlour.policies.files import write_json
from parlour.training.learn.tuning import report
from parlour.training.learn.tuning.problem import Parameters, Problem, TuneConfig
from parlour.training.learn.tuning.report import Tuned, arm_of
from parlour.training.learn.tuning.study import StudyRunner, Trial, against_defaults, ranked
from parlour.training.play.parallel.executor import Workers
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

DEFAULTS: Final = "defaults"
TRAINED: Final = "trained"
RIVAL: Final = "runner-up"


def tune(problem: Problem, config: TuneConfig, run: Run, *, workers: Workers = 1) -> Tuned:
    """Train the numbers of a problem, or resume a run, and test what was learned.

    Args:
        problem: What is tuned; picklable, if there are several workers.
        config: How. The run is resumed only if it has the same, and the same problem.
        run: Where.
        workers: Processes that play, or a pool; the result does not depend on it.

    Raises:
        ParlourError: A setting is not accepted, the directory holds another run or is in use, or the problem's rewards cannot be
            used.
    """
    if isinstance(workers, int):
        check_from("workers", workers, 1)
    space = [asdict(parameter) | {"log": False} for parameter in problem.space.parameters]  # as runs were always stored
    settings = {"problem": problem.name, "space": space, "settings": dict(problem.settings)}
    with run.opened(config.plain() | settings) as folder:
        runner = StudyRunner(problem, config, folder, workers, run.progress)
        trials = tuple(runner.search(_TrialLog(run)))
        finals = _finals(runner, trials)
        chosen = _chosen(trials, finals)
        best = {"problem": problem.name, "method": config.method, "parameters": chosen.parameters}
        write_json(folder / "best.json", best)
        rival = _rival(trials, finals) if chosen.parameters == problem.space.defaults else None
        held_out = _held_out(runner, chosen.parameters, rival)
        run.table("held_out.csv", ["deal", *held_out], list(zip(config.test, *held_out.values(), strict=True)))
        first, *others = held_out.values()
        difference = Estimate.mean_difference(others[0] if others else first, first)
        means = {arm: fmean(own) for arm, own in held_out.items()}
        tuned = Tuned(problem, config, chosen, trials, finals, rival, difference, means)
        report.report(tuned).write(folder)
        return tuned


class _TrialLog:
    """Keeps trials.csv and the curve up to date while trials are played, from the end of that with the defaults on."""

    def __init__(self, run: Run) -> None:
        self._run, self._logged = run, len(run.curve)

    def __call__(self, trials: Sequence[Trial]) -> None:
        if not any(trial.number == 0 for trial in trials):
            return
        names = list(trials[0].parameters)
        rows, best = list[list[Any]](), None
        for number, (trial, d) in enumerate(against_defaults(trials)):
            state = "complete" if trial.complete else "given up"
            values = [trial.parameters[name] for name in names]
            rows.append([trial.number, state, *values, d.n, trial.mean, *d.with_ends])
            if trial.complete:
                best = trial.mean if best is None else max(best, trial.mean)
            if number < self._logged:
                continue
            measured = {"charts/episodic_return": trial.mean, "charts/best_return": best}
            measured |= {"charts/difference": d.value, "charts/difference_low": d.low, "charts/difference_high": d.high}
            self._run.log(measured | {f"parameters/{name}": trial.parameters[name] for name in names}, number)
        self._logged = len(rows)
        self._run.table("trials.csv", ["trial", "state", *names, "deals", "mean", "difference", "low", "high"], rows)


def _finals(runner: StudyRunner, trials: Sequence[Trial]) -> dict[str, tuple[float, ...]]:
    """Rewards of the best trials and the defaults, which play on, on training and final deals together.

    The best of many noisy means is mostly the luckiest; on further deals luck does not help.
    """
    order, count = ranked(trials), runner.config.finalists
    if not count:
        return {}
    ahead = order[:count]
    ahead += [trial for trial in order if trial.number == 0 and trial not in ahead]
    played = runner.measure("finals", {arm_of(trial): trial.parameters for trial in ahead}, runner.config.final)
    return {arm_of(trial): (*trial.rewards, *played[arm_of(trial)]) for trial in ahead}


def _chosen(trials: Sequence[Trial], finals: Mapping[str, Sequence[float]]) -> Trial:
    """The trial with the highest mean of all that it played, of those that played most."""
    played = [trial for trial in trials if arm_of(trial) in finals]
    if not played:
        return ranked(trials)[0]
    return max(played, key=lambda trial: (fmean(finals[arm_of(trial)]), -trial.number))


def _held_out(runner: StudyRunner, parameters: Parameters, rival: Parameters | None) -> dict[str, tuple[float, ...]]:
    """Rewards on held-out deals of the defaults and the trained parameters; where these are the same, of the rival."""
    arms = {DEFAULTS: runner.problem.space.defaults}
    if parameters != arms[DEFAULTS]:
        arms[TRAINED] = dict(parameters)
    elif rival is not None:
        arms[RIVAL] = dict(rival)
    return runner.measure("held_out", arms, runner.config.test)


def _rival(trials: Sequence[Trial], finals: Mapping[str, Sequence[float]]) -> dict[str, float] | None:
    """If the defaults were the best: the parameters that came next, of those that played most."""
    others = [trial for trial in ranked(trials) if trial.number]
    played = [trial for trial in others if arm_of(trial) in finals] or others
    if not played:
        return None
    return dict(max(played, key=lambda trial: fmean(finals.get(arm_of(trial), trial.rewards))).parameters)
