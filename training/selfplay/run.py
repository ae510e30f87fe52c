"""A whole run of self-play in a folder: learn in phases, let all members play each other on held-out deals, rate, report.

Leaves config.json, checkpoint.zip, snapshots/ and phases/; policy.npz, the last snapshot; training.csv and roles.csv, the
games learned from; crossplay.jsonl, crossplay.csv and crossplay.png; curve.csv and curve.png; ratings.csv; seat.csv, one seat
among heuristics; summary.json and report.md. Every stage resumes where a kill left it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

from parlour.policies import HeuristicPolicy, make_policy
from parlour.policies.files import atomic_write, write_json
from parlour.training import evaluate, rollout, seeds
from parlour.training.ppo.phase_config import NOT_DECIDING
from parlour.training.runs import StageProgress, no_stage_progress, run_directory
from parlour.training.selfplay import crossplay, pictures, pool, ratings, report, tables
from parlour.training.selfplay.config import RANDOM, RULE, SelfplayConfig
from parlour.training.selfplay.learn import learn
from parlour.training.selfplay.population import Population

POLICY: Final = "policy.npz"


def selfplay(
    config: SelfplayConfig,
    out: str | Path,
    progress: StageProgress = no_stage_progress,
) -> Population:
    """Train a population, or resume the run in `out`, and measure it on held-out deals.

    Args:
        config: What to train. A run in `out` is resumed only if it has the same.
        out: Run directory.
        progress: Told what was done of a stage since the last call.

    Raises:
        ParlourError: `out` holds a run with another configuration or is in use, or the configuration cannot be used.
    """
    sides = two_sides(config)
    with run_directory(out, asdict(config), NOT_DECIDING) as folder:
        return _selfplay(config, sides, folder, progress)


def _selfplay(config: SelfplayConfig, sides: tuple[str, str], folder: Path, progress: StageProgress) -> Population:
    steps = config.phases * config.phase_steps
    finished = learn(config, sides, folder, lambda done, note: progress("learning", done, steps, note))
    tables.write_training(config, finished, folder)
    last = pool.snapshot_path(folder, config.phases - 1)
    atomic_write(folder / POLICY, last.read_bytes())
    members = pool.thinned(pool.members(config, folder, config.phases), config.shown)
    games = crossplay.total(config, members)
    played = crossplay.play_pairs(config, members, folder, lambda done: progress("cross-play", done, games, ""))
    found = Population(
        config, sides, tuple(finished), played, tuple(ratings.rated(played, config.seed)), _one_seat(config, members)
    )
    tables.write(found, folder)
    pictures.crossplay(found, folder / "crossplay.png")
    pictures.curve(found, folder / "curve.png")
    write_json(folder / "summary.json", report.summary(found))
    atomic_write(folder / "report.md", report.text(found))
    return found


def two_sides(config: SelfplayConfig) -> tuple[str, str]:
    """The sides of the game, in the order of the alphabet; all members of the pool are made once.

    Raises:
        ParlourError: The game cannot be made, has no two sides, or a member cannot play it.
    """
    base = rollout.table(config.game, **config.options).game_env
    for name in (*config.members, RANDOM, RULE):
        make_policy(name, base.spec.id, base.game.config)
    one, other = sorted(evaluate.two_sides(base.spec))
    return one, other


def _one_seat(config: SelfplayConfig, members: list[pool.Member]) -> evaluate.Report:
    """The last snapshot, the first, `heuristic` and `random` in one seat, going round; the other seats are heuristics."""
    env = rollout.table(config.game, **config.options)
    game, rules = env.game_env.spec.id, env.game_env.game.config
    snapshots = [one for one in members if one.steps is not None]
    chosen = {one.name: one for one in (snapshots[-1], snapshots[0])} | {
        one.name: one for one in members if one.name in (RULE, RANDOM)
    }
    makers = {name: lambda one=one: one.seat(game, rules) for name, one in chosen.items()}
    return evaluate.single(env, makers, (RULE, HeuristicPolicy), seeds.HELD_OUT[: config.test_deals])
