"""BatchObservationsKey: the observations of a `BatchSeatEnv` hold the masks, under the names that RLlib's modules look for."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from parlour.envs.batch.tables import Array
from parlour.wrappers.batch_seat import BatchSeatEnv


class BatchObservationsKey(VectorEnv[dict[str, Array], Array, Array]):
    """Observations are `{"observations": (B, F), "action_mask": (B, A)}`; infos are empty.

    Args:
        env: The tables; for RLlib with `autoreset="next_step"`, which its EnvRunners expect.
    """

    def __init__(self, env: BatchSeatEnv) -> None:
        self.env, self.num_envs, self.metadata = env, env.num_envs, env.metadata
        mask = spaces.Box(0, 1, (env.tables.actions,), np.int8)
        single = spaces.Dict({"observations": env.single_observation_space, "action_mask": mask})
        self.single_observation_space, self.single_action_space = single, env.single_action_space
        self.observation_space, self.action_space = batch_space(single, env.num_envs), env.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        observed, told = self.env.reset(seed=seed, options=options)
        return {"observations": observed, "action_mask": told["action_mask"]}, {}

    def step(self, actions: Array) -> tuple[dict[str, Array], Array, Array, Array, dict[str, Any]]:
        observed, rewards, terminated, truncated, told = self.env.step(actions)
        seen = {"observations": observed, "action_mask": told["action_mask"]}
        return seen, rewards, terminated, truncated, {}
