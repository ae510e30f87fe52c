"""MaskablePPO (sb3-contrib) as the trainer of one seat, for games without kernels and opponents that play scalar games only.

A phase begins with freshly seeded environments. PyTorch and stable-baselines3 draw from their own global generators; each phase
seeds them, so that no checkpoint holds their state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import torch
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat
from parlour.policies.array_files import read_arrays, write_arrays
from parlour.policies.files import reading
from parlour.training.learn.batch.networks import adam_arrays, arrays_of, load_adam, load_arrays
from parlour.training.learn.ppo.phase_config import SeatConfig, env_seeds, features_of
from parlour.training.learn.ppo.trainer import FOREIGN, LEARNING_RATE, OF_SB3, Learned
from parlour.training.learn.ppo.vec import SeatVecEnv
from parlour.training.learn.selfplay.learner import LOSSES
from parlour.training.play import seeds
from parlour.training.play.single_seat import make_seat
from parlour.wrappers.learner_seats import SeatEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import set_random_seed

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
    """Learns phase by phase at scalar tables in processes. Satisfies `trainer.Trainer`."""

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
        hidden = [layer for layer in network.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
        layers = [
            (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
            for layer in (*hidden, network.action_net)
        ]
        env = lookup(self.config.game).raw_env(**self.config.options)
        features = features_of(self.config.game, self.config.features)
        return TrainedSeat(env.spec.id, env.game.config, layers, features=features)

    def save(self, path: Path) -> None:
        arrays = arrays_of("policy", self.model.policy) | adam_arrays(self._adam)
        meta = {"steps": self.model.num_timesteps, "updates": self.model._n_updates}
        write_arrays(path, OF_SB3, meta, arrays)

    def load(self, path: Path) -> None:
        with reading(path, "checkpoint", FOREIGN):
            meta, arrays = read_arrays(path, OF_SB3)
            load_arrays("policy", self.model.policy, arrays)
            load_adam(self._adam, arrays)
            self.model.num_timesteps, self.model._n_updates = int(meta["steps"]), int(meta["updates"])

    def close(self) -> None:
        self._env.close()

    @property
    def _adam(self) -> torch.optim.Adam:
        optimiser = self.model.policy.optimizer
        assert isinstance(optimiser, torch.optim.Adam), "the optimiser of stable-baselines3's policies"
        return optimiser


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
