"""Checkpoints of stable-baselines3 and sb3-contrib at our tables: `--policy sb3:model.zip`.

For networks that were trained elsewhere, on this game's numbers. What `parlour train seat` leaves is a `TrainedSeat`
and needs neither library. A checkpoint is unpickled: loading one runs the code in it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from parlour.envs.core import ParlourError, accept
from parlour.policies.adapters.scored import ScoredSeat, Scores, check_algorithm, unloadable
from parlour.policies.adapters.settings import Sb3Settings
from parlour.policies.adapters.trained_on import origin, seated
from parlour.policies.base import Policy
from parlour.policies.files import reading
from parlour.policies.seating import Seating
from sb3_contrib import ARS, QRDQN, TRPO, MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm

SB3_ALGORITHMS: Final[Mapping[str, type[BaseAlgorithm]]] = {
    cls.__name__: cls for cls in (PPO, A2C, MaskablePPO, TRPO, RecurrentPPO, DQN, QRDQN, ARS)
}
"""Algorithms of the two libraries that have `Discrete` actions."""
_VALUES: Final = ("DQN", "QRDQN")
_PREDICT: Final = ("RecurrentPPO", "ARS")


class Sb3Seat(ScoredSeat):
    """Plays by a checkpoint. Never illegally: what the checkpoint would have done instead is counted.

    PPO, A2C, TRPO and MaskablePPO: the logits of the network, without illegal moves. DQN and QRDQN: the legal
    move of highest value. RecurrentPPO and ARS: their `predict`; an illegal answer is replaced by a random legal move.

    Args:
        model: The loaded algorithm.
        sample: Draw from the network's probabilities; otherwise the most probable legal move. Not with DQN and QRDQN.
        actions: See `ScoredSeat`.

    Raises:
        ParlourError: A setting is not accepted, or not with this algorithm.
    """

    name: ClassVar[str] = "sb3"

    @classmethod
    def make(cls, settings: Sb3Settings, at: Seating) -> Policy:
        file, algorithm = settings.file, settings.algorithm
        with reading(
            file, "checkpoint", "is not a checkpoint of stable-baselines3; accepted: a file of model.save(path)"
        ):
            stored = algorithm_in(file)
        if stored is not None and algorithm not in (stored, None):
            raise accept(f"algorithm of {file!r}", algorithm, (stored,))
        named = algorithm or stored
        if named is None:
            raise ParlourError(
                f"{file!r} has a policy class of its own; accepted: algorithm=, one of {', '.join(SB3_ALGORITHMS)}"
            )
        where = origin(cls.name, settings, at)
        with reading(file, "checkpoint", unloadable(named, SB3_ALGORITHMS)):
            model = SB3_ALGORITHMS[named].load(file, device="cpu")
        return seated(cls(model, sample=settings.sample, actions=where.actions), where, at.game, at.config)

    def __init__(self, model: BaseAlgorithm, *, sample: bool = False, actions: str = "moves") -> None:
        self.model, self.algorithm = model, type(model).__name__
        check_algorithm(self.algorithm, SB3_ALGORITHMS, _VALUES, sample=sample)
        super().__init__(model.observation_space, model.action_space, sample=sample, actions=actions)
        self.knew_mask = self.algorithm == "MaskablePPO"
        self._memory: Any = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._memory = None

    def scores(self, seen: Any) -> Scores:
        network: Any = self.model.policy
        network.set_training_mode(False)
        inputs, _ = network.obs_to_tensor(seen)
        with torch.no_grad():
            if self.algorithm == "DQN":
                outputs = network.q_net(inputs)
            elif self.algorithm == "QRDQN":
                outputs = network.quantile_net(inputs).mean(dim=1)
            else:
                outputs = network.get_distribution(inputs).distribution.logits
        scores: Scores = outputs[0].cpu().numpy().astype(np.float64)
        return scores

    def choose(self, seen: Any, mask: Any) -> int:
        if self.algorithm not in _PREDICT:
            return super().choose(seen, mask)
        chosen = self.free(seen)
        self.note(chosen, mask)
        return int(self.rng.choice(np.flatnonzero(mask))) if self.notes() else chosen

    def free(self, seen: Any) -> int:
        if self.algorithm not in _PREDICT:
            return super().free(seen)
        start = np.array([self._memory is None])
        with torch.random.fork_rng(devices=[]):  # it draws from PyTorch's global generator
            torch.manual_seed(int(self.rng.integers(2**31)))
            chosen, self._memory = self.model.predict(
                seen, state=self._memory, episode_start=start, deterministic=not self.sample
            )
        return int(chosen)


_POLICIES: Final = {
    "stable_baselines3.dqn.policies": "DQN",
    "sb3_contrib.qrdqn.policies": "QRDQN",
    "sb3_contrib.ars.policies": "ARS",
    "sb3_contrib.common.maskable.policies": "MaskablePPO",
    "sb3_contrib.common.recurrent.policies": "RecurrentPPO",
}
"""Module of the class of the policy in a checkpoint -> the algorithm; others share a class and differ in their settings."""
_OF_SETTING: Final = {"cg_max_steps": "TRPO", "clip_range": "PPO", "rollout_buffer_class": "A2C"}


def algorithm_in(file: str | Path) -> str | None:
    """The algorithm of a checkpoint, by the JSON in it, which is not unpickled; None for a custom policy class.

    To be used in `reading`: it raises what a file that is not a checkpoint raises.
    """
    with zipfile.ZipFile(file) as packed:
        data = json.loads(packed.read("data"))
    module = data["policy_class"].get("__module__", "") if isinstance(data.get("policy_class"), dict) else ""
    named = _POLICIES.get(module) or next((name for key, name in _OF_SETTING.items() if key in data), None)
    return named if module.startswith(("stable_baselines3.", "sb3_contrib.")) else None
