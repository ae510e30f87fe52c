"""Learning with MaskablePPO (sb3-contrib) in phases: how `train seat` learns.

A run is cut into phases of `phase_steps`. A phase begins with freshly seeded environments and ends with a checkpoint, so that
a run that was killed and resumed gives the same network, byte for byte, as one that was not. (PyTorch and
stable-baselines3 draw from their own global generators; each phase seeds them, so that no checkpoint holds their state.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from parlour.envs.core import TABLE, ParlourError
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat
from parlour.policies.files import read_arrays, reading, write_arrays
from parlour.training.learn.batch.networks import adam_arrays, arrays_of, load_adam, load_arrays
from parlour.training.learn.checkpoints import Checkpoint
from parlour.training.learn.ppo.phase_config import PhaseConfig
from parlour.training.play import seeds
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

CHECKPOINT: Final = "checkpoint.npz"
_WITH_CODE: Final = "checkpoint.zip"
"""What stable-baselines3 writes: loading it unpickles."""
_META: Final = "parlour_phases"
_FOREIGN: Final = "is not a checkpoint of this run; accepted: what `train seat` left"


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


@dataclass(frozen=True)
class StoredModel:
    """The state of a run after a phase: weights, the optimiser's means, and counters."""

    steps: int
    """Decisions learned from."""
    updates: int
    """Passes of the optimiser over decisions."""
    arrays: Mapping[str, Any]

    def put_into(self, model: MaskablePPO) -> MaskablePPO:
        """Let an untrained model of the same sizes go on from here. Raises `ParlourError` for one of other sizes."""
        with reading(CHECKPOINT, "checkpoint", _FOREIGN):
            load_arrays("policy", model.policy, dict(self.arrays))
            load_adam(_adam(model), dict(self.arrays))
        model.num_timesteps, model._n_updates = self.steps, self.updates
        return model


def load_model(folder: Path) -> StoredModel | None:
    """The checkpoint of a run, or None if it has none yet.

    Raises:
        ParlourError: It is none, or an earlier parlour left it, which stored code.
    """
    found = Checkpoint(folder / CHECKPOINT).load(_read)
    if found is None and (folder / _WITH_CODE).exists():
        raise ParlourError(
            f"{str(folder / _WITH_CODE)!r} is a checkpoint of an earlier version, which loading would run as code; "
            "accepted: a new folder"
        )
    return found


def save_model(model: MaskablePPO, folder: Path) -> None:
    """Make the state of the model the newest checkpoint of a run."""
    arrays = arrays_of("policy", model.policy) | adam_arrays(_adam(model))
    meta = {"steps": model.num_timesteps, "updates": model._n_updates}
    Checkpoint(folder / CHECKPOINT).save(lambda new: write_arrays(new, _META, meta, arrays))


def _read(path: Path) -> StoredModel:
    with reading(path, "checkpoint", _FOREIGN):
        meta, arrays = read_arrays(path, _META)
        return StoredModel(int(meta["steps"]), int(meta["updates"]), arrays)


def _adam(model: MaskablePPO) -> torch.optim.Adam:
    optimiser = model.policy.optimizer
    assert isinstance(optimiser, torch.optim.Adam), "the optimiser of stable-baselines3's policies"
    return optimiser
