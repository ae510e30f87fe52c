"""Observations in another shape: the mask apart, another key, numbers alone, ranks for actions, a window on the record."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import ParlourError, accept, check_from, numbered
from parlour.envs.language.headings import LANGUAGES, sections_of
from parlour.wrappers.base import Infos, inner_game
from pettingzoo.utils.env import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

Space = spaces.Space[Any]


class _Shape:
    """Another shape of observations that hold numbers."""

    observation_spaces: dict[str, Space]

    def observation_space(self, agent: str) -> Space:
        """The space of what the agent observes."""
        return self.observation_spaces[agent]

    def _shape(self, env: AECEnv[str, Any, Any] | ParallelEnv[str, Any, Any]) -> None:
        self.observation_spaces = {a: self.shaped_space(env.observation_space(a)) for a in env.possible_agents}

    @staticmethod
    def shaped_space(space: Space) -> Space:
        """The space of what `shaped` gives. Raises `ParlourError` if the observations do not have what it needs."""
        raise NotImplementedError

    @staticmethod
    def shaped(observed: Any) -> Any:
        """An observation in this shape."""
        raise NotImplementedError


class _ShapeWrapper(_Shape, BaseWrapper[str, Any, Any]):
    """The observations of an AEC environment in another shape."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self._shape(env)

    def observe(self, agent: str) -> Any:
        observed = self.env.observe(agent)
        return None if observed is None else self.shaped(observed)


class _ParallelShapeWrapper(_Shape, BaseParallelWrapper[str, Any, Any]):
    """The same for an environment in which all seats step at once. Actions and infos may be changed as well."""

    def __init__(self, env: ParallelEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self._shape(env)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], Infos]:
        observed, infos = super().reset(seed=seed, options=options)
        return {agent: self.shaped(seen) for agent, seen in observed.items()}, self._infos_out(infos)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        observed, *results, infos = super().step(self._actions_in(actions))
        shaped = {agent: self.shaped(seen) for agent, seen in observed.items()}
        return shaped, *results, self._infos_out(infos)

    def _actions_in(self, actions: dict[str, Any]) -> dict[str, Any]:
        return actions

    def _infos_out(self, infos: Infos) -> Infos:
        return infos


# -- the mask apart, or beside the numbers under another key ----------------------------------------------------


class _Bare(_Shape):
    @staticmethod
    def shaped_space(space: Space) -> Space:
        if not isinstance(space, spaces.Dict) or "observation" not in space.spaces:
            raise ParlourError("MaskInInfo needs numbers to show; accepted: environments with observation='features'")
        return space["observation"]

    @staticmethod
    def shaped(observed: Any) -> Any:
        return observed["observation"]


class MaskInInfo(_Bare, _ShapeWrapper):
    """Observations of an AEC environment become a bare Box of numbers; the mask is in `info["action_mask"]` alone.

    For learners that take no dictionary, or that look for masks in `infos`.

    Raises:
        ParlourError: The environment has no numbers among its observations.
    """


class ParallelMaskInInfo(_Bare, _ParallelShapeWrapper):
    """The same for an environment in which all seats step at once."""


class _Plural(_Shape):
    @staticmethod
    def shaped_space(space: Space) -> Space:
        if not isinstance(space, spaces.Dict) or not {"observation", "action_mask"} <= set(space.spaces):
            raise ParlourError(
                "ObservationsKey needs numbers and a mask; accepted: observation='features', action='index'"
            )
        return spaces.Dict({"action_mask": space["action_mask"], "observations": space["observation"]})

    @staticmethod
    def shaped(observed: Any) -> Any:
        return {"action_mask": observed["action_mask"], "observations": observed["observation"]}


class ObservationsKey(_Plural, _ShapeWrapper):
    """Observations of an AEC environment become `{"observations": Box, "action_mask": Box}`, without prose.

    PettingZoo says `observation`; some learners with masks look for the plural.

    Raises:
        ParlourError: The environment has no numbers among its observations, or no mask.
    """


class ParallelObservationsKey(_Plural, _ParallelShapeWrapper):
    """The same for an environment in which all seats step at once."""


# -- ranks for actions -----------------------------------------------------------------------------------------


