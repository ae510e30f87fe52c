"""A `BatchSeatEnv` for stable-baselines3, and the players that can sit at its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from parlour.envs import batch
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import Array
from parlour.envs.core import TABLE, GameSpec
from parlour.policies import TrainedSeat
from parlour.policies.cloned import is_clone
from parlour.policies.trained import SUFFIX
from parlour.training.learn.batch.players import trained
from parlour.wrappers.batch_seat import OPPONENTS, BatchSeatEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices

_FINAL: Final = ("return", "seat")


def player_over_arrays(
    name: str, spec: GameSpec, features: str, options: Mapping[str, Any]
) -> str | BatchPlayer | None:
    """Who plays as the policy of this name at tables with these features; None if it has to be played at scalar tables.

    `options` are those of the game.
    """
    if features == TABLE or not batch.have_kernels(spec, options):
        return None
    if name.endswith(SUFFIX) and not is_clone(name):
        policy = TrainedSeat.load(name)
        if policy.features != features:
            return None
        names = spec.seat_encoder(spec.build(**policy.config), features).names
        return trained(name, policy, names)
    if name not in OPPONENTS or (name == "heuristic" and not spec.batch_heuristic):
        return None
    return name


class BatchSeatVecEnv(VecEnv):
    """One learner's seat at many tables, as stable-baselines3 takes it, with action masks.

    Args:
        env: The tables.
        seed: Of the first `reset`.
    """

    def __init__(self, env: BatchSeatEnv, seed: int) -> None:
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)
        self.env = env
        self._seed: int | None = seed

    def reset(self) -> Any:
        observed, _ = self.env.reset(seed=self._seed)
        self._seed = None
        return observed

    def step_async(self, actions: Array) -> None:
        self._given = actions

    def step_wait(self) -> Any:
        observed, rewards, over, _, told = self.env.step(self._given)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(over):
            final = {key: told["final_info"][key][row].item() for key in _FINAL}
            last = {"terminal_observation": told["final_obs"][row], "TimeLimit.truncated": False}
            infos[row] = {**last, "return": final["return"], "final_info": final}
        return observed, rewards, over, infos

    def close(self) -> None:
        self.env.close()

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"{method_name!r} is not offered; accepted: action_masks")
        return list(self.env.action_masks())

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks"

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        if attr_name == "render_mode":
            return [None] * self.num_envs
        raise AttributeError(f"{attr_name!r} is not offered; accepted: render_mode")

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        raise AttributeError(f"{attr_name!r} cannot be set")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        return [False] * self.num_envs


def batch_seats(
    game: str, opponents: str | BatchPlayer, *, num_envs: int, features: str, seat: Any, threads: int, **options: Any
) -> BatchSeatEnv:
    """One learner's seat at `num_envs` tables of a game; see `BatchSeatEnv` and `parlour.envs.batch.make`."""
    beliefs = opponents == "heuristic"
    tables = batch.make(game, num_envs=num_envs, features=features, beliefs=beliefs, threads=threads, **options)
    return BatchSeatEnv(tables, opponents, seat=seat)  # type: ignore[arg-type]  # checked there
