"""LegalRanks: the action is a rank among the legal moves, so that every action is legal and there is no mask.

For learners that know no masks. They would have to learn first, by trial, which of many moves are legal at a turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from parlour.envs.core import ParlourError, accept, numbered
from parlour.wrappers.base import Infos
from parlour.wrappers.mask_in_info import MaskInInfo, ParallelMaskInInfo
from pettingzoo.utils.env import AECEnv, ParallelEnv


class LegalRanks(MaskInInfo):
    """Action k is the legal move number k, modulo their count, in the order of the catalogue.

    The observation is a bare Box of numbers, and `info` has no mask.

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
        """Of the environment, without masks."""
        return _maskless(self.env.infos)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.rank_spaces[agent]

    def step(self, action: Any) -> None:
        agent = self.env.agent_selection
        if action is not None and not (self.env.terminations[agent] or self.env.truncations[agent]):
            action = ranked(action, self.env.infos[agent]["action_mask"], self.rank_spaces[agent])
        super().step(action)


class ParallelLegalRanks(ParallelMaskInInfo):
    """The same for an environment in which all seats step at once. A seat with nothing to decide waits by any action."""

    def __init__(self, env: ParallelEnv[str, Any, Any], ranks: int | None = None) -> None:
        super().__init__(env)
        self.rank_spaces = {agent: _ranks(env.action_space(agent), ranks) for agent in env.possible_agents}
        self._masks: dict[str, Any] = {}

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.rank_spaces[agent]

    def made(self, actions: dict[str, Any]) -> dict[str, Any]:
        return {
            agent: None if action is None else ranked(action, self._masks[agent], self.rank_spaces[agent])
            for agent, action in actions.items()
        }

    def told(self, infos: Infos) -> Infos:
        self._masks = {agent: info["action_mask"] for agent, info in infos.items()}
        return _maskless(infos)


def ranked(action: Any, mask: Any, space: spaces.Discrete) -> int:
    """The number of the move that has this rank. Raises `ParlourError` for no rank, and for too few ranks."""
    legal = np.flatnonzero(mask)
    rank = numbered(action, int(space.n))
    if len(legal) > space.n:
        raise ParlourError(f"{len(legal)} legal moves, but {space.n} ranks; accepted: ranks={len(legal)} or more")
    return int(legal[rank % len(legal)])


def _ranks(space: spaces.Space[Any], ranks: int | None) -> spaces.Discrete:
    if not isinstance(space, spaces.Discrete):
        raise ParlourError("LegalRanks needs numbers as actions; accepted: environments with action='index'")
    if ranks is not None and not 1 <= ranks <= space.n:
        raise accept("ranks", ranks, f"1..{space.n}")
    return spaces.Discrete(int(space.n) if ranks is None else ranks)


def _maskless(infos: Infos) -> Infos:
    return {agent: {key: told for key, told in info.items() if key != "action_mask"} for agent, info in infos.items()}
