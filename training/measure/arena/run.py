"""A whole arena: play what is missing, rate, report.

Leaves config.json, games.jsonl, cells.csv, pairs.csv, standing.csv, summary.json, arena.png (with matplotlib) and the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parlour.training.measure.arena.config import ArenaConfig
from parlour.training.measure.arena.games import play_games
from parlour.training.measure.arena.report import report_of
from parlour.training.measure.arena.result import ArenaResult
from parlour.training.measure.evaluate import two_sides
from parlour.training.play.parallel.concurrent_games import MakePolicy
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.runs.run import Run
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv

_MAY_CHANGE: Final = ("games", "resamples")
"""Settings that may change when a run resumes: more deals follow the played deals."""


def arena(
    env: AECEnv[str, Any, Any],
    config: ArenaConfig,
    makers: Mapping[str, MakePolicy],
    out: Path | None = None,
    runner: GameRunner = ONE_AT_A_TIME,
) -> ArenaResult:
    """Let all players meet, or resume the run in `out`, and rate them.

    Args:
        env: What `rollout.table` makes.
        config: Who plays, and which deals.
        makers: Name -> policy.
        out: The directory of the run; None: nothing is stored.
        runner: How games are played.

    Raises:
        ParlourError: The game has not two sides, or `out` holds a run with other settings or is in use.
    """
    sides = two_sides(inner_game(env, "the arena", full=True).spec)
    with Run(out).opened(config.stored, _MAY_CHANGE) as folder:
        result = ArenaResult(config, sides, tuple(play_games(env, config, makers, folder, runner)))
        if out is not None:
            report_of(result).write(folder, page=True)
    return result
