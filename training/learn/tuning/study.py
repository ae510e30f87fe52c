"""Trials on common random numbers with Optuna, and measurements of several parameter sets on the same deals.

Every trial plays the same deals, in blocks, and may be given up early.
Storage is SQLite, because a process killed in the middle leaves neither half a line nor a lock behind. A trial stores the
rewards of each block; an interrupted trial is resumed by the next run, with its parameters and blocks. A parameter is
drawn by a sampler seeded from the run's seed, the trial and the parameter; several processes play the deals of one trial
after another. So a study has the same trials byte for byte, killed or not, with any number of workers.

A measurement is stored block by block in one file, JSON by lines: a head that says what is measured, then one line for each
block in any order. Rewards are functions of parameters and deals, so the result does not depend on how many
processes played it, nor on when they stopped.
"""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, takewhile
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import optuna
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.pruners import BasePruner, MedianPruner, NopPruner, SuccessiveHalvingPruner, WilcoxonPruner
from optuna.samplers import TPESampler
from optuna.trial import TrialState
from parlour.envs.common.writing import CannotWrite
from parlour.policies.files import replacing
from parlour.training.learn.tuning.problem import Parameters, Problem, TuneConfig, blocks, rewards
from parlour.training.play import seeds
from parlour.training.play.parallel.executor import Pool, Workers, as_finished, carry_out, in_order, opened
from parlour.training.runs.folder import JsonlStore
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from parlour.training.statistics import Estimate
from sqlalchemy.exc import SQLAlchemyError


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    number: int
    """Trial 0 has the defaults."""
    parameters: dict[str, float]
    rewards: tuple[float, ...]
    """One for each deal it played, in the order of the training deals."""
    complete: bool
    """False if it was given up."""

    @property
    def mean(self) -> float:
        """Mean reward of a deal."""
        return fmean(self.rewards)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """The complete trials, the highest mean first; of equal ones the earlier, so that the defaults win a tie."""
    return sorted((trial for trial in trials if trial.complete), key=lambda trial: (-trial.mean, trial.number))


def against_defaults(trials: Sequence[Trial]) -> list[tuple[Trial, Estimate]]:
    """Each trial with its paired difference to trial 0, on as many deals as it played."""
    first = next(trial for trial in trials if trial.number == 0)
    return [(trial, Estimate.mean_difference(trial.rewards, first.rewards)) for trial in trials]


STORAGE: Final = "study.sqlite3"
_STUDY: Final = "tune"
_WARM_UP: Final = 3  # blocks before a trial may be given up
_LEVEL: Final = 0.05  # of the signed-rank test by which it is
_DONE: Final = (TrialState.COMPLETE, TrialState.PRUNED)


