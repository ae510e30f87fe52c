"""NumericFeatures: the game's numbers in place of its prose, so that no Text space is left in the observations."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from parlour.envs.aec import GameEnv
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class NumericFeatures(BaseWrapper[str, Any, Any]):
    """Observations become `{"observation": Box float32 1-D, "action_mask": int8}`, whatever `env` observes."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        base = inner_game(env, "NumericFeatures")
        self.game_env = base
        self.observation_spaces = GameEnv(
            base.spec, base.game, observation="features", features=base.features
        ).observation_spaces

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        return self.game_env.observe_as(agent, "features")
