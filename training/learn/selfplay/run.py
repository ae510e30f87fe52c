"""A whole run of self-play in a folder: imitate, learn in phases, let members play each other on held-out deals, rate, report.

Leaves config.json, checkpoint.npz, snapshots/ and phases/; policy.npz, the last snapshot; progress.csv and training.csv, which
grow while it learns; crossplay.jsonl; and the files of the report: crossplay.csv and crossplay.png, curve.csv, ratings.csv,
seat.csv (one seat among heuristics), summary.json and report.md. Every stage resumes where a kill left it.

How well the network knows the roles of the others is measured beside the belief by fixed habits: log loss on its games against
itself. The network's head predicts the role of each other seat from the same hidden layers as the policy (`SelfplayConfig.infer`);
the belief by habits is that of the features (`envs/<game>/belief.py`). Both give three probabilities for each other seat at every
decision: the second side, the role that this side looks for (Merlin, the seer), anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.batch.tables import BatchTables
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies.files import atomic_write, read_json
from parlour.training.learn.batch import matches
from parlour.training.learn.batch.networks import NetworkPlayer, use_one_thread
from parlour.training.learn.selfplay import crossplay, pool, report
from parlour.training.learn.selfplay.collect import judges
from parlour.training.learn.selfplay.config import NOT_DECIDING, OF_0_3, RANDOM, RULE, UNUSED_OF_0_3, SelfplayConfig
from parlour.training.learn.selfplay.learn import learn
from parlour.training.learn.selfplay.learner import SelfplayLearner, on_device
from parlour.training.learn.selfplay.report import Population, RoleLoss
from parlour.training.measure import evaluate
from parlour.training.play import seeds
from parlour.training.play.parallel.executor import Workers, carry_out
from parlour.training.report.report import SUMMARY_FILE, Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import WIN_RATE
from parlour.training.runs.folder import CONFIG
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import COUNT, SHARE_DIFFERENCE, Estimate

_LEAST: Final = 1e-4
"""A chance below it counts as this one, for both."""
_SOUGHT: Final = ("Merlin", "Seer")
Chances = NDArray[np.float32]


def measure_roles(learner: SelfplayLearner, tables: BatchTables, deals: Sequence[int]) -> RoleLoss:
    """Play the policy against itself and ask both at every decision.

    Args:
        learner: With a head that has learned.
        tables: Made with `autoreset=None` and a belief among the features, one for each deal.
        deals: Held-out seeds.

    Raises:
        ParlourError: The features hold no belief by habits.
    """
    turns = tables.reset(list(deals))
    reader = _Reader(learner, tables)
    player = NetworkPlayer("learner", learner.playing(), tables.names)
    use_one_thread()
    player.reset(tables, list(deals), 0)
    actions = np.zeros(tables.num_envs, np.int32)
    sums, counts = np.zeros((2, tables.num_envs)), np.zeros(tables.num_envs)
    while (turns.actor >= 0).any():
        rows = np.flatnonzero(turns.actor >= 0).astype(np.int32)
        truth = reader.truth()[rows]
        for number, chances in enumerate(
            (reader.by_head(turns.observation[rows]), reader.by_habits(turns.observation[rows]))
        ):
            given = np.maximum((chances * truth).sum(axis=2), _LEAST)
            sums[number, rows] -= np.log(given).mean(axis=1)
        counts[rows] += 1
        player.choose(turns, rows, actions)
        turns = tables.step(actions)
    head, habits = sums / counts
    return RoleLoss(Estimate.mean(head, COUNT), Estimate.mean(habits, COUNT), Estimate.mean(head - habits))


class _Reader:
    """Three chances for each other seat, in the frame of the seat to move: arrays of shape (rows, n - 1, 3)."""

    def __init__(self, learner: SelfplayLearner, tables: BatchTables) -> None:  # of tables that have been dealt
        self._learner, self._tables = learner, tables
        names = [name for name in tables.names if "onlooker" not in name]
        second = [k for k, name in enumerate(names) if _believed(name) and ("evil" in name or "werewolf" in name)]
        sought = [
            k for k, name in enumerate(names) if _believed(name) and any(role in name for role in ("Merlin", "seer"))
        ]
        if len(second) != tables.seats or len(sought) != tables.seats:
            raise ParlourError(f"features {tables.features!r} hold no belief; accepted: belief, record+belief")
        at = {name: k for k, name in enumerate(tables.names)}
        self._columns = [[at[names[k]] for k in columns[1:]] for columns in (second, sought)]
        roles, seconds = tables.game.role_names, tables.side == 1
        self._class = np.zeros((len(roles), 3), np.float32)
        for k, role in enumerate(roles):
            of_second = bool(seconds[tables.roles == k].any())
            self._class[k, 0 if of_second else 1 if role in _SOUGHT else 2] = 1

    def truth(self) -> Chances:
        hidden = self._tables.hidden().reshape(self._tables.num_envs, self._tables.seats, -1)[:, 1:]
        chances: Chances = hidden @ self._class
        return chances

    def by_head(self, observation: Chances) -> Chances:
        with torch.inference_mode():
            inside = self._learner.policy[:-1](torch.from_numpy(observation))
            logits = self._learner.head(inside).reshape(len(observation), self._tables.seats, -1)[:, 1:]
            chances: Chances = torch.softmax(logits, dim=2).numpy() @ self._class
        return chances

    def by_habits(self, observation: Chances) -> Chances:
        second, sought = (observation[:, columns] for columns in self._columns)
        return np.stack([second, sought, np.maximum(0, 1 - second - sought)], axis=2)


def _believed(name: str) -> bool:
    return name.startswith(("mine:", "I think:"))


POLICY: Final = "policy.npz"


def selfplay(config: SelfplayConfig, run: Run) -> Population:
    """Train a population, or resume a run, and measure it on held-out deals.

    Args:
        config: What to train. The run is resumed only if it has the same.
        run: Where.

    Raises:
        ParlourError: The directory holds a run with another configuration or is in use, or the configuration cannot be used.
    """
    sides = two_sides(config)
    with run.opened(config.plain(), _may_differ(run.path)) as folder:
        finished = learn(config, run)
        last = pool.snapshot_path(folder, finished[-1].number)
        atomic_write(folder / POLICY, last.read_bytes())
        members = pool.thinned(pool.members(config, folder, [phase.steps for phase in finished]), config.shown)
        played = crossplay.play_pairs(config, members, run)
        population = Population(
            config,
            sides,
            tuple(finished),
            played,
            tuple(crossplay.rated(played, config.seed)),
            _one_seat(config, members),
            _role_loss(config, run),
        )
        report.report(population).write(folder)
    return population


def _may_differ(path: Path | None) -> tuple[str, ...]:
    """Settings that may differ from those of the stored run; one of version 0.3 has more of them."""
    there = read_json(path / CONFIG) if path is not None and (path / CONFIG).is_file() else {}
    return (*NOT_DECIDING, *UNUSED_OF_0_3, *(name for name, value in OF_0_3.items() if there.get(name) == value))


def two_sides(config: SelfplayConfig) -> tuple[str, str]:
    """The sides of the game; all fixed players are made once.

    Raises:
        ParlourError: The game cannot be made, has no two sides, or a member cannot play it.
    """
    on_device(config.device)
    first, second = evaluate.two_sides(lookup(config.game).spec)
    tables = pool.tables_for(config, 1)
    judges(config.prices, tables)
    for name in (RANDOM, RULE, *config.members, *(member for family in pool.families(config) for member in family)):
        pool.batch_player(name, tables)
    if config.start != "none" and not Path(config.start).is_dir():
        pool.batch_player(config.start, tables)
    return first, second


def _one_seat(config: SelfplayConfig, members: list[pool.Member]) -> dict[str, matches.SeatResult]:
    """The last snapshot, the first and `random` in one seat, going round; the other seats are heuristics."""
    snapshots = [member for member in members if member.steps is not None]
    chosen = [snapshots[-1], snapshots[0], *(member for member in members if member.name == RANDOM)]
    floor = pool.tables_for(config, min(1000, config.test_deals), autoreset=None)
    rule = pool.batch_player(RULE, floor)
    deals = seeds.HELD_OUT[: config.test_deals]
    return {
        member.name: matches.one_seat(floor, pool.batch_player(member.source, floor, member.name), rule, rule, deals)
        for member in chosen
    }


def _role_loss(config: SelfplayConfig, run: Run) -> RoleLoss | None:
    """How well the head knows the roles in games of the network against itself; None where it did not learn to."""
    deals = seeds.HELD_OUT[: config.deals]
    floor = pool.tables_for(config, len(deals), autoreset=None)
    if not config.infer or "belief" not in floor.features:
        return None
    learner = SelfplayLearner(config, floor)
    run.restore(learner.load_state_dict)
    return measure_roles(learner, floor, deals)


# -- the same run with several seeds, each in a process and a folder of its own -----------------------------------


@dataclass(frozen=True)
class Repeat:
    """What one seed came to, in points against the heuristic; see `parlour.training.learn.batch.matches`."""

    seed: int
    whole_sides: Estimate
    one_seat: Estimate
    steps: int
    seconds: float


def repeat(config: SelfplayConfig, count: int, run: Run, workers: Workers) -> list[Repeat]:
    """Train with the seeds `config.seed`, `config.seed + 1`, ...; what is finished is not trained again.

    Args:
        config: Settings of all runs, except for the seed.
        count: How many.
        run: Run k is in its folder `seed-k`.
        workers: Who trains.
    """
    out = run.path or Path()
    chosen = [(config.replace(seed=config.seed + k), out / f"seed-{config.seed + k}") for k in range(count)]
    stage = Stage(f"Training {config.game} with {count} seeds", count, "runs")
    run.progress(stage, 0)
    calls = [(seed, folder, run.loggers) for seed, folder in chosen]
    for done, _ in enumerate(carry_out(workers, _train_seed, calls), 1):
        run.progress(stage, done)
    repeats = [_read(seed.seed, read_json(folder / SUMMARY_FILE)) for seed, folder in chosen]
    repeats_report(config, repeats).write(out)
    return repeats


def _train_seed(config: SelfplayConfig, folder: Path, log: tuple[str, ...]) -> None:
    selfplay(config, Run(folder, log=log))


def _read(seed: int, summary: dict[str, Any]) -> Repeat:
    last = summary["last"]
    (own,) = (difference for difference in summary["differences"] if (difference["a"], difference["b"]) == (last, RULE))
    whole = Estimate.of_json({name: own[name] for name in ("n", "mean", "low", "high", "p")})
    return Repeat(seed, whole, Estimate.of_json(summary["seat"][last]), summary["steps"], summary["seconds"])


def repeats_report(config: SelfplayConfig, repeats: list[Repeat]) -> Report:
    """Each seed, the means over seeds, and the mean beside the heuristic."""
    columns = (
        Column("seed"),
        *(Column(name, "+.1f", 100) for name in ("whole sides", "one seat")),
        Column("decisions", ",d"),
        Column("processor time", ",.0f", unit=" s"),
    )
    means = {name: _over_seeds(repeats, name) for name in ("whole_sides", "one_seat")}
    rows = [(made.seed, made.whole_sides, made.one_seat, made.steps, made.seconds) for made in repeats]
    title = f"Points against {RULE} on {config.game} (95 % interval by deal; that of the mean is by seed)"
    return Report(
        f"Self-play, {len(repeats)} seeds",
        WIN_RATE.of("seeds").compared("self-play", "the heuristic", means["whole_sides"]),
        (ResultTable(title, columns, (*rows, ("mean", *means.values(), None, None))),),
        values={"seeds": [plain(made) for made in repeats], **{name: plain(mean) for name, mean in means.items()}},
    )


def _over_seeds(repeats: list[Repeat], name: str) -> Estimate:
    """The mean of one measure over the seeds."""
    return Estimate.mean([getattr(repetition, name).value for repetition in repeats], SHARE_DIFFERENCE)
