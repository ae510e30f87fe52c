"""What the examples of docs/integrations share: one table, and one measurement of what was learned there.

The table: Avalon with five players, rules `official`, without talk; a game of about 60 moves, 99 features, 30 actions.
The measurement: who was trained and who plays at random take the same seat of the same held-out deals, the seat going
round, among opponents who play at random.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from parlour.envs.registry import lookup
from parlour.policies import RandomPolicy
from parlour.training.measure import evaluate
from parlour.training.play import seeds
from parlour.training.play.rollout import table
from parlour.training.play.runner import GameRunner
from parlour.training.runs.progress import StageProgress, no_progress
from parlour.wrappers import LearnerSeats

GAME: Final = "avalon_v0"
OPTIONS: Final[Mapping[str, Any]] = {"num_players": 5, "rules": "official", "talk": False}
DEALS: Final = 1000


def learner_env(learners: int = 1, opponents: str = RandomPolicy.name, **game: Any) -> LearnerSeats:
    """The table as an AEC environment with learners at seats that are drawn for each game.

    Args:
        learners: How many; the agents are `learner_0`, ...
        opponents: Name of the policy that plays the other seats.
        game: Options of Avalon that differ from the table's, such as `num_players=7`.
    """
    return LearnerSeats(lookup(GAME).raw_env(info="full", **{**OPTIONS, **game}), opponents, seats=learners)


def options(description: str | None, steps: int, out: str, **parser: Any) -> argparse.Namespace:
    """The options of an example: `steps`, `seed` and `out`, with their defaults; `parser` as `ArgumentParser` takes it."""
    arguments = argparse.ArgumentParser(description=description, **parser)
    arguments.add_argument("--steps", type=int, default=steps, help="decisions of the learner")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--out", type=Path, default=Path(out))
    return arguments.parse_args()


def against_random(
    name: str, make: Callable[[], Any], deals: int = DEALS, progress: StageProgress = no_progress
) -> evaluate.Evaluation:
    """Win rates of a player and of `random` in the same seat of the same held-out deals, and their paired difference.

    Args:
        name: What the player is called in the report.
        make: Makes it: a `parlour.policies.Policy`.
        deals: How many; two games each.
        progress: Counts the games.
    """
    candidates = {name: make, RandomPolicy.name: RandomPolicy}
    opponents = (RandomPolicy.name, RandomPolicy)
    return evaluate.single(
        table(GAME, **OPTIONS), candidates, opponents, seeds.HELD_OUT[:deals], GameRunner(progress=progress)
    )
