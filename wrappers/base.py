"""What several wrappers share: the game inside, observations in another shape, and what a player reads in the info."""

from __future__ import annotations

from typing import Any, Final, Literal

from gymnasium import spaces
from parlour.envs.aec import GameEnv
from parlour.envs.core import ParlourError, check_one_of
from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

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


class Shape:
    """Another shape of observations that hold numbers."""

    observation_spaces: dict[str, spaces.Space[Any]]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of what the agent observes."""
        return self.observation_spaces[agent]

    @staticmethod
    def shaped_space(space: spaces.Space[Any]) -> spaces.Space[Any]:
        """The space of what `shaped` gives. Raises `ParlourError` if the observations do not have what it needs."""
        raise NotImplementedError

    @staticmethod
    def shaped(observed: Any) -> Any:
        """An observation in this shape."""
        raise NotImplementedError


class ShapeWrapper(Shape, BaseWrapper[str, Any, Any]):
    """The observations of an AEC environment in another shape."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self.observation_spaces = {a: self.shaped_space(env.observation_space(a)) for a in env.possible_agents}

    def observe(self, agent: str) -> Any:
        observed = self.env.observe(agent)
        return None if observed is None else self.shaped(observed)


class ParallelShapeWrapper(Shape, BaseParallelWrapper[str, Any, Any]):
    """The same for an environment in which all seats step at once. Actions and infos may be changed as well."""

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self.observation_spaces = {a: self.shaped_space(env.observation_space(a)) for a in env.possible_agents}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observed, infos = super().reset(seed=seed, options=options)
        return {agent: self.shaped(seen) for agent, seen in observed.items()}, self.told(infos)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        observed, rewards, terminations, truncations, infos = super().step(self.made(actions))
        shaped = {agent: self.shaped(seen) for agent, seen in observed.items()}
        return shaped, rewards, terminations, truncations, self.told(infos)

    def made(self, actions: dict[str, Any]) -> dict[str, Any]:
        """The environment's actions for those that came from outside."""
        return actions

    def told(self, infos: Infos) -> Infos:
        """The infos that go outside for those of the environment."""
        return infos


class TurnWrapper(BaseWrapper[str, Any, Any]):
    """A wrapper that tells in the info what the player to move reads.

    Args:
        env: One of parlour's AEC environments with `info="full"`, of all its seats; possibly in wrappers.
        observation: What the players read (their `wants`): `"view"`: nothing beside `info["view"]`; `"features"`,
            `"text"` or `"both"`: as the environments themselves.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(self, env: AECEnv[str, Any, Any], observation: Form = "view") -> None:
        super().__init__(env)
        self.game_env = inner_game(env, type(self).__name__, full=True)
        check_one_of("observation", observation, FORMS)
        self.form = observation

    def read(self, agent: str) -> dict[str, Any]:
        """What the player of `agent` reads beside its View."""
        return {} if self.form == "view" else self.game_env.observe_as(agent, self.form)
