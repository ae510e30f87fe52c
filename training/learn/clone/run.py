"""`parlour train clone`: cross-validate a clone of the recorded players by game, then learn one from all games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.cloned.features import DECISIONS
from parlour.policies.cloned.network import ChoiceNetwork
from parlour.training.learn.clone import report
from parlour.training.learn.clone.choices import ImitatedChoice, by_kind, read_choices
from parlour.training.learn.clone.config import CloneConfig
from parlour.training.learn.clone.fit import fit, untaught
from parlour.training.learn.clone.models import learned
from parlour.training.learn.clone.scores import ALL, ChoiceScore, PredictedChoice, table, told_of
from parlour.training.results.runs import StageProgress, no_stage_progress, run_directory


@dataclass(frozen=True)
class Cloned:
    """What came out."""

    network: ChoiceNetwork
    """Learned from all games."""
    held_out: Sequence[PredictedChoice]
    """Each choice, by models that had not learned from its game."""
    scores: Sequence[ChoiceScore]


def clone(
    folder: str | Path, out: str | Path, config: CloneConfig | None = None, progress: StageProgress = no_stage_progress
) -> Cloned:
    """Learn a clone from a folder of transcripts and write it, with its scores, to a directory.

    Args:
        folder: Transcripts of Avalon (`*.jsonl`), recorded or played here.
        out: Gets `clone.npz` (for `--policy clone:FILE`), `scores.csv`, `calibration.csv`, `report.md`, `scores.png`.
        config: None for the defaults.
        progress: Is told the stage and how much of it is done.

    Raises:
        ParlourError: There are fewer games than folds, a file is no transcript of Avalon, or the directory cannot be used.
    """
    config = config or CloneConfig()
    choices = read_choices(folder, config.seed, progress)
    games = len({one.game for one in choices})
    if games < config.folds:
        raise ParlourError(f"{config.folds} folds of {games} games are not accepted; accepted: 2 to {games} folds")
    with run_directory(out, {**asdict(config), "games": games, "choices": len(choices)}) as directory:
        held_out = cross_validated(choices, config, progress)
        found = Cloned(_of_all(choices, config, progress), held_out, table(held_out))
        found.network.save(directory / report.PLAYER)
        report.write(directory, found.scores, held_out, found.network.told)
    return found


def cross_validated(
    choices: Sequence[ImitatedChoice], config: CloneConfig, progress: StageProgress = no_stage_progress
) -> list[PredictedChoice]:
    """What models say of choices from games that they have not learned from, in the order of kinds and choices."""
    games = sorted({one.game for one in choices})
    dealt = np.random.default_rng((config.seed, 0)).permutation(games)
    fold = {int(number): k % config.folds for k, number in enumerate(dealt)}
    kinds = by_kind(list(choices))
    found: list[PredictedChoice] = []
    for number, of_kind in enumerate(kinds.values()):
        said: dict[int, PredictedChoice] = {}
        for k in range(config.folds):
            train = [one for one in of_kind if fold[one.game] != k]
            models = learned(train, config.fit) if train else {}
            said |= {id(one): told_of(one, models) for one in of_kind if fold[one.game] == k}
            progress("cross-validation", number * config.folds + k + 1, len(kinds) * config.folds, "")
        found += [said[id(one)] for one in of_kind if said[id(one)].told]
    return found


def _of_all(choices: Sequence[ImitatedChoice], config: CloneConfig, progress: StageProgress) -> ChoiceNetwork:
    """The network from all games; a kind that was never decided is even."""
    kinds, heads = by_kind(list(choices)), {}
    for number, kind in enumerate(DECISIONS):
        heads[kind] = fit(kinds[kind], config.fit) if kind in kinds else untaught(kind)
        progress("learning from all games", number + 1, len(DECISIONS), "")
    told = {
        "games": len({one.game for one in choices}),
        "choices": {kind: len(of) for kind, of in kinds.items()},
        "players": sorted({one.players for one in choices}),
        "config": asdict(config),
    }
    return ChoiceNetwork(heads, told)


def summary(found: Cloned) -> dict[str, Any]:
    """What `--json` prints: what it was learned from, and the scores over all roles."""
    scores = [asdict(one) for one in found.scores if one.role == ALL]
    return {"learned_from": dict(found.network.told), "scores": scores}
