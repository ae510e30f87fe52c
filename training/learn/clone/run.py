"""`parlour train clone`: the models that are compared, cross-validated by game; then a clone learned from all games."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.cloned import ChoiceHead, ChoiceNetwork
from parlour.policies.cloned.features import DECISIONS
from parlour.policies.cloned.record import Array
from parlour.training.learn.clone import report
from parlour.training.learn.clone.choices import CloneConfig, FitConfig, ImitatedChoice, Rows, by_kind, read_choices
from parlour.training.learn.clone.fit import fit, unheard, untaught
from parlour.training.learn.clone.report import (
    AIDED,
    ALL,
    CHANCE,
    CLONE,
    FREQUENCY,
    HABITS,
    HEURISTIC,
    LOGISTIC,
    UNHEARD,
    ChoiceScore,
    Model,
    PredictedChoice,
    table,
    told_of,
)
from parlour.training.measure.statistics import plain
from parlour.training.results.loggers import Logger, loggers
from parlour.training.results.progress import Stage, StageProgress, counted, no_progress
from parlour.training.results.runs import run_directory

_ROUNDS: Final = 60
"""Rounds of expectation maximisation for one share."""


def learned(choices: Sequence[ImitatedChoice], config: FitConfig) -> dict[str, Model]:
    """All models for one kind of decision, by name.

    Args:
        choices: Choices of the training games; at least one, all of one kind.
        config: Settings of the clone.
    """
    head, logistic = fit(choices, config), fit(choices, replace(config, hidden=0))
    frequency = _frequency(choices)
    return {
        CLONE: lambda choice: _by_head(head, choice, choice.rows),
        UNHEARD: lambda choice: _by_head(head, choice, unheard(choice.kind, choice.rows)),
        LOGISTIC: lambda choice: _by_head(logistic, choice, choice.rows),
        HEURISTIC: _mixed(choices, _chance),
        AIDED: _mixed(choices, frequency),
        HABITS: lambda choice: choice.habits,
        FREQUENCY: frequency,
        CHANCE: _chance,
    }


def _by_head(head: ChoiceHead, choice: ImitatedChoice, rows: Rows) -> Array:
    return head.chances(rows.astype(np.float64), choice.group)


def _chance(choice: ImitatedChoice) -> Array:
    return np.full(len(choice.taken), 1 / len(choice.taken))


def _frequency(choices: Sequence[ImitatedChoice]) -> Model:
    sorts = 1 + max(int(choice.sorts.max()) for choice in choices)
    counted: dict[str, Array] = {}
    for moment in choices:
        counted.setdefault(moment.role, np.ones(sorts))
        np.add.at(counted[moment.role], moment.sorts, moment.taken)

    def model(choice: ImitatedChoice) -> Array:
        of_role = counted.get(choice.role, np.ones(sorts))
        of_sort = np.append(of_role, np.ones(max(0, int(choice.sorts.max()) + 1 - sorts)))
        weights = of_sort[choice.sorts] / np.bincount(choice.sorts)[choice.sorts]
        chances: Array = weights / weights.sum()
        return chances

    return model


def _mixed(choices: Sequence[ImitatedChoice], other: Model) -> Model:
    """The heuristic's draws with a share of another model, by which these choices are likeliest."""
    weights = np.concatenate([choice.taken[choice.taken > 0] for choice in choices])
    drawn = np.concatenate([choice.heuristic[choice.taken > 0] for choice in choices])
    mixed_in = np.concatenate([other(choice)[choice.taken > 0] for choice in choices])
    share = 0.5
    for _ in range(_ROUNDS):
        from_other = share * mixed_in / (share * mixed_in + (1 - share) * drawn)
        share = float(from_other @ weights / weights.sum())
    return lambda choice: (1 - share) * choice.heuristic + share * other(choice)


@dataclass(frozen=True)
class Cloned:
    """What came out."""

    network: ChoiceNetwork
    """Learned from all games."""
    held_out: Sequence[PredictedChoice]
    """Each choice, by models that had not learned from its game."""
    scores: Sequence[ChoiceScore]


