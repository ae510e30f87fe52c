"""Trials on common random numbers with Optuna: every trial plays the same deals, in blocks, and may be given up early.

Storage is SQLite, because a process killed in the middle leaves neither half a line nor a lock behind. A trial stores the
rewards of each block; one that was cut off is resumed by the next run, with its parameters and blocks. A parameter is
drawn by a sampler seeded from the run's seed, the trial and the parameter; several processes play the deals of one trial
after another. So a study has the same trials byte for byte, killed or not, with any number of workers.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import optuna
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.pruners import BasePruner, MedianPruner, NopPruner, SuccessiveHalvingPruner, WilcoxonPruner
from optuna.samplers import TPESampler
from optuna.trial import FrozenTrial, TrialState
from parlour.envs.writing import CannotWrite
from parlour.policies.files import replacing
from parlour.training.learn.tuning.config import TuneConfig, blocks
from parlour.training.learn.tuning.problem import Problem, rewards
from parlour.training.learn.tuning.trials import Trial, ranked
from parlour.training.play import seeds
from parlour.training.play.parallel.executor import Pool, Workers, as_finished, in_order, opened
from parlour.training.results.runs import StageProgress
from sqlalchemy.exc import SQLAlchemyError

Tell = Callable[[list[Trial]], None]
STORAGE: Final = "study.sqlite3"

_STUDY: Final = "tune"
_SAMPLER: Final = 10  # beside the purposes of deals in `config`
_WARM_UP: Final = 3  # blocks before a trial may be given up
_LEVEL: Final = 0.05  # of the signed-rank test by which it is
_DONE: Final = (TrialState.COMPLETE, TrialState.PRUNED)


def search(
    problem: Problem,
    config: TuneConfig,
    folder: Path,
    workers: Workers,
    progress: StageProgress,
    store: Tell = lambda _trials: None,
) -> list[Trial]:
    """Play all trials that are missing in the folder's study, and return all, in the order of their numbers.

    Args:
        problem: What is tuned.
        config: How.
        folder: Where the study is stored.
        workers: Processes that play; with 1, everything happens in this one. Or a pool.
        progress: Told about deals played; those that a pruned trial was spared count as played.
        store: Given all finished trials whenever there are more of them.
    """
    total = config.budget * config.deals

    def tell(trials: list[Trial]) -> None:
        progress("trials", min(len(trials), config.budget) * config.deals, total, _note(trials))
        store(trials)

    with opened(workers) as pool, _opened(config, folder) as study:
        while len(trials := _trials(study)) < config.budget:
            _play(_next_trial(study, problem), study, problem, config, pool)
            tell(_trials(study))
    tell(trials)
    return trials


def _note(trials: list[Trial]) -> str:
    complete = ranked(trials)
    return f"best {complete[0].mean:.3f}" if complete else ""


# -- one trial ---------------------------------------------------------------------------------------------------


def _next_trial(study: Any, problem: Problem) -> Any:
    """The trial that was cut off, or a new one; the first has the default parameters."""
    frozen = study.get_trials(deepcopy=False)
    for one in frozen:
        if one.state == TrialState.RUNNING:
            return optuna.trial.Trial(study, one._trial_id)  # it has no public way to be resumed
    if not frozen:
        study.enqueue_trial(problem.space.defaults)
    return study.ask()


def _play(trial: Any, study: Any, problem: Problem, config: TuneConfig, pool: Pool | None) -> None:
    """Play the blocks that are missing, and tell the study how it ended."""
    parameters = _suggested(trial, study, problem, config)
    stored = _blocks(trial.user_attrs)
    reported = study.get_trials(deepcopy=False)[trial.number].intermediate_values
    found: list[float] = []
    pieces = blocks(config.training, config.block)
    with closing(_played(problem, parameters, pieces[len(stored) :], pool)) as missing:
        for k in range(len(pieces)):
            if k < len(stored):
                piece = stored[k]
            else:
                piece = next(missing)
                trial.set_user_attr(_name(k), piece)
            found += piece
            if k not in reported:
                trial.report(fmean(piece if config.pruner == "wilcoxon" else found), k)
            judged = k < len(stored) - 1  # before the process was killed
            spared = trial.number == 0 or k + 1 == len(pieces)  # everything is compared with the defaults on all deals
            if not judged and not spared and trial.should_prune():
                study.tell(trial, state=TrialState.PRUNED)
                return
    study.tell(trial, fmean(found))


def _played(
    problem: Problem, parameters: dict[str, float], pieces: Sequence[list[int]], pool: Pool | None
) -> Generator[list[float], None, None]:
    """The rewards of each block. A pool plays ahead of the judgement, deal by deal; closing this gives up what is left."""
    if pool is None:
        for deals in pieces:
            yield rewards(problem, parameters, deals)
        return
    calls = ((problem, parameters, [deal]) for deals in pieces for deal in deals)
    with closing(as_finished(pool, rewards, calls)) as finished:
        single = in_order(finished)
        for deals in pieces:
            yield [next(single)[0] for _ in deals]


def _suggested(trial: Any, study: Any, problem: Problem, config: TuneConfig) -> dict[str, float]:
    """The parameters of a trial: those it has, and for the others what a freshly seeded sampler draws."""
    found: dict[str, float] = {}
    for k, parameter in enumerate(problem.space.parameters):
        study.sampler = TPESampler(seed=seeds.derive(config.seed, _SAMPLER, trial.number, k))
        if parameter.kind == "int":
            low, high = int(parameter.low), int(parameter.high)
            found[parameter.name] = trial.suggest_int(parameter.name, low, high, log=parameter.log)
        else:
            found[parameter.name] = trial.suggest_float(
                parameter.name, parameter.low, parameter.high, log=parameter.log
            )
    return found


def _name(block: int) -> str:
    return f"rewards of block {block}"


def _blocks(attributes: dict[str, Any]) -> list[list[float]]:
    found: list[list[float]] = []
    while _name(len(found)) in attributes:
        found.append(attributes[_name(len(found))])
    return found


def _trials(study: Any) -> list[Trial]:
    return [_trial(one) for one in study.get_trials(deepcopy=False, states=_DONE)]


def _trial(one: FrozenTrial) -> Trial:
    found = tuple(reward for block in _blocks(one.user_attrs) for reward in block)
    return Trial(one.number, dict(one.params), found, one.state == TrialState.COMPLETE)


# -- Optuna ------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(config: TuneConfig, folder: Path) -> Iterator[Any]:
    """The study, made if there is none. Optuna's messages about its progress are held back meanwhile."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)  # errors are told once, below
    try:
        _make(folder)
        with _storage(folder / STORAGE) as storage:
            yield optuna.load_study(study_name=_STUDY, storage=storage, pruner=_pruner(config))
    except (StorageInternalError, SQLAlchemyError) as error:
        why = str(error.__cause__ or error).partition("\n")[0]
        raise CannotWrite(
            f"{str(folder / STORAGE)!r} cannot be written or read: {why}; accepted: what a run left, in a folder with room"
        ) from None
    finally:
        optuna.logging.set_verbosity(before)


