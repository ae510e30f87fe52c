"""The learner's phases: first imitation, then self-play; each phase ends with a snapshot, its scores, and a checkpoint.

The files of a phase are written before the checkpoint, which says how many phases are done. What a kill left of a phase that
was not finished is written anew, with the same bytes: each phase deals all tables afresh from seeds of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.training.learn.batch import matches
from parlour.training.learn.batch.players import NetworkPlayer
from parlour.training.learn.checkpoints import Checkpoint
from parlour.training.learn.selfplay import exploiters, pool, seating
from parlour.training.learn.selfplay import tables as written
from parlour.training.learn.selfplay.collect import Clock, Floor
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.selfplay.learner import SelfplayLearner, rates
from parlour.training.learn.selfplay.phase import Phase, read_phase, write_phase
from parlour.training.learn.selfplay.recorded import decisions
from parlour.training.learn.selfplay.seating import ALONE, WHOLE_SIDE, SelfplaySeating
from parlour.training.play import seeds

CHECKPOINT: Final = "checkpoint.npz"
_SEATING: Final = 3  # what seeds are derived for


def learn(
    config: SelfplayConfig, sides: Sequence[str], folder: Path, progress: Callable[[int, str], None]
) -> list[Phase]:
    """Play all phases, or those that are missing in the folder.

    Args:
        config: How.
        sides: The two sides of the game.
        folder: Run directory.
        progress: Told the number of decisions since the last call, and how it stands.
    """
    tables = pool.tables_for(config, config.tables)
    learner = SelfplayLearner(config, tables)
    checkpoint = Checkpoint(folder / CHECKPOINT)
    finished: list[Phase] = []
    if (told := checkpoint.load(learner.load)) is not None:
        finished = [read_phase(folder, number) for number in range(told["phases"])]
        progress(finished[-1].steps, _note(finished[-1]))
    run = _Run(config, sides, folder, tables, learner, progress)
    while not finished or finished[-1].share < 1:
        phase = run.play_seats(finished) if finished else run.imitate()
        snapshot = pool.snapshot_path(folder, phase.number)
        learner.seat(tables).save(snapshot)
        write_phase(folder, phase)
        finished.append(phase)
        written.write_training(finished, folder)
        checkpoint.save(partial(learner.save, told={"phases": len(finished)}))
        progress(0, _note(phase))
    return finished


@dataclass(frozen=True)
class _Run:
    config: SelfplayConfig
    sides: Sequence[str]
    folder: Path
    tables: BatchTables
    learner: SelfplayLearner
    progress: Callable[[int, str], None]

    def imitate(self) -> Phase:
        """Phase 0: learn to play as another player does, and what it leads to."""
        config, learner, started = self.config, self.learner, process_time()
        games, loss = imitate(config, self.tables, learner, self.progress)
        learner.begin()
        return Phase(0, 0, process_time() - started, 0.0, games, (), {"imitation": loss}, self._validate())

    def play_seats(self, finished: Sequence[Phase]) -> Phase:
        """One phase of self-play."""
        config, learner, last = self.config, self.learner, finished[-1]
        number, started, clock = len(finished), process_time(), Clock()
        if config.anchor == "moving" and number > 1 and (number - 1) % config.anchor_every == 0:
            learner.set_anchor()
        rng = np.random.default_rng(seeds.derive(config.seed, number, _SEATING))
        if exploiters.due(config, number):
            for side in (0, 1):
                exploiters.train(config, self.tables, learner, self.folder, number, side)
        earlier = self._earlier(number)
        fixed = self._fixed()
        scores = [phase.scores for phase in finished]
        met = {side: [path.stem for path in paths] for side, paths in earlier.items()}
        seated = seating.seating(config, self.sides, self.tables.seats, fixed, met, scores, rng)
        floor = Floor(
            self.tables,
            seated,
            self._opponents(seated, [path for paths in earlier.values() for path in paths]),
            exploiters.seeds_of_tables(config, number),
            self.sides,
            config.turns,
            config.believed,
        )
        own = NetworkPlayer("learner", learner.playing(), self.tables.names)
        own.reset(self.tables, exploiters.seeds_of_tables(config, number), 0)
        now, steps, losses = rates(config, last.share), last.steps, {}
        for _ in range(config.updates):
            own.network = learner.playing()
            found = floor.collect(own, clock)
            before = process_time()
            losses = learner.update(found, now)
            clock.learning += process_time() - before
            steps += len(found.action)
            speed = (steps - last.steps) / (process_time() - started)
            self.progress(len(found.action), f"{_note(last)}; {speed:,.0f} decisions/s ({clock.shares()})")
            if steps >= config.steps:
                break
        seconds = last.seconds + process_time() - started
        share = min(1.0, max(steps / config.steps, seconds / (60 * config.minutes) if config.minutes else 0.0))
        return Phase(
            number, steps, round(seconds, 1), share, floor.games, tuple(floor.scores()), losses, self._validate()
        )

    def _earlier(self, number: int) -> dict[str, list[Path]]:
        """Side of the network -> snapshots, and exploiters of the other side, from before a phase."""
        snapshots = [pool.snapshot_path(self.folder, k) for k in range(number)]
        phases = [k for k in range(number + 1) if exploiters.due(self.config, k)]
        return {
            own: snapshots + [pool.exploiter_path(self.folder, k, other) for k in phases]
            for own, other in zip(self.sides, reversed(self.sides), strict=True)
        }

    def _fixed(self) -> tuple[str, ...]:
        """Names of the players that are met from the beginning."""
        first = pool.snapshot_path(self.folder, 0).stem if self.config.fixed == "start" else RULE
        return (first, *self.config.members) if self.config.fixed_share else ()

    def _opponents(self, seated: SelfplaySeating, snapshots: Sequence[Path]) -> dict[str, BatchPlayer]:
        met = {seated.opponents[k] for k in np.unique(seated.opponent) if k != ALONE}
        sources = {name: name for name in (RULE, *self.config.members)} | {one.stem: str(one) for one in snapshots}
        return {name: pool.batch_player(sources[name], self.tables, name) for name in met}

    def _validate(self) -> dict[str, tuple[int, int]]:
        """Whole sides against the heuristic, where there is one over arrays."""
        config = self.config
        spec = self.tables.spec
        if not spec.heuristic or (spec.batch and not spec.batch_heuristic):
            return {}
        tables = pool.tables_for(config, config.validation_deals, autoreset=False)
        own = NetworkPlayer("learner", self.learner.playing(), tables.names)
        found = matches.whole_sides(
            tables, own, pool.batch_player(RULE, tables), seeds.VALIDATION[: config.validation_deals]
        )
        return {side: (int(found.won[:, k].sum()), len(found.won)) for k, side in enumerate(found.sides)}


def imitate(
    config: SelfplayConfig, tables: BatchTables, learner: SelfplayLearner, progress: Callable[[int, str], None]
) -> tuple[int, float]:
    """Learn from games that `config.start` plays at all seats, or that it holds: number of games, last mean cross-entropy."""
    if config.start == "none":
        return 0, 0.0
    done, loss = 0, 0.0
    if Path(config.start).is_dir():
        recorded, games = decisions(Path(config.start), tables)
        while done < config.imitation_steps:
            loss = learner.imitate(recorded)
            done += len(recorded.action)
            progress(0, f"imitating {games} games of {config.start}: cross-entropy {loss:.3f}")
        return games, loss
    teacher = pool.batch_player(config.start, tables)
    dealt = exploiters.seeds_of_tables(config, 0)
    floor = Floor(tables, alone(config), {}, dealt, tables.spec.sides, config.turns)
    teacher.reset(tables, dealt, 0)
    clock = Clock()
    while done < config.imitation_steps:
        found = floor.collect(teacher, clock)
        loss = learner.imitate(found)
        done += len(found.action)
        progress(0, f"imitating {config.start}: {done:,} decisions, cross-entropy {loss:.3f}")
    return floor.games, loss


def alone(config: SelfplayConfig) -> SelfplaySeating:
    """The network, or its teacher, at all seats."""
    n = config.tables
    return SelfplaySeating((), np.full(n, ALONE, np.int32), np.full(n, -1, np.int8), np.full(n, WHOLE_SIDE, np.int8))


def _note(phase: Phase) -> str:
    """How the network stood against the heuristic on validation deals."""
    rates_ = [f"{name} {100 * won / n:.0f} %" for name, (won, n) in phase.against.items()]
    return f"against {RULE}: {', '.join(rates_)}" if rates_ else ""
