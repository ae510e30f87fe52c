"""ObservationsKey: the numbers stand under `observations`, beside `action_mask`, and there is no prose.

PettingZoo says `observation`; some learners with masks look for the plural.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from parlour.envs.core import ParlourError
from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper


class ObservationsKey(BaseWrapper[str, Any, Any]):
    """Observations of an AEC environment become `{"observations": Box, "action_mask": Box}`.

    Raises:
        ParlourError: The environment has no numbers among its observations, or no mask.
    """

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self.observation_spaces = {agent: _plural_space(env.observation_space(agent)) for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def observe(self, agent: str) -> Any:
        observed = self.env.observe(agent)
        return None if observed is None else _plural(observed)


class ParallelObservationsKey(BaseParallelWrapper[str, Any, Any]):
    """The same for an environment in which all seats step at once."""

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self.plural = {agent: _plural_space(env.observation_space(agent)) for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.plural[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observed, infos = super().reset(seed=seed, options=options)
        return {agent: _plural(seen) for agent, seen in observed.items()}, infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        observed, *rest = super().step(actions)
        return {agent: _plural(seen) for agent, seen in observed.items()}, *rest


def _plural(seen: dict[str, Any]) -> dict[str, Any]:
    return {"action_mask": seen["action_mask"], "observations": seen["observation"]}


def _plural_space(space: spaces.Space[Any]) -> spaces.Dict:
    if not isinstance(space, spaces.Dict) or not {"observation", "action_mask"} <= set(space.spaces):
        raise ParlourError("ObservationsKey needs numbers and a mask; accepted: observation='features', action='index'")
    return spaces.Dict({"action_mask": space["action_mask"], "observations": space["observation"]})
