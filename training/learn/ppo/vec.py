"""Seats as stable-baselines3 takes them, with action masks: scalar games in a few processes, and tables over arrays.

The library's own SubprocVecEnv starts one process for each environment and asks for observations and masks in two messages. In
`SeatVecEnv` a process steps several environments and sends the masks along: on two cores, 1,780 decisions a second with 32
tables in two processes, where 16 processes of one table each gave 1,010. What an environment does depends on its own seed only,
not on how they are shared out.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.batch.tables import Array
from parlour.training.learn.ppo.env_process import serve
from parlour.wrappers.batch_seat import BatchSeatEnv
from parlour.wrappers.learner_seats import SeatEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices

_FINAL: Final = ("return", "seat")


class MaskedVecEnv(VecEnv):
    """A `VecEnv` that tells sb3-contrib's algorithms the legal actions, and nothing else about itself."""

    def masks(self) -> NDArray[np.bool_]:
        """The action masks of all, shape (environments, actions)."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"{method_name!r} is not offered; accepted: action_masks")
        return list(self.masks())

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


class SeatVecEnv(MaskedVecEnv):
    """Several `SeatEnv`s as one vectorised environment with action masks.

    Args:
        make: Makes one environment; picklable, called in the processes.
        seeds: One for each environment.
        processes: How many processes to share them among.
    """

    def __init__(self, make: Callable[[], SeatEnv], seeds: Sequence[int], processes: int) -> None:
        probe = make()
        super().__init__(len(seeds), probe.observation_space, probe.action_space)
        context = multiprocessing.get_context("spawn")
        self._shares = [list(share) for share in np.array_split(np.arange(len(seeds)), min(processes, len(seeds)))]
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for share in self._shares:
            ours, theirs = context.Pipe()
            own = [seeds[k] for k in share]
            process = context.Process(target=serve, args=(theirs, make, own), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._masks: np.ndarray[Any, np.dtype[np.bool_]] = np.tile(probe.action_masks(), (len(seeds), 1))

    def reset(self) -> Any:
        for pipe in self._pipes:
            pipe.send(None)
        observations = []
        for pipe, share in zip(self._pipes, self._shares, strict=True):
            seen, masks = pipe.recv()
            observations.append(seen)
            self._masks[share] = masks
        return np.concatenate(observations)

    def step_async(self, actions: np.ndarray[Any, Any]) -> None:
        for pipe, share in zip(self._pipes, self._shares, strict=True):
            pipe.send(actions[share])

    def step_wait(self) -> Any:
        parts = []
        for pipe, share in zip(self._pipes, self._shares, strict=True):
            *part, masks = pipe.recv()
            parts.append(part)
            self._masks[share] = masks
        observations, rewards, dones = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return observations, rewards, dones, [info for part in parts for info in part[3]]

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()

    def masks(self) -> NDArray[np.bool_]:
        return self._masks


class BatchSeatVecEnv(MaskedVecEnv):
    """One learner's seat at many tables, as stable-baselines3 takes it, with action masks.

    Args:
        env: The tables.
        seed: Seed of the first `reset`.
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
        self._actions = actions

    def step_wait(self) -> Any:
        observed, rewards, over, _, info = self.env.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(over):
            final = {key: info["final_info"][key][row].item() for key in _FINAL}
            last = {"terminal_observation": info["final_obs"][row], "TimeLimit.truncated": False}
            infos[row] = {**last, "return": final["return"], "final_info": final}
        return observed, rewards, over, infos

    def close(self) -> None:
        self.env.close()

    def masks(self) -> NDArray[np.bool_]:
        return self.env.action_masks()
