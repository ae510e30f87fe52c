"""A game with all seats stepping at once, as PettingZoo's parallel environments do.

A cycle takes the moves of all seats that decide at the same time: the seat whose turn it is, and each later seat that learns
nothing new before its move (secret votes, quest cards). A phase with hidden turns, such as a night, has a fixed number of cycles
(`parlour.envs.adapters.moment`). Each cycle asks the seats that could act, and results appear when the phase is over, so that cycles
reveal no more than the View. A move that was given
early is stored until its turn comes; if it never comes, as for a seer who is killed before, it is dropped. Everybody else
has the single action `wait`, the last number of the action space. An action that cannot be used (a waiting seat may send
anything; a sampled one need not be legal) is replaced by a random legal one if the seat had to decide, and counted in
`info["replaced"]`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.moment import HiddenPhase, hidden_cycles, moment
from parlour.envs.adapters.spaces import AgentSpaces, ObservedSpace, ProseSpace
from parlour.envs.adapters.wording import Mask
from parlour.envs.core import Event, Move, ParlourError, View, check_from, numbered
from parlour.envs.language.text import MAX_WORDS, clean, render
from pettingzoo.utils.env import ParallelEnv


class _Given(NamedTuple):
    """What a seat decided before its turn came."""

    events: tuple[Event, ...]
    """What it had seen then."""
    move: Move


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
        self.action_spaces = {
            agent: ProseSpace(MAX_WORDS) if action == "text" else spaces.Discrete(self.wait + 1)
            for agent in self.possible_agents
        }
        self.observation_spaces = {agent: self._observation_space(agent) for agent in self.possible_agents}

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self.aec.reset(seed=seed, options=options)
        self.agents = self.possible_agents[:]
        self.cycles = 0
        self.replaced = dict.fromkeys(self.agents, 0)
        self._given: dict[int, _Given] = {}
        self._hidden: HiddenPhase | None = None
        self._show()
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        aec = self.aec
        for seat, view in enumerate(self._views):
            if view.legal:
                self._given[seat] = _Given(view.events, self._move(view, actions.get(aec.possible_agents[seat])))
        self._play()
        self._show()
        self.cycles += 1
        over = aec.outcome is not None and self._hidden is None
        cut = not over and self.max_cycles is not None and self.cycles >= self.max_cycles
        agents = self.agents
        rewards = {agent: float(aec.rewards[agent]) if over else 0.0 for agent in agents}
        flags = dict.fromkeys(agents, over), dict.fromkeys(agents, cut)
        result = self._observations(), rewards, *flags, self._infos()
        if over or cut:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return result

    def render(self) -> Any:
        """As the game's own environment renders; a hidden phase shows nothing before it ends."""
        return self.aec.render_record(self.aec.state_now if self._hidden is None else self._hidden.begin)

    def shown(self, seat: int) -> View:
        """What a seat is shown in this cycle, with what it is asked as `legal`."""
        return self._views[seat]

    def _observation_space(self, agent: str) -> ObservedSpace:
        parts = dict(self.aec.observation_spaces[agent].spaces)  # type: ignore[attr-defined]  # a Dict
        del parts["action_mask"]
        if self.action == "index":
            parts["action_mask"] = spaces.Box(0, 1, (self.wait + 1,), np.int8)
        return ObservedSpace(parts)

    def _play(self) -> None:
        """Make the moves that are given, as far as their turns come one after another."""
        aec = self.aec
        while aec.outcome is None and not (self._hidden and self._hidden.over) and self._holds(aec.seat, aec.state_now):
            aec.play(self._given.pop(aec.seat).move)
            if self._hidden is not None:
                self._hidden.follow(aec.state_now)

    def _show(self) -> None:
        """Find what each seat is shown in the next cycle, with what it is asked as `legal`."""
        views = None if self._hidden is None else self._hidden.cycle(self._given)
        if views is None and self._hidden is not None:
            self._hidden = None
            self._given.clear()
        self._views = self._public() if views is None else views

    def _public(self) -> list[View]:
        """What each seat is shown where all see each turn; the first cycle of a hidden phase if one begins."""
        aec = self.aec
        game, now = aec.game, aec.state_now
        cycles = 0 if aec.outcome is not None else hidden_cycles(game, now)
        if cycles:
            self._hidden = HiddenPhase(game, now, cycles)
            self._given.clear()
            views = self._hidden.cycle(())
            assert views is not None
            return views
        deciding = {seat: state for seat, state in moment(game, now) if not self._holds(seat, state)}
        return [game.view(deciding.get(seat, now), seat) for seat in range(game.seats)]

    def _holds(self, seat: int, state: Any) -> bool:
        """Whether a seat has given its move for this moment: it has learnt nothing since."""
        return seat in self._given and self.aec.game.view(state, seat).events == self._given[seat].events

    def _observations(self) -> dict[str, Any]:
        return {agent: self._observation(self.aec.seat_of[agent]) for agent in self.agents}

    def _observation(self, seat: int) -> dict[str, Any]:
        aec, view = self.aec, self._views[seat]
        seen: dict[str, Any] = {}
        if aec.observation != "features":
            seen["text"] = render(aec.text, view)
        if aec.observation != "text":
            seen["observation"] = aec.encoder(view)
        if self.action == "index":
            seen["action_mask"] = self._mask(view)
        return seen

    def _mask(self, view: View) -> Mask:
        """The legal numbers; `wait` alone for a seat that has nothing to decide."""
        mask = np.zeros(self.wait + 1, dtype=np.int8)
        if view.legal:
            mask[:-1] = self.aec.offer(view.legal, view.seat).mask
        else:
            mask[-1] = 1
        return mask

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {agent: self._info(agent) for agent in self.agents}

    def _info(self, agent: str) -> dict[str, Any]:
        aec, view = self.aec, self._views[self.aec.seat_of[agent]]
        info: dict[str, Any] = {"replaced": self.replaced[agent]}
        if self.action == "index":
            info["action_mask"] = self._mask(view)
        if aec.info == "full" and view.legal:
            info |= aec.full_info(aec.offer(view.legal, view.seat), view)
        return info

    def _move(self, view: View, action: Any) -> Move:
        """The action as a legal move; a random one in its place if it is none."""
        legal = view.legal
        try:
            move = self._read(view, action)
        except ParlourError:
            move = None
        if move is None or Move(move.kind, move.args) not in legal:
            self.replaced[self.aec.possible_agents[view.seat]] += 1
            move = legal[int(self.aec.np_random.integers(len(legal)))]
        return move

    def _read(self, view: View, action: Any) -> Move | None:
        if self.action == "index":
            return self.aec.catalogue_of(view.seat)[numbered(action, self.wait)]
        return self.aec.text.parse(clean(action), view) if isinstance(action, str) else None