def clone(
    folder: str | Path,
    out: str | Path,
    config: CloneConfig | None = None,
    progress: StageProgress = no_progress,
    log: Iterable[str] = (),
) -> Cloned:
    """Learn a clone from a folder of transcripts and write it, with its scores, to a directory.

    Args:
        folder: Transcripts of Avalon (`*.jsonl`), recorded or played here.
        out: Gets `clone.npz` (for `--policy clone:FILE`), `scores.csv`, `calibration.csv`, `report.md`, `scores.png`.
        config: None for the defaults.
        progress: Called with the stage and how much of it is done.
        log: Loggers beside progress.csv, which has the log-likelihood of each fit on the games it left out.

    Raises:
        ParlourError: There are fewer games than folds, a file is no transcript of Avalon, or the directory cannot be used.
    """
    config = config or CloneConfig()
    choices = read_choices(folder, config.seed, progress)
    games = len({choice.game for choice in choices})
    if games < config.folds:
        raise ParlourError(f"{config.folds} folds of {games} games are not accepted; accepted: 2 to {games} folds")
    with run_directory(out, {**asdict(config), "games": games, "choices": len(choices)}) as directory:
        with loggers(directory, log) as logger:
            held_out = cross_validated(choices, config, progress, logger)
        cloned = Cloned(_of_all(choices, config, progress), held_out, table(held_out))
        cloned.network.save(directory / report.PLAYER)
        report.write(directory, cloned.scores, held_out, cloned.network.told)
    return cloned


def cross_validated(
    choices: Sequence[ImitatedChoice],
    config: CloneConfig,
    progress: StageProgress = no_progress,
    logger: Logger | None = None,
) -> list[PredictedChoice]:
    """What models say about choices from games that they have not learned from, in the order of kinds and choices."""
    games = sorted({choice.game for choice in choices})
    dealt = np.random.default_rng((config.seed, 0)).permutation(games)
    fold = {int(number): k % config.folds for k, number in enumerate(dealt)}
    kinds = by_kind(list(choices))
    cases: list[PredictedChoice] = []
    stage = Stage("Cross-validating", len(kinds) * config.folds, "fits")
    progress(stage, 0)
    for number, of_kind in enumerate(kinds.values()):
        said: dict[int, PredictedChoice] = {}
        for k in range(config.folds):
            train = [case for case in of_kind if fold[case.game] != k]
            models = learned(train, config.fit) if train else {}
            tested = {id(case): told_of(case, models) for case in of_kind if fold[case.game] == k}
            said |= tested
            if logger is not None:
                logs = [
                    predicted.predictions[CLONE].log for predicted in tested.values() if CLONE in predicted.predictions
                ]
                kind = of_kind[0].kind
                metrics = {f"eval/log_likelihood_{kind}": fmean(logs) if logs else None}
                logger.log(metrics, number * config.folds + k + 1)
            progress(stage, number * config.folds + k + 1)
        cases += [said[id(case)] for case in of_kind if said[id(case)].predictions]
    return cases


def _of_all(choices: Sequence[ImitatedChoice], config: CloneConfig, progress: StageProgress) -> ChoiceNetwork:
    """The network from all games; a kind that was never decided is even."""
    kinds, heads = by_kind(list(choices)), {}
    stage = Stage("Learning from all games", len(DECISIONS), "kinds of decisions")
    for kind in counted(DECISIONS, stage, progress):
        heads[kind] = fit(kinds[kind], config.fit) if kind in kinds else untaught(kind)
    source = {
        "games": len({choice.game for choice in choices}),
        "choices": {kind: len(of) for kind, of in kinds.items()},
        "players": sorted({choice.players for choice in choices}),
        "config": asdict(config),
    }
    return ChoiceNetwork(heads, source)


def summary(cloned: Cloned) -> dict[str, Any]:
    """What `--json` prints: what it was learned from, and the scores over all roles."""
    scores = [plain(score) for score in cloned.scores if score.role == ALL]
    return {"learned_from": dict(cloned.network.told), "scores": scores}
