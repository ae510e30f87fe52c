"""The processes that play tables for a learner; they know environments and policies, and need no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from parlour.wrappers.learner_seats import SeatEnv


def serve(pipe: Connection, make: Callable[[], SeatEnv], seeds: Sequence[int]) -> None:
    """One process: reset on None, step on actions, until the pipe is closed."""
    envs = [make() for _ in seeds]
    first = True
    while True:
        try:
            actions = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        if actions is None:
            seen = [env.reset(seed=seed if first else None)[0] for env, seed in zip(envs, seeds, strict=True)]
            first = False
            pipe.send((np.stack(seen), masks_of(envs)))
            continue
        steps = [step(env, int(action)) for env, action in zip(envs, actions, strict=True)]
        seen, rewards, dones, infos = (list(column) for column in zip(*steps, strict=True))
        pipe.send((np.stack(seen), np.array(rewards, np.float32), np.array(dones), infos, masks_of(envs)))


def step(env: SeatEnv, action: int) -> tuple[Any, float, bool, dict[str, Any]]:
    """One step; a game that is over is followed by a new one, as stable-baselines3 expects of its tables."""
    seen, reward, over, _, info = env.step(action)
    if not over:
        return seen, reward, False, {}
    ended = {"terminal_observation": seen, "TimeLimit.truncated": False, "return": reward, "final_info": info}
    return env.reset()[0], reward, True, ended


def masks_of(envs: Sequence[SeatEnv]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The action masks of all, shape (environments, actions)."""
    return np.stack([env.action_masks() for env in envs])
