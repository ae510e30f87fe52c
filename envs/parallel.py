"""A game with all seats stepping at once, as PettingZoo's parallel environments do.

A cycle takes the moves of all seats that decide at the same time: of the seat whose turn it is, and of each that will
follow without having learnt anything new (secret votes, quest cards, actions of the night). A move that was given early
is stored until its turn comes, and asked for again only if its seat has learnt something before that. Everybody else
has the single action `wait`, the last number of the action space. An action that cannot be used (a waiting seat may send anything; a sampled one need not
be legal) is replaced by a random legal one if the seat had to decide, and counted in `info["replaced"]`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from parlour.envs.aec import GameEnv
from parlour.envs.core import Event, Move, ParlourError, check_from
from parlour.envs.moment import moment
from parlour.envs.spaces import AgentSpaces, ProseSpace
from parlour.envs.text import MAX_WORDS, clean, render
from parlour.envs.wording import Mask, Turn
from pettingzoo.utils.env import ParallelEnv


class _Given(NamedTuple):
    """What a seat decided before its turn came."""

    events: tuple[Event, ...]
    """What it had seen then."""
    action: Any


class GameParallelEnv(AgentSpaces, ParallelEnv[str, Any, Any]):
    """All seats of `env` step at once.

    Args:
        env: The game's AEC environment.
        action: `"index"` or `"text"`.
        max_cycles: Truncate after this number of cycles; None: when the game is over.
    """

    def __init__(self, env: GameEnv, *, action: str = "index", max_cycles: int | None = None) -> None:
        if max_cycles is not None:
            check_from("max_cycles", max_cycles, 1)
        self.aec, self.action, self.max_cycles = env, action, max_cycles
        self.metadata = {**env.metadata, "is_parallelizable": True}
        self.render_mode = env.render_mode
        self.possible_agents = env.possible_agents[:]
        self.agents: list[str] = []
        self.wait = len(env.game.catalogue)
        self.action_spaces = {agent: self._action_space() for agent in self.possible_agents}
        self.observation_spaces = {agent: self._observation_space(agent) for agent in self.possible_agents}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self.aec.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        self.cycles = 0
        self.replaced = dict.fromkeys(self.agents, 0)
        self._given: dict[int, _Given] = {}
        self._moments = self._deciders()
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        aec = self.aec
        for seat in self._moments:
            self._given[seat] = _Given(aec.view(seat).events, actions.get(aec.possible_agents[seat]))
        while aec.outcome is None and self._holds(aec.seat, aec.state_now):
            aec.play(self._move(aec.agent_selection, self._given.pop(aec.seat).action))
        self._moments = self._deciders()
        self.cycles += 1
        over = aec.outcome is not None
        cut = not over and self.max_cycles is not None and self.cycles >= self.max_cycles
        agents = self.agents
        rewards = {agent: float(aec.rewards[agent]) if over else 0.0 for agent in agents}
        result = (
            self._observations(),
            rewards,
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            self._infos(),
        )
        if over or cut:
            self.agents = []
        return result

    def render(self) -> Any:
        return self.aec.render()

    # -- inside ------------------------------------------------------------------------------------------------

    def _action_space(self) -> spaces.Space[Any]:
        return ProseSpace(MAX_WORDS) if self.action == "text" else spaces.Discrete(self.wait + 1)

    def _observation_space(self, agent: str) -> spaces.Dict:
        parts = dict(self.aec.observation_spaces[agent].spaces)  # type: ignore[attr-defined]  # a Dict
        del parts["action_mask"]
        if self.action == "index":
            parts["action_mask"] = spaces.Box(0, 1, (self.wait + 1,), np.int8)
        return spaces.Dict(parts)

    def _deciders(self) -> dict[int, Any]:
        """The seats that decide in this cycle and have not done so already, each with the state of its turn."""
        aec = self.aec
        return {seat: state for seat, state in moment(aec.game, aec.state_now) if not self._holds(seat, state)}

    def _holds(self, seat: int, state: Any) -> bool:
        """Whether a seat has given its move for this moment: it has learnt nothing since."""
        return seat in self._given and self.aec.game.view(state, seat).events == self._given[seat].events

    def _observations(self) -> dict[str, Any]:
        return {agent: self._observation(self.aec.seat_of[agent]) for agent in self.agents}

    def _observation(self, seat: int) -> dict[str, Any]:
        aec = self.aec
        view = aec.game.view(self._moments.get(seat, aec.state_now), seat)
        seen: dict[str, Any] = {}
        if aec.observation != "features":
            seen["text"] = render(aec.text, view)
        if aec.observation != "text":
            seen["observation"] = aec.encoder(view)
        if self.action == "index":
            seen["action_mask"] = self._mask(seat)
        return seen

    def _mask(self, seat: int) -> Mask:
        """The legal numbers; `wait` alone for a seat that has nothing to decide."""
        mask = np.zeros(self.wait + 1, dtype=np.int8)
        if seat in self._moments:
            mask[:-1] = self._turn(seat).mask
        else:
            mask[-1] = 1
        return mask

    def _turn(self, seat: int) -> Turn:
        return self.aec.offer(self.aec.game.legal(self._moments[seat]), seat)

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._info(agent) for agent in self.agents}

    def _info(self, agent: str) -> dict[str, Any]:
        aec, seat = self.aec, self.aec.seat_of[agent]
        info: dict[str, Any] = {"replaced": self.replaced[agent]}
        if self.action == "index":
            info["action_mask"] = self._mask(seat)
        if aec.info == "full" and seat in self._moments:
            info |= aec.told(self._turn(seat), aec.game.view(self._moments[seat], seat))
        return info

    def _move(self, agent: str, action: Any) -> Move:
        """The action as a legal move; a random one in its place if it is none."""
        legal = self.aec.game.legal(self.aec.state_now)
        try:
            move = self._read(agent, action)
        except ParlourError:
            move = None
        if move is None or Move(move.kind, move.args) not in legal:
            self.replaced[agent] += 1
            move = legal[int(self.aec.np_random.integers(len(legal)))]
        return move

    def _read(self, agent: str, action: Any) -> Move | None:
        if self.action == "text" and isinstance(action, str):
            return self.aec.text.parse(clean(action), self.aec.view(self.aec.seat_of[agent]))
        if self.action == "index" and action is not None and 0 <= int(action) < self.wait:
            return self.aec.catalogue_of(self.aec.seat_of[agent])[int(action)]
        return None
