"""Several parameter sets on the same deals, stored block by block in one file, so that a killed measurement resumes.

The file is JSON by lines: a head that says what is measured, then one line for each block in any order. A last line that a
kill cut off is dropped. Rewards are functions of parameters and deals, so the result does not depend on how many
processes played it, nor on when they stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlour.training.learn.tuning.config import blocks
from parlour.training.learn.tuning.problem import Problem, rewards
from parlour.training.learn.tuning.space import Parameters
from parlour.training.play.parallel.executor import Workers, carry_out
from parlour.training.results.runs import JsonlStore, StageProgress

Key = tuple[str, int]  # arm, number of the block
TrialJob = tuple[Key, Parameters, list[int]]


def measure(
    problem: Problem,
    arms: Mapping[str, Parameters],
    deals: Sequence[int],
    path: Path,
    *,
    block: int,
    workers: Workers,
    progress: StageProgress,
    stage: str,
) -> dict[str, tuple[float, ...]]:
    """Let each arm play all the deals, or what is missing in the file.

    Args:
        problem: Gives the rewards.
        arms: Name -> parameters.
        deals: Seeds, played in this order.
        path: The file.
        block: Deals between two lines of the file.
        workers: Processes that play; with 1, this one. Or a pool.
        progress: Told about deals played, summed over arms.
        stage: What `progress` calls it.

    Returns:
        Arm -> reward of each deal, in order.

    Raises:
        ParlourError: The file holds another measurement.
    """
    pieces = blocks(deals, block)
    head = {"arms": {name: dict(values) for name, values in arms.items()}, "deals": list(deals), "block": block}
    total = len(arms) * len(deals)
    with JsonlStore(path, _block, "measurement", head) as store:
        found = dict(store.found)
        jobs: list[TrialJob] = [
            ((name, k), values, piece)
            for k, piece in enumerate(pieces)
            for name, values in arms.items()
            if (name, k) not in found
        ]
        done = sum(map(len, found.values()))
        progress(stage, done, total, "")
        for number, piece in carry_out(workers, rewards, [(problem, values, piece) for _, values, piece in jobs]):
            key = jobs[number][0]
            found[key] = piece
            store.append({"arm": key[0], "block": key[1], "rewards": piece})
            done += len(piece)
            progress(stage, done, total, "")
    return {name: tuple(reward for k in range(len(pieces)) for reward in found[name, k]) for name in arms}


def _block(stored: Any) -> tuple[Key, list[float]]:
    return (str(stored["arm"]), int(stored["block"])), [float(x) for x in stored["rewards"]]
