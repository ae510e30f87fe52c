"""What several wrappers share: the game inside, and what a player may read."""

from __future__ import annotations

from typing import Any, Final, Literal

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import ParlourError
from pettingzoo.utils.env import AECEnv, ParallelEnv

Infos = dict[str, dict[str, Any]]
Form = Literal["view", "features", "text", "both"]
FORMS: Final = ("view", "features", "text", "both")
"""What a player may read: its `wants`."""
SEEDS: Final = 2**30
"""Games that wrappers deal have seeds below it: `parlour.training.play.seeds.TRAINING`."""


def inner_game(env: AECEnv[str, Any, Any], wrapper: str, *, full: bool = False) -> GameEnv:
    """The `GameEnv` inside `env`.

    Args:
        env: One of parlour's AEC environments, possibly in wrappers.
        wrapper: Who asks, for the message.
        full: Whether `info="full"` is needed.

    Raises:
        ParlourError: It is needed, and the environment has another; or it is none of parlour's AEC environments.
    """
    base = getattr(env, "unwrapped", env)
    if not isinstance(base, GameEnv):
        parallel = ": seats step at once in it" if isinstance(base, ParallelEnv) else ""
        raise ParlourError(
            f"{wrapper} of {type(base).__name__} is not accepted{parallel}; accepted: an AEC environment of parlour, such as "
            "avalon_v0.env(...)"
        )
    if full and base.info != "full":
        raise ParlourError(
            f"{wrapper} of an environment with info={base.info!r} is not accepted, as players choose from more; accepted: "
            "info='full'"
        )
    return base
