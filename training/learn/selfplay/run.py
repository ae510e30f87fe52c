"""A whole run of self-play in a folder: imitate, learn in phases, let members play each other on held-out deals, rate, report.

Leaves config.json, checkpoint.npz, snapshots/ and phases/; policy.npz, the last snapshot; progress.csv and training.csv, which
grow while it learns; crossplay.jsonl, crossplay.csv and crossplay.png; curve.csv and curve.png; ratings.csv; seat.csv, one
seat among heuristics; summary.json and report.md. Every stage resumes where a kill left it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

from parlour.envs.registry import lookup
from parlour.policies.files import atomic_write, write_json
from parlour.training.learn.batch import matches
from parlour.training.learn.selfplay import crossplay, pictures, pool, report
from parlour.training.learn.selfplay.config import NOT_DECIDING, RANDOM, RULE, SelfplayConfig
from parlour.training.learn.selfplay.learn import CHECKPOINT, learn
from parlour.training.learn.selfplay.learner import SelfplayLearner, on_device
from parlour.training.learn.selfplay.report import Population
from parlour.training.learn.selfplay.role_beliefs import RoleLoss, measure
from parlour.training.measure import evaluate
from parlour.training.play import seeds
from parlour.training.results.pages.report import write_report
from parlour.training.results.runs import StageProgress, no_stage_progress, run_directory

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
    finished = learn(config, folder, lambda done, note: progress("learning", done, config.steps, note))
    last = pool.snapshot_path(folder, finished[-1].number)
    atomic_write(folder / POLICY, last.read_bytes())
    members = pool.thinned(pool.members(config, folder, [phase.steps for phase in finished]), config.shown)
    games = crossplay.total(config, members)
    played = crossplay.play_pairs(config, members, folder, lambda done: progress("cross-play", done, games, ""))
    found = Population(
        config,
        sides,
        tuple(finished),
        played,
        tuple(crossplay.rated(played, config.seed)),
        _one_seat(config, members),
        _role_loss(config, folder),
    )
    report.write_tables(found, folder)
    pictures.crossplay(found, folder / "crossplay.png")
    pictures.curve(found, folder / "curve.png")
    write_json(folder / "summary.json", report.summary(found))
    write_report(folder, report.text(found))
    return found


def two_sides(config: SelfplayConfig) -> tuple[str, str]:
    """The sides of the game; all fixed players are made once.

    Raises:
        ParlourError: The game cannot be made, has no two sides, or a member cannot play it.
    """
    on_device(config.device)
    first, second = evaluate.two_sides(lookup(config.game).spec)
    tables = pool.tables_for(config, 1)
    for name in (RANDOM, RULE, *config.members):
        pool.batch_player(name, tables)
    if config.start != "none" and not Path(config.start).is_dir():
        pool.batch_player(config.start, tables)
    return first, second


def _one_seat(config: SelfplayConfig, members: list[pool.Member]) -> dict[str, matches.SeatResult]:
    """The last snapshot, the first and `random` in one seat, going round; the other seats are heuristics."""
    snapshots = [one for one in members if one.steps is not None]
    chosen = [snapshots[-1], snapshots[0], *(one for one in members if one.name == RANDOM)]
    floor = pool.tables_for(config, min(1000, config.test_deals), autoreset=False)
    rule = pool.batch_player(RULE, floor)
    deals = seeds.HELD_OUT[: config.test_deals]
    return {
        one.name: matches.one_seat(floor, pool.batch_player(one.source, floor, one.name), rule, rule, deals)
        for one in chosen
    }


def _role_loss(config: SelfplayConfig, folder: Path) -> RoleLoss | None:
    """How well the head knows the roles in games of the network against itself; None where it did not learn to."""
    deals = seeds.HELD_OUT[: config.deals]
    floor = pool.tables_for(config, len(deals), autoreset=False)
    if not config.infer or "belief" not in floor.features:
        return None
    learner = SelfplayLearner(config, floor)
    learner.load(folder / CHECKPOINT)
    return measure(learner, floor, deals)