def _make(folder: Path) -> None:
    """Make the study's file, under another name first: a kill leaves all of its tables or none."""
    if not (folder / STORAGE).exists():
        with replacing(folder / STORAGE) as new, _storage(new) as storage:
            optuna.create_study(storage=storage, study_name=_STUDY, direction="maximize")


@contextmanager
def _storage(path: Path) -> Iterator[Any]:
    connect = partial(sqlite3.connect, path, timeout=60)  # in a URL, some characters of a path would mean something
    made = optuna.storages.RDBStorage(f"sqlite:///{STORAGE}", engine_kwargs={"creator": connect})
    try:
        yield made
    finally:
        made.remove_session()
        made.engine.dispose()


def _pruner(config: TuneConfig) -> BasePruner:
    """The pruner. The signed-rank test compares block with block on common deals; the others see running means."""
    if config.pruner == "median":
        return MedianPruner(n_startup_trials=5, n_warmup_steps=_WARM_UP)
    if config.pruner == "halving":
        return SuccessiveHalvingPruner(min_resource=_WARM_UP, reduction_factor=2)
    if config.pruner == "none":
        return NopPruner()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)  # said of the class, and known: it is pinned and tested
        return WilcoxonPruner(p_threshold=_LEVEL, n_startup_steps=_WARM_UP)
