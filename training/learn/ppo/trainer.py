"""The trainers of `train seat`. For games with kernels: self-play's learner with a fixed seating.

The learner holds one seat of every table, or another one at each, among fixed opponents; it has no anchor and imitates nobody.
Each phase deals all tables afresh.

For games without kernels, and for opponents that play scalar games only, there is MaskablePPO (sb3-contrib). PyTorch and
stable-baselines3 draw from their own global generators; each phase seeds them, so that no checkpoint holds their state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import torch
from parlour.envs import batch
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat
from parlour.training.learn.batch.networks import adam_arrays, arrays_of, load_adam, load_arrays, weights_of
from parlour.training.learn.ppo.config import SeatConfig, env_seeds, features_of
from parlour.training.learn.ppo.vec import SeatVecEnv
from parlour.training.learn.selfplay import pool
from parlour.training.learn.selfplay.config import LOSSES, SelfplayConfig
from parlour.training.learn.selfplay.learn import OPPONENT, Session
from parlour.training.learn.selfplay.learner import SelfplayLearner, rates
from parlour.training.learn.selfplay.seating import Seating
from parlour.training.play import seeds
from parlour.training.play.single_seat import make_seat
from parlour.training.runs.checkpoints import State
from parlour.training.runs.loggers import Metrics
from parlour.wrappers.learner_seats import SeatEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import set_random_seed

OF_SB3: Final = "parlour_phases"
"""Marks checkpoints of MaskablePPO."""
LEARNING_RATE: Final = "charts/learning_rate"


def steps_of(state: State) -> int:
    """After how many decisions a checkpoint of either trainer was made."""
    return int(state["steps"] if state["kind"] == OF_SB3 else state["told"]["steps"])


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
    """Learns one seat in phases, at tables over arrays."""

    ENVS: ClassVar[int] = 256
    """Games side by side, unless the settings say how many."""
    RATE: ClassVar[float] = 1.5e-3
    """Learning rate, unless the settings say which."""

    def __init__(self, config: SeatConfig) -> None:
        self.config, self.steps = config, 0
        self._tables = pool.tables_for(config, config.envs or self.ENVS, threads=config.processes)
        self._learner = SelfplayLearner(_learning(config, self._tables), self._tables)

    def learn(self, phase: int, progress: Callable[[int], None]) -> Learned:
        """One phase: `config.phase_steps` decisions or a few more, at freshly dealt tables.

        `progress` gets the number so far.
        """
        config, tables = self.config, self._tables
        learning = self._learner.config
        rng = np.random.default_rng(seeds.derive(config.seed, phase, seeds.Purpose.SEAT))
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
        """The network as it is now; it plays the most probable action."""
        return self._learner.seat(sample=False)

    def state_dict(self) -> dict[str, Any]:
        """The state, of plain values and arrays."""
        return self._learner.state_dict({"steps": self.steps})

    def load_state_dict(self, state: State) -> None:
        """Continue from a state. Raises `ParlourError`, `KeyError` or `RuntimeError` for another run's."""
        if state["kind"] == OF_SB3:
            raise ParlourError(
                "the checkpoint is of stable-baselines3, with which earlier versions trained this game; accepted: a new folder"
            )
        self.steps = int(self._learner.load_state_dict(state)["steps"])

    def close(self) -> None:
        """Tables over arrays need no end."""


