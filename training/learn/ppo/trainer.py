"""The protocol of trainers for `train seat`, and the trainer for games with kernels: self-play's learner with a fixed seating.

The learner holds one seat of every table, or another one at each, among fixed opponents; it has no anchor and imitates nobody.
Each phase deals all tables afresh. For other games there is MaskablePPO (`sb3`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, Protocol

import numpy as np
from parlour.envs import batch
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat
from parlour.policies.array_files import read_arrays
from parlour.policies.files import reading
from parlour.training.learn.ppo.phase_config import SeatConfig, features_of
from parlour.training.learn.selfplay import pool
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.learn import OPPONENT, Session
from parlour.training.learn.selfplay.learner import LOSSES, META as LEARNER, SelfplayLearner, rates
from parlour.training.learn.selfplay.seating import Seating
from parlour.training.play import seeds
from parlour.training.results.loggers import Metrics

FOREIGN: Final = "is not a checkpoint of this run; accepted: what `train seat` left"
OF_SB3: Final = "parlour_phases"
"""Marks checkpoints of MaskablePPO."""
LEARNING_RATE: Final = "charts/learning_rate"
_SEATS: Final = 4  # what seeds are derived for


def stored_steps(path: Path) -> tuple[str, int]:
    """Which trainer left a checkpoint, and after how many decisions. Raises `ParlourError` for a file of another kind."""
    with reading(path, "checkpoint", FOREIGN):
        try:
            return OF_SB3, int(read_arrays(path, OF_SB3)[0]["steps"])
        except KeyError:
            return LEARNER, int(read_arrays(path, LEARNER)[0]["told"]["steps"])


class Learned(NamedTuple):
    """What a trainer did in a phase."""

    steps: int
    """Decisions of the learner in the run so far."""
    games: int
    """Games that ended in the phase."""
    won: int
    returned: float
    """The sum of the learner's returns in these games."""
    metrics: Metrics
    """Losses of the last update, and the learning rate."""


class Trainer(Protocol):
    """Learns one seat in phases."""

    ENVS: ClassVar[int]
    """Games side by side, unless the settings say how many."""
    RATE: ClassVar[float]
    """Learning rate, unless the settings say which."""

    def learn(self, phase: int, progress: Callable[[int], None]) -> Learned:
        """One phase: `config.phase_steps` decisions or a few more, at freshly dealt tables; `progress` is called with the number
        so far.
        """

    def policy(self) -> TrainedSeat:
        """The network as it is now; it plays the most probable action."""

    def save(self, path: Path) -> None:
        """Write the state, of plain values and numbers."""

    def load(self, path: Path) -> None:
        """Continue from a state. Raises `ParlourError` for a file that is none of this run."""

    def close(self) -> None:
        """Leave the tables."""


def plays_over_arrays(config: SeatConfig) -> bool:
    """Whether the game has kernels for this table, and the opponents can sit there."""
    spec, features = lookup(config.game).spec, features_of(config.game, config.features)
    if not batch.have_kernels(spec, config.options, features):
        return False
    try:
        tables = pool.tables_for(config, 1)
        pool.batch_player(config.opponents, tables).reset(tables, [0])
    except ParlourError:
        return False
    return True


class ArrayTrainer:
    """Learns at tables over arrays. Satisfies `Trainer`."""

    ENVS: ClassVar[int] = 256
    RATE: ClassVar[float] = 1.5e-3

    def __init__(self, config: SeatConfig) -> None:
        self.config, self.steps = config, 0
        self._tables = pool.tables_for(config, config.envs or self.ENVS, threads=config.processes)
        self._learner = SelfplayLearner(_learning(config, self._tables), self._tables)

    def learn(self, phase: int, progress: Callable[[int], None]) -> Learned:
        config, tables = self.config, self._tables
        learning = self._learner.config
        rng = np.random.default_rng(seeds.derive(config.seed, phase, _SEATS))
        drawn = rng.permutation((np.arange(tables.num_envs) + phase) % tables.seats)
        seat = drawn if config.seat == "random" else config.seat
        players: dict[str, BatchPlayer] = {OPPONENT: pool.batch_player(config.opponents, tables)}
        dealt = pool.seeds_of_tables(learning, phase)
        session = Session(self._learner, Seating.against(OPPONENT, tables.num_envs, seat=seat), players, dealt)
        now, losses = rates(learning, phase / config.phases), dict[str, float]()
        while session.steps < config.phase_steps:
            losses = session.update(now)
            progress(session.steps)
        self.steps += session.steps
        scores = session.collector.scores()
        metrics = {LEARNING_RATE: now.learning_rate} | {
            LOSSES[name]: value for name, value in losses.items() if name != "divergence"
        }
        won, returned = sum(score.won for score in scores), session.collector.returned
        return Learned(self.steps, session.collector.games, won, returned, metrics)

    def policy(self) -> TrainedSeat:
        return self._learner.seat(sample=False)

    def save(self, path: Path) -> None:
        self._learner.save(path, {"steps": self.steps})

    def load(self, path: Path) -> None:
        if stored_steps(path)[0] == OF_SB3:
            raise ParlourError(
                f"{str(path)!r} is of stable-baselines3, with which earlier versions trained this game; accepted: a new folder"
            )
        self.steps = int(self._learner.load(path)["steps"])

    def close(self) -> None:
        """Tables over arrays need no end."""


def _learning(config: SeatConfig, tables: BatchTables) -> SelfplayConfig:
    """Settings of the learner: as many turns an update as bring about `rollout` decisions of one seat."""
    return SelfplayConfig(
        game=config.game,
        options=config.options,
        features=config.features,
        tables=tables.num_envs,
        turns=-(-config.rollout * tables.seats // tables.num_envs),
        start="none",
        batch=config.batch,
        epochs=config.epochs,
        learning_rate=config.learning_rate or ArrayTrainer.RATE,
        gae_lambda=config.gae_lambda,
        entropy=config.entropy,
        last_entropy=config.entropy,
        kl=0.0,
        last_kl=0.0,
        hidden=config.hidden,
        seed=config.seed,
    )