class LegalRanks(MaskInInfo):
    """Action k is the legal move number k, modulo their count, in the order of the catalogue.

    Every action is legal, the observation is a bare Box of numbers, and `info` has no mask: for learners that know no masks.

    Args:
        env: An AEC environment with numbers as observations and as actions.
        ranks: How many actions there are: at least as many as a seat ever has legal moves. None: as `env` has.

    Raises:
        ParlourError: A setting is not accepted; when stepping, an action that is no rank, or more legal moves than ranks.
    """

    def __init__(self, env: AECEnv[str, Any, Any], ranks: int | None = None) -> None:
        super().__init__(env)
        self.rank_spaces = {agent: _ranks(env.action_space(agent), ranks) for agent in env.possible_agents}

    @property
    def infos(self) -> Infos:
        """Infos of the environment, without masks."""
        return _maskless(self.env.infos)

    def action_space(self, agent: str) -> Space:
        return self.rank_spaces[agent]

    def step(self, action: Any) -> None:
        agent = self.env.agent_selection
        if action is not None and not (self.env.terminations[agent] or self.env.truncations[agent]):
            action = _ranked(action, self.env.infos[agent]["action_mask"], self.rank_spaces[agent])
        super().step(action)


class ParallelLegalRanks(ParallelMaskInInfo):
    """The same for an environment in which all seats step at once. A seat with nothing to decide waits by any action."""

    def __init__(self, env: ParallelEnv[str, Any, Any], ranks: int | None = None) -> None:
        super().__init__(env)
        self.rank_spaces = {agent: _ranks(env.action_space(agent), ranks) for agent in env.possible_agents}
        self._masks: dict[str, Any] = {}

    def action_space(self, agent: str) -> Space:
        return self.rank_spaces[agent]

    def _actions_in(self, actions: dict[str, Any]) -> dict[str, Any]:
        return {
            agent: None if action is None else _ranked(action, self._masks[agent], self.rank_spaces[agent])
            for agent, action in actions.items()
        }

    def _infos_out(self, infos: Infos) -> Infos:
        self._masks = {agent: info["action_mask"] for agent, info in infos.items()}
        return _maskless(infos)


def _ranked(action: Any, mask: Any, space: spaces.Discrete) -> int:
    """The number of the move that has this rank. Raises `ParlourError` for no rank, and for too few ranks."""
    legal = np.flatnonzero(mask)
    rank = numbered(action, int(space.n))
    if len(legal) > space.n:
        raise ParlourError(f"{len(legal)} legal moves, but {space.n} ranks; accepted: ranks={len(legal)} or more")
    return int(legal[rank % len(legal)])


def _ranks(space: Space, ranks: int | None) -> spaces.Discrete:
    if not isinstance(space, spaces.Discrete):
        raise ParlourError("LegalRanks needs numbers as actions; accepted: environments with action='index'")
    if ranks is not None and not 1 <= ranks <= space.n:
        raise accept("ranks", ranks, f"1..{space.n}")
    return spaces.Discrete(int(space.n) if ranks is None else ranks)


def _maskless(infos: Infos) -> Infos:
    return {agent: {key: value for key, value in i.items() if key != "action_mask"} for agent, i in infos.items()}


# -- numbers alone, and less prose -----------------------------------------------------------------------------


class NumericFeatures(BaseWrapper[str, Any, Any]):
    """Observations become `{"observation": Box float32 1-D, "action_mask": int8}`, whatever `env` observes."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        base = self.game_env = inner_game(env, "NumericFeatures")
        numeric = GameEnv(base.spec, base.game, observation="features", features=base.features)
        self.observation_spaces = numeric.observation_spaces

    def observation_space(self, agent: str) -> Space:
        return self.observation_spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        return self.game_env.observe_as(agent, "features")


class HistoryWindow(BaseWrapper[str, Any, Any]):
    """Keep the last `lines` lines of the second section of the prose; what was left out is counted in one line.

    No utterance can pass for a heading (see `parlour.envs.language.text`), so the sections are found by their headings.
    """

    def __init__(self, env: AECEnv[str, Any, Any], lines: int) -> None:
        check_from("lines", lines, 1)
        super().__init__(env)
        self.lines = lines

    def observe(self, agent: str) -> Any:
        return self._cut(self.env.observe(agent))

    def observe_as(self, agent: str, observation: str) -> Any:
        """As `GameEnv.observe_as`, with the window."""
        return self._cut(self.env.observe_as(agent, observation))

    def _cut(self, observed: Any) -> Any:
        if observed is None or "text" not in observed:
            return observed
        return {**observed, "text": window(observed["text"], self.lines)}


def window(text: str, lines: int) -> str:
    r"""The prose with the last `lines` lines of its record.

    >>> window("# Who you are\nx\n# What has happened\na\nb\n# What you may do now\nc\n", 1)
    '# Who you are\nx\n# What has happened\n(1 earlier lines left out)\nb\n# What you may do now\nc\n'
    """
    sections = sections_of(text)
    record = sections.record.splitlines(keepends=True) if sections else []
    if sections is None or len(record) <= lines:
        return text
    headings = LANGUAGES[sections.language]
    shown = headings.left_out.format(number=len(record) - lines) + "".join(record[-lines:])
    return f"{headings.who}{sections.who}{headings.record}{shown}{headings.choice}{sections.choice}"
