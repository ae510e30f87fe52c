"""Learning with MaskablePPO (sb3-contrib) in phases: what `train seat` and `train selfplay` share.

A run is cut into phases of `phase_steps`. A phase begins with freshly seeded environments and ends with a checkpoint, so that
a run that was killed and resumed gives the same network, byte for byte, as one that was not. (PyTorch and
stable-baselines3 draw from their own global generators; each phase seeds them.)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch
from parlour.envs.core import TABLE
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat
from parlour.policies.files import replacing
from parlour.training import seeds
from parlour.training.ppo.phase_config import PhaseConfig
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

CHECKPOINT: Final = "checkpoint.zip"


def new_model(config: PhaseConfig, env: VecEnv) -> MaskablePPO:
    """An untrained network and its optimiser."""
    set_random_seed(seeds.derive(config.seed))
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=config.learning_rate,
        n_steps=config.rollout // config.envs,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        ent_coef=config.entropy,
        policy_kwargs={"net_arch": list(config.hidden)},
        device="cpu",
    )


def learn_phase(model: MaskablePPO, config: PhaseConfig, phase: int, env: VecEnv, counter: BaseCallback) -> None:
    """One phase: `config.phase_steps` decisions on freshly seeded tables."""
    set_random_seed(seeds.derive(config.seed, phase))
    model.learning_rate = config.learning_rate * max(0.1, 1 - phase / config.phases)
    model._setup_lr_schedule()
    model.set_env(env, force_reset=True)
    model.learn(config.phase_steps, callback=counter, reset_num_timesteps=phase == 0)


class Counter(BaseCallback):
    """Tells progress while learning, and collects the last info of each finished game."""

    def __init__(self, progress: Callable[[int, str], None]) -> None:
        super().__init__()
        self._progress = progress
        self.games: list[dict[str, Any]] = []
        """For each finished game the info of its last step, and its `return`."""

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self.games += [{**info["final_info"], "return": info["return"]} for info in infos if "return" in info]
        self._progress(len(infos), "")
        return True


def export(model: MaskablePPO, config: PhaseConfig, features: str = TABLE) -> TrainedSeat:
    """The network of the policy as a `TrainedSeat`, without PyTorch."""
    network: Any = model.policy
    hidden = [layer for layer in network.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    layers = [
        (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
        for layer in (*hidden, network.action_net)
    ]
    env = lookup(config.game).raw_env(**config.options)
    return TrainedSeat(env.spec.id, env.game.config, layers, features=features)


def load_model(folder: Path) -> MaskablePPO | None:
    """The checkpoint of a run, or None if it has none yet."""
    path = folder / CHECKPOINT
    return MaskablePPO.load(path, device="cpu") if path.exists() else None


def save_model(model: MaskablePPO, folder: Path) -> None:
    """Replace the checkpoint of a run as a whole."""
    with replacing(folder / CHECKPOINT) as path:
        model.save(path)
