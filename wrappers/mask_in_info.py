"""MaskInInfo: the observation is a bare Box of numbers; the action mask is in `info["action_mask"]` alone.

For learners that take no dictionary, or that look for masks in `infos`.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from parlour.envs.core import ParlourError
from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper


class MaskInInfo(BaseWrapper[str, Any, Any]):
    """Observations `{"observation": Box, "action_mask", ...}` of an AEC environment become the Box.

    Raises:
        ParlourError: The environment has no numbers among its observations.
    """

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self.observation_spaces = {agent: _box(env.observation_space(agent)) for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def observe(self, agent: str) -> Any:
        observed = self.env.observe(agent)
        return None if observed is None else observed["observation"]


class ParallelMaskInInfo(BaseParallelWrapper[str, Any, Any]):
    """The same for an environment in which all seats step at once."""

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self.boxes = {agent: _box(env.observation_space(agent)) for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.boxes[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observed, infos = super().reset(seed=seed, options=options)
        return _bare(observed), infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        observed, *rest = super().step(actions)
        return _bare(observed), *rest


def _bare(observed: dict[str, Any]) -> dict[str, Any]:
    return {agent: seen["observation"] for agent, seen in observed.items()}


def _box(space: spaces.Space[Any]) -> spaces.Space[Any]:
    if not isinstance(space, spaces.Dict) or "observation" not in space.spaces:
        raise ParlourError("MaskInInfo needs numbers to show; accepted: environments with observation='features'")
    return space["observation"]
