"""TurnInInfo: the info of the agent to move holds all that a player goes by, and `reset` returns it.

For loops that hand infos on to their players, but reshape the observations, or leave out the first infos of a game.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from parlour.envs.aec import GameEnv
from parlour.envs.core import ParlourError, accept
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

FORMS: Final = ("view", "features", "text", "both")


class TurnInInfo(BaseWrapper[str, Any, Any]):
    """`info["seat"]` is the seat to move, `info["observation"]` what its player reads.

    It goes outermost, for else nobody sees what `reset` returns.

    Args:
        env: One of parlour's AEC environments with `info="full"`, of all its seats; possibly in wrappers.
        observation: What the players read (their `wants`): `"view"`: nothing beside `info["view"]`, and
            `info["observation"]` is empty; `"features"`, `"text"` or `"both"`: as the environments themselves.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self, env: AECEnv[str, Any, Any], observation: Literal["view", "features", "text", "both"] = "view"
    ) -> None:
        super().__init__(env)
        base = env.unwrapped
        assert isinstance(base, GameEnv), "TurnInInfo takes parlour's own environments"
        if base.info != "full":
            raise ParlourError("TurnInInfo needs an environment with info='full', from which players choose")
        if observation not in FORMS:
            raise accept("observation", observation, FORMS)
        self.game_env, self.form = base, observation

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
        """Deal a new game. Returns the info of the agent to move, under its name."""
        super().reset(seed=seed, options=options)
        self._tell()
        agent = self.game_env.agent_selection
        return {agent: self.infos[agent]}

    def step(self, action: Any) -> None:
        super().step(action)
        self._tell()

    def _tell(self) -> None:
        base = self.game_env
        self.infos = dict(self.env.infos)
        if base.outcome is None:
            agent = base.agent_selection
            observed = {} if self.form == "view" else base.observe_as(agent, self.form)
            self.infos[agent] = {**self.infos[agent], "seat": base.seat, "observation": observed}
