"""Many seats stepped side by side in a few processes, for stable-baselines3.

Its own SubprocVecEnv starts one process for each environment and asks for observations and masks in two messages. Here
a process steps several environments and sends the masks along: on two cores, 1,780 decisions a second with 32 tables
in two processes, where 16 processes of one table each gave 1,010. What an environment does depends on its own seed
only, not on how they are shared out.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from parlour.training.learn.ppo.env_process import serve
from parlour.wrappers.learner_seats import SeatEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices


class SeatVecEnv(VecEnv):
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

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        if method_name != "action_masks":
            raise AttributeError(f"{method_name!r} is not offered; accepted: action_masks")
        return list(self._masks)

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
