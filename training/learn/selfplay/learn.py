"""How a network learns: a session at tables for any seating, and the phases of a run of self-play, which are made of sessions.

Phase 0 is imitation, the others are self-play; each ends with a snapshot, its scores, and a checkpoint. The files of a phase are
written before the checkpoint, which says how many phases are done. What a kill left of a phase that was not finished is written
again, with the same bytes: each phase deals all tables afresh from seeds of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.scalar import ScalarTables
from parlour.training.learn.batch import matches
from parlour.training.learn.batch.networks import NetworkPlayer
from parlour.training.learn.selfplay import pool, seating
from parlour.training.learn.selfplay.collect import RolloutCollector, decisions, judges
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.selfplay.learner import Rates, SelfplayLearner, rates
from parlour.training.learn.selfplay.seating import ALONE, RATE, Phase, Seating, training_rows
from parlour.training.play import seeds
from parlour.training.runs.progress import Stage, StageProgress
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

OPPONENT: Final = "opponent"


class Session:
    """A learner at tables, until everybody is seated anew: it plays some turns, learns from them, and so on.

    Args:
        learner: Who learns, at its own tables.
        seating: Who plays where.
        players: The opponents, by name.
        dealt: A training seed for each table.
    """

    def __init__(
        self, learner: SelfplayLearner, seating: Seating, players: Mapping[str, BatchPlayer], dealt: Sequence[int]
    ) -> None:
        self.learner, self.steps = learner, 0
        config = learner.config
        prices = judges(config.prices, learner.tables)
        self.collector = RolloutCollector(learner.tables, seating, players, dealt, config.turns, prices=prices)
        self._player = NetworkPlayer("learner", learner.playing(), learner.tables.names)
        self._player.reset(learner.tables, dealt, 0)

    def update(self, now: Rates) -> dict[str, float]:
        """One update; its losses."""
        self._player.network = self.learner.playing()
        experience = self.collector.collect(self._player)
        losses = self.learner.update(experience, now)
        self.steps += len(experience.action)
        return losses

    @property
    def won(self) -> Estimate | None:
        """Share of the games against opponents that were won."""
        scores = self.collector.scores()
        return Estimate.rate(sum(score.won for score in scores), sum(score.n for score in scores))


def learn(config: SelfplayConfig, run: Run) -> list[Phase]:
    """Play all phases, or those that are missing in an open run."""
    tables = pool.tables_for(config, config.tables)
    learner = SelfplayLearner(config, tables)
    finished: list[Phase] = []
    if (own_state := run.restore(learner.load_state_dict)) is not None:
        finished = [Phase.read(run.folder, number) for number in range(own_state["phases"])]
        run.progress(_stage(config), finished[-1].steps, finished[-1].note)
    phases = _Phases(config, run, learner)
    while not finished or finished[-1].share < 1:
        phase = phases.play_seats(finished) if finished else phases.imitate()
        learner.seat().save(pool.snapshot_path(run.folder, phase.number))
        phase.write(run.folder)
        finished.append(phase)
        run.table("training.csv", ["steps", "side", "opponent", *RATE], training_rows(finished))
        run.log(phase.metrics, phase.steps)
        run.checkpoint(learner.state_dict({"phases": len(finished)}))
        run.progress(_stage(config), phase.steps, phase.note)
    return finished


def _stage(config: SelfplayConfig) -> Stage:
    return Stage(f"Training {config.game}", config.steps, "decisions")


@dataclass(frozen=True)
class _Phases:
    config: SelfplayConfig
    run: Run
    learner: SelfplayLearner

    def imitate(self) -> Phase:
        """Phase 0: learn to play as another player does, and what it leads to."""
        started = process_time()
        games, loss = imitate(self.learner, self.run.progress)
        self.learner.begin()
        return Phase(0, 0, process_time() - started, 0.0, games, (), {"imitation": loss}, self._validate())

    def play_seats(self, finished: Sequence[Phase]) -> Phase:
        """One phase of self-play."""
        config, last = self.config, finished[-1]
        number, started, losses = len(finished), process_time(), dict[str, float]()
        session = self._seated(finished)
        now = rates(config, last.share)
        for _ in range(config.updates):
            losses = session.update(now)
            self.run.progress(_stage(config), last.steps + session.steps, last.note)
            if last.steps + session.steps >= config.steps:
                break
        steps, seconds = last.steps + session.steps, last.seconds + process_time() - started
        share = min(1.0, max(steps / config.steps, seconds / (60 * config.minutes) if config.minutes else 0.0))
        played = session.collector
        scores = tuple(played.scores())
        against = sum(score.n for score in scores)
        returned = played.returned / against if against else None
        return Phase(number, steps, round(seconds, 1), share, played.games, scores, losses, self._validate(), returned)

    def _seated(self, finished: Sequence[Phase]) -> Session:
        """A session with the network alone, the fixed players, and those from before this phase."""
        config, number, tables = self.config, len(finished), self.learner.tables
        snapshots = [pool.snapshot_path(self.run.folder, k) for k in range(number)]
        first = snapshots[0].stem if config.fixed == "start" else RULE
        fixed = (first, *config.members) if config.fixed_share else ()
        earlier = {path.stem: str(path) for path in snapshots}
        rng = np.random.default_rng(seeds.derive(config.seed, number, seeds.Purpose.SEATING))
        strangers = pool.families(config)
        scores = [phase.scores for phase in finished]
        seated = seating.seating(config, tables.seats, tables.spec.sides, fixed, list(earlier), scores, rng, strangers)
        sources = {
            name: name for name in (RULE, *config.members, *(member for family in strangers for member in family))
        }
        sources |= earlier
        names = {seated.opponents[k] for k in np.unique(seated.opponent) if k != ALONE}
        players = {name: pool.batch_player(sources[name], tables, name) for name in names}
        return Session(self.learner, seated, players, pool.seeds_of_tables(config, number))

    def _validate(self) -> dict[str, tuple[int, int]]:
        """Whole sides against the heuristic, where there is one over arrays."""
        config, spec, tables = self.config, self.learner.tables.spec, self.learner.tables
        if not spec.heuristic or not (tables.heuristic or isinstance(tables, ScalarTables)):
            return {}
        tables = pool.tables_for(config, config.validation_deals, autoreset=None)
        own = NetworkPlayer("learner", self.learner.playing(), tables.names)
        deals = seeds.VALIDATION[: config.validation_deals]
        played = matches.whole_sides(tables, own, pool.batch_player(RULE, tables), deals)
        return {side: (int(played.won[:, k].sum()), len(played.won)) for k, side in enumerate(played.sides)}


def imitate(learner: SelfplayLearner, progress: StageProgress) -> tuple[int, float]:
    """Learn from games that `config.start` plays at all seats, or that it holds: number of games, last mean cross-entropy.

    A policy of the learner's own shape is taken over as it is; then only the critic has learned from these games.
    """
    config, tables = learner.config, learner.tables
    if config.start == "none":
        return 0, 0.0
    done, loss, stage = 0, 0.0, Stage(f"Imitating {config.start}", config.imitation_steps, "decisions")
    progress(stage, done)
    if Path(config.start).is_dir():
        recorded, games = decisions(Path(config.start), tables)
        while done < config.imitation_steps:
            loss = learner.imitate(recorded)
            done += len(recorded.action)
            progress(stage, done, f"cross-entropy {loss:.3f}")
        return games, loss
    teacher, dealt = pool.batch_player(config.start, tables), pool.seeds_of_tables(config, 0)
    collector = RolloutCollector(tables, Seating.alone(config.tables), {}, dealt, config.turns)
    teacher.reset(tables, dealt, 0)
    while done < config.imitation_steps:
        experience = collector.collect(teacher)
        loss = learner.imitate(experience)
        done += len(experience.action)
        progress(stage, done, f"cross-entropy {loss:.3f}")
    if isinstance(teacher, NetworkPlayer):
        learner.adopt(teacher)
    return collector.games, loss