def _learning(config: SeatConfig, tables: BatchTables) -> SelfplayConfig:
    """Settings of the learner: as many turns an update as bring about `rollout` decisions of one seat."""
    same = ("game", "options", "features", "batch", "epochs", "gae_lambda", "entropy", "hidden", "seed")
    return SelfplayConfig(
        **{name: getattr(config, name) for name in same},
        tables=tables.num_envs,
        turns=-(-config.rollout * tables.seats // tables.num_envs),
        start="none",
        learning_rate=config.learning_rate or ArrayTrainer.RATE,
        last_entropy=config.entropy,
        kl=0.0,
        last_kl=0.0,
    )


ENTROPY: Final = LOSSES["entropy"]
_LOSSES: Final = {
    "policy_gradient_loss": LOSSES["policy"],
    "value_loss": LOSSES["value"],
    "entropy_loss": ENTROPY,
    "approx_kl": "losses/approx_kl",
    "clip_fraction": "losses/clipfrac",
    "explained_variance": "losses/explained_variance",
}
"""What stable-baselines3 calls a metric -> CleanRL's name of it. Its entropy loss is the entropy with the other sign."""


def seat_maker(config: SeatConfig) -> Callable[[], SeatEnv]:
    """Makes one table with the learner's seat."""
    options = {**config.options, "features": features_of(config.game, config.features)}
    return partial(make_seat, config.game, opponents=config.opponents, seat=config.seat, **options)


class Sb3Trainer:
    """The same at scalar tables in processes."""

    ENVS: ClassVar[int] = 32
    RATE: ClassVar[float] = 7e-4

    def __init__(self, config: SeatConfig) -> None:
        self.config, self._rate = config, config.learning_rate or self.RATE
        self._env = self._tables(0)
        torch.set_num_threads(1)  # small networks: one thread is fastest, and sums in one order
        set_random_seed(seeds.derive(config.seed))
        self.model = MaskablePPO(
            "MlpPolicy",
            self._env,
            learning_rate=self._rate,
            n_steps=config.rollout // self._env.num_envs,
            batch_size=config.batch,
            n_epochs=config.epochs,
            gamma=1.0,
            gae_lambda=config.gae_lambda,
            ent_coef=config.entropy,
            policy_kwargs={"net_arch": list(config.hidden)},
            device="cpu",
        )

    def learn(self, phase: int, progress: Callable[[int], None]) -> Learned:
        config, model = self.config, self.model
        if phase or model.num_timesteps:
            self.close()
            self._env = self._tables(phase)
        set_random_seed(seeds.derive(config.seed, phase))
        model.learning_rate = self._rate * max(0.1, 1 - phase / config.phases)
        model._setup_lr_schedule()
        model.set_env(self._env, force_reset=True)
        counter = _Counter(progress)
        model.learn(config.phase_steps, callback=counter, reset_num_timesteps=phase == 0)
        metrics = {LEARNING_RATE: model.learning_rate} | self._losses()
        won = sum(value > 0 for value in counter.returns)
        return Learned(
            (phase + 1) * config.phase_steps, len(counter.returns), won, float(sum(counter.returns)), metrics
        )

    def _losses(self) -> dict[str, float]:
        """Of the last update, which stable-baselines3 keeps in its logger until the next one."""
        kept = self.model.logger.name_to_value
        losses = {name: float(kept[f"train/{key}"]) for key, name in _LOSSES.items() if f"train/{key}" in kept}
        return losses | {ENTROPY: -losses[ENTROPY]} if ENTROPY in losses else losses

    def _tables(self, phase: int) -> SeatVecEnv:
        dealt = env_seeds(self.config, phase, self.config.envs or self.ENVS)
        return SeatVecEnv(seat_maker(self.config), dealt, self.config.processes)

    def policy(self) -> TrainedSeat:
        network: Any = self.model.policy
        layers = weights_of(torch.nn.Sequential(network.mlp_extractor.policy_net, network.action_net))
        env = lookup(self.config.game).raw_env(**self.config.options)
        features = features_of(self.config.game, self.config.features)
        return TrainedSeat(env.spec.id, env.game.config, layers, features=features)

    def state_dict(self) -> dict[str, Any]:
        meta = {"kind": OF_SB3, "steps": self.model.num_timesteps, "updates": self.model._n_updates}
        return meta | arrays_of("policy", self.model.policy) | adam_arrays(self._adam)

    def load_state_dict(self, state: State) -> None:
        load_arrays("policy", self.model.policy, state)
        load_adam(self._adam, state)
        self.model.num_timesteps, self.model._n_updates = int(state["steps"]), int(state["updates"])

    def close(self) -> None:
        self._env.close()

    @property
    def _adam(self) -> torch.optim.Adam:
        optimiser = self.model.policy.optimizer
        assert isinstance(optimiser, torch.optim.Adam), "the optimiser of stable-baselines3's policies"
        return optimiser


Trainer = ArrayTrainer | Sb3Trainer


class _Counter(BaseCallback):
    """Tells how many decisions were made in the phase, and collects the return of each finished game."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        super().__init__()
        self._progress, self._done = progress, 0
        self.returns: list[float] = []

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self.returns += [info["return"] for info in infos if "return" in info]
        self._done += len(infos)
        self._progress(self._done)
        return True