@dataclass(frozen=True, eq=False)
class StudyRunner:
    """Plays the deals of a run: its trials, and measurements of some parameter sets."""

    problem: Problem
    config: TuneConfig
    folder: Path
    """Where the study and the measurements are stored."""
    workers: Workers = 1
    """Processes that play; with 1, everything happens in this one. Or a pool."""
    progress: StageProgress = no_progress
    """Told about deals played; those that a pruned trial was spared count as played."""

    def search(self, store: Callable[[list[Trial]], None] = lambda _trials: None) -> list[Trial]:
        """Play all trials that are missing in the folder's study, and return all, in the order of their numbers.

        `store` is given all finished trials whenever there are more of them.
        """
        with opened(self.workers) as pool, open_study(self.config, self.folder) as study:
            while len(trials := _trials(study)) < self.config.budget:
                self._play(self._next_trial(study), study, pool)
                self._tell(_trials(study), store)
        self._tell(trials, store)
        return trials

    def _tell(self, trials: list[Trial], store: Callable[[list[Trial]], None]) -> None:
        complete, deals = ranked(trials), self.config.deals
        note = f"best mean reward {complete[0].mean:.3f}" if complete else ""
        stage = Stage(f"Training {self.problem.name}", self.config.budget * deals, "deals")
        self.progress(stage, min(len(trials), self.config.budget) * deals, note)
        store(trials)

    def _next_trial(self, study: Any) -> Any:
        """The trial that was cut off, or a new one; the first has the default parameters."""
        frozen = study.get_trials(deepcopy=False)
        for trial in frozen:
            if trial.state == TrialState.RUNNING:
                return optuna.trial.Trial(study, trial._trial_id)  # it has no public way to be resumed
        if not frozen:
            study.enqueue_trial(self.problem.space.defaults)
        return study.ask()

    def _play(self, trial: Any, study: Any, pool: Pool | None) -> None:
        """Play the blocks that are missing, and tell the study how it ended."""
        parameters, stored = self._suggested(trial, study), _blocks(trial.user_attrs)
        reported = study.get_trials(deepcopy=False)[trial.number].intermediate_values
        played: list[float] = []
        pieces = blocks(self.config.training, self.config.block)
        with closing(self._played(parameters, pieces[len(stored) :], pool)) as missing:
            for k, piece in enumerate(chain(stored, missing)):
                if k >= len(stored):
                    trial.set_user_attr(_name(k), piece)
                played += piece
                if k not in reported:
                    trial.report(fmean(piece if self.config.pruner == "wilcoxon" else played), k)
                judged = k < len(stored) - 1  # before the process was killed
                spared = trial.number == 0 or k + 1 == len(pieces)  # all is compared with the defaults on all deals
                if not judged and not spared and trial.should_prune():
                    study.tell(trial, state=TrialState.PRUNED)
                    return
        study.tell(trial, fmean(played))

    def _played(
        self, parameters: Parameters, pieces: Sequence[list[int]], pool: Pool | None
    ) -> Generator[list[float], None, None]:
        """The rewards of each block. A pool plays ahead of the judgement, deal by deal; closing this gives up what is left."""
        if pool is None:
            for deals in pieces:
                yield rewards(self.problem, parameters, deals)
            return
        calls = ((self.problem, parameters, [deal]) for deals in pieces for deal in deals)
        with closing(as_finished(pool, rewards, calls)) as finished:
            single = in_order(finished)
            for deals in pieces:
                yield [next(single)[0] for _ in deals]

    def _suggested(self, trial: Any, study: Any) -> dict[str, float]:
        """The parameters of a trial: those it has, and for the others what a freshly seeded sampler draws."""
        suggested: dict[str, float] = {}
        for k, parameter in enumerate(self.problem.space.parameters):
            study.sampler = TPESampler(seed=seeds.derive(self.config.seed, seeds.Purpose.SAMPLER, trial.number, k))
            if parameter.kind == "int":
                suggested[parameter.name] = trial.suggest_int(parameter.name, int(parameter.low), int(parameter.high))
            else:
                suggested[parameter.name] = trial.suggest_float(parameter.name, parameter.low, parameter.high)
        return suggested

    def measure(self, stage: str, arms: Mapping[str, Parameters], deals: Sequence[int]) -> dict[str, tuple[float, ...]]:
        """Let each arm play all the deals, or what is missing in the file of the stage, a name such as `held_out`.

        Args:
            stage: Names the file and the progress.
            arms: Name -> parameters.
            deals: Seeds, played in this order.

        Returns:
            Arm -> reward of each deal, in order.

        Raises:
            ParlourError: The file holds another measurement.
        """
        pieces = blocks(deals, self.config.block)
        shown = Stage(_SHOWN.get(stage, stage), len(arms) * len(deals), "deals")
        plain = {name: dict(values) for name, values in arms.items()}
        head = {"arms": plain, "deals": list(deals), "block": self.config.block}
        with JsonlStore(self.folder / f"{stage}.jsonl", _stored_block, "measurement", head) as store:
            measured = dict(store.found)
            missing = [(name, k) for k in range(len(pieces)) for name in arms if (name, k) not in measured]
            done = sum(map(len, measured.values()))
            self.progress(shown, done)
            calls = [(self.problem, arms[name], pieces[k]) for name, k in missing]
            for number, piece in carry_out(self.workers, rewards, calls):
                name, k = missing[number]
                measured[name, k] = piece
                store.append({"arm": name, "block": k, "rewards": piece})
                done += len(piece)
                self.progress(shown, done)
        return {name: tuple(reward for k in range(len(pieces)) for reward in measured[name, k]) for name in arms}


_SHOWN: Final = {
    "finals": "Comparing finalists",
    "held_out": "Testing on held-out deals",
}
"""What the progress calls a stage."""


def _stored_block(stored: Any) -> tuple[tuple[str, int], list[float]]:
    return (str(stored["arm"]), int(stored["block"])), [float(x) for x in stored["rewards"]]


def _name(block: int) -> str:
    return f"rewards of block {block}"


def _blocks(attributes: dict[str, Any]) -> list[list[float]]:
    return [attributes[name] for name in takewhile(attributes.__contains__, map(_name, count()))]


def _trials(study: Any) -> list[Trial]:
    return [
        Trial(
            trial.number,
            dict(trial.params),
            tuple(chain.from_iterable(_blocks(trial.user_attrs))),
            trial.state == TrialState.COMPLETE,
        )
        for trial in study.get_trials(deepcopy=False, states=_DONE)
    ]


# -- Optuna ------------------------------------------------------------------------------------------------------


@contextmanager
def open_study(config: TuneConfig, folder: Path) -> Iterator[Any]:
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
        warnings.simplefilter(
            "ignore", ExperimentalWarning
        )  # WilcoxonPruner is marked experimental; the version is pinned
        return WilcoxonPruner(p_threshold=_LEVEL, n_startup_steps=_WARM_UP)
