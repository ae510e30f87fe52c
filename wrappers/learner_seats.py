"""The environment of the learners alone: LearnerSeats for PettingZoo, SeatEnv for Gymnasium. Policies play the other seats.

For trainers that would otherwise have to bring the other players along, or pay for each of their turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.spaces import AgentSpaces
from parlour.envs.adapters.turn import take_turn
from parlour.envs.core import ParlourError, accept, check_one_of, listed, numbered
from parlour.wrappers.base import SEEDS, inner_game
from parlour.wrappers.opponents import Opponents, seated
from pettingzoo.utils.env import AECEnv

_TRIES: Final = 1000
_LEARNER: Final = "learner_0"
_KEYS: Final = {"features": "observation", "text": "text"}


class LearnerSeats(AgentSpaces, AECEnv[str, Any, Any]):
    """A game as an AEC environment whose agents `learner_0`, ... are some of its seats.

    With one learner every step is a whole cycle, so that `pettingzoo.utils.conversions.aec_to_parallel` takes it. A game that
    ends before a learner has moved is dealt again (`info["redeals"]`). `info["seat"]` is the learner's seat.

    Args:
        env: One of parlour's AEC environments with `info="full"`, from which the other seats are played.
        opponents: Who plays the other seats: a policy's name, such as `"heuristic"`; a class or a function that makes a
            policy, called for each seat; or one for each seat, in order (`parlour.wrappers.opponents`).
        seats: The number of seats, drawn again for each game; or these seats, in this order.
        observation: As for the environments themselves: `"features"`, `"text"` or `"both"`; each with `action_mask`.
        on_illegal: What follows an action that is not legal: `"random"`: a random legal one in its place, counted in
            `info["replaced"]`; `"raise"`: the error. What is no action of the space at all always raises.

    Raises:
        ParlourError: A setting is not accepted.
    """

    rewards: dict[str, float]
    terminations: dict[str, bool]
    agent_selection: str
    _cumulative_rewards: dict[str, float]

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        opponents: Opponents,
        *,
        seats: int | Sequence[int] = 1,
        observation: Literal["features", "text", "both"] = "features",
        on_illegal: Literal["random", "raise"] = "random",
    ) -> None:
        super().__init__()
        base = inner_game(env, "LearnerSeats", full=True)
        check_one_of("on_illegal", on_illegal, ("random", "raise"))
        self.env, self.game_env, self.observation, self.on_illegal = env, base, observation, on_illegal
        self._fixed, count = _chosen(seats, base.game.seats)
        self._players = seated(opponents, base)
        self.metadata = {**base.metadata, "is_parallelizable": count == 1}
        self.render_mode = base.render_mode
        self.possible_agents = [f"learner_{k}" for k in range(count)]
        self.agents: list[str] = []
        self.seats = dict(zip(self.possible_agents, self._fixed or range(base.game.seats), strict=False))
        seen = GameEnv(base.spec, base.game, observation=observation, features=base.features)  # with spaces of its own
        pairs = list(zip(self.possible_agents, base.possible_agents, strict=False))
        self.observation_spaces = {learner: seen.observation_space(agent) for learner, agent in pairs}
        self.action_spaces = {learner: seen.action_space(agent) for learner, agent in pairs}
        self.np_random, _ = seeding.np_random(None)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        self.deal(seed, options)

    def deal(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """As `reset`, but with the present state of `np_random`."""
        for self._redeals in range(_TRIES):
            game_seed = seed if seed is not None and self._redeals == 0 else int(self.np_random.integers(SEEDS))
            self._deal(game_seed, options)
            if self.game_env.outcome is None:
                return
        raise ParlourError(f"seat {listed(self.seats.values())} did not get to move in {_TRIES} games")

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.env.step(self._legal(agent, action))
        self._earn()
        self._let_others_play()
        self._accumulate_rewards()
        self._tell()

    def observe(self, agent: str) -> Any:
        """As the game's own environment observes, of the seat that the learner holds."""
        return self.game_env.observe_as(self._agent_of[agent], self.observation)

    def render(self) -> Any:
        return self.game_env.render()

    def close(self) -> None:
        self.env.close()

    def _deal(self, game_seed: int, options: dict[str, Any] | None) -> None:
        """A new game up to the first move of a learner, or to its end."""
        self.seats = dict(zip(self.possible_agents, self._fixed or self._drawn(), strict=True))
        self._learner_at = {seat: agent for agent, seat in self.seats.items()}
        self._agent_of = {agent: self.game_env.possible_agents[seat] for agent, seat in self.seats.items()}
        agents = self.agents = self.possible_agents[:]
        self.rewards, self._cumulative_rewards = dict.fromkeys(agents, 0.0), dict.fromkeys(agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(agents, False), dict.fromkeys(agents, False)
        self._replaced = dict.fromkeys(agents, 0)
        self._skip_agent_selection = None
        self.env.reset(seed=game_seed, options=options)
        for seat, player in enumerate(self._players):
            if seat not in self._learner_at:
                player.reset(seat, game_seed)
        self._let_others_play()
        self._tell()

    def _drawn(self) -> tuple[int, ...]:
        """The learners' seats for one game."""
        order = self.np_random.permutation(self.game_env.game.seats)
        return tuple(map(int, order[: len(self.possible_agents)]))

    def _let_others_play(self) -> None:
        base = self.game_env
        while base.outcome is None and base.seat not in self._learner_at:
            take_turn(self.env, self._players[base.seat])
            self._earn()

    def _earn(self) -> None:
        for agent, own in self._agent_of.items():
            self.rewards[agent] += float(self.game_env.rewards[own])

    def _tell(self) -> None:
        """Select the learner whose turn it is, or end the episode of all; say so in `infos`."""
        over = self.game_env.outcome is not None
        self.terminations = dict.fromkeys(self.agents, over)
        self.agent_selection = self.agents[0] if over else self._learner_at[self.game_env.seat]
        self.infos = {
            agent: {
                "action_mask": self.game_env.infos[self._agent_of[agent]]["action_mask"],
                "seat": self.seats[agent],
                "replaced": self._replaced[agent],
                "redeals": self._redeals,
            }
            for agent in self.agents
        }

    def _legal(self, agent: str, action: Any) -> Any:
        if isinstance(action, str):
            return action
        info = self.game_env.infos[self._agent_of[agent]]
        moves, legal = self.game_env.catalogue_of(self.seats[agent]), info["legal"]
        number = numbered(action, len(moves))
        if number in legal:
            return number
        if self.on_illegal == "raise":
            raise accept(f"action {number},", moves[number], info["options"])
        self._replaced[agent] += 1
        return legal[int(self.np_random.integers(len(legal)))]


def _chosen(seats: int | Sequence[int], table: int) -> tuple[tuple[int, ...] | None, int]:
    """The fixed seats, or None; and how many learners there are."""
    accepted = f"how many (1..{table}), or different seats of 0..{table - 1}"
    if isinstance(seats, int):
        if not 1 <= seats <= table:
            raise accept("seats", seats, accepted)
        return None, seats
    fixed = tuple(seats)
    if not fixed or len(set(fixed)) < len(fixed) or not set(fixed) <= set(range(table)):
        raise accept("seats", fixed, accepted)
    return fixed, len(fixed)


class _OneSeat(LearnerSeats):
    """One learner, whose seat takes one draw: trained seats stay as they are published."""

    def _drawn(self) -> tuple[int, ...]:
        return (int(self.np_random.integers(self.game_env.game.seats)),)


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat of a game as a Gymnasium environment; policies play the others.

    What the seat earns after its last move reaches it with that move. `action_masks()` gives the legal actions as
    sb3-contrib's MaskablePPO asks for them. If a game ends before the seat has moved, `reset` deals again
    (`info["redeals"]`), so that an episode has at least one move.

    Args:
        env: One of parlour's AEC environments with `info="full"`.
        opponents: As for `LearnerSeats`.
        seat: The learner's seat, or `"random"` for another one in each game.
        observation: `"features"`: Box of numbers; `"text"`: prose.
        on_illegal: As for `LearnerSeats`.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        opponents: Opponents,
        *,
        seat: int | Literal["random"] = "random",
        observation: Literal["features", "text"] = "features",
        on_illegal: Literal["random", "raise"] = "random",
    ) -> None:
        self.env, self.game_env = env, inner_game(env, "SeatEnv", full=True)
        seats = range(self.game_env.game.seats)
        if seat != "random" and seat not in seats:
            raise accept("seat", seat, ("random", *seats))
        check_one_of("observation", observation, _KEYS)
        drawn = 1 if seat == "random" else (seat,)
        self.learners = _OneSeat(env, opponents, seats=drawn, observation=observation, on_illegal=on_illegal)
        self._key = _KEYS[observation]
        self.metadata = {"render_modes": self.game_env.metadata["render_modes"], "render_fps": 1}
        self.render_mode = self.game_env.render_mode
        self.observation_space = self.learners.observation_spaces[_LEARNER][self._key]  # type: ignore[index]
        self.action_space = self.learners.action_spaces[_LEARNER]

    @property
    def seat(self) -> int:
        """The learner's seat in this game."""
        return self.learners.seats[_LEARNER]

    @property
    def agent(self) -> str:
        """The agent of that seat."""
        return self.game_env.possible_agents[self.seat]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.learners.np_random = self.np_random
        self.learners.deal(seed, options)
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.game_env.outcome is not None:
            raise ParlourError("the game is over; accepted: reset()")
        self.learners.step(action)
        over = self.learners.terminations[_LEARNER]
        return self._observe(), self.learners.rewards[_LEARNER], over, False, self._info()

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which actions are legal, shape (number of actions,), bool; before `reset` and after the end: all."""
        base = self.game_env
        if base.state_now is None or base.outcome is not None:
            return np.ones(len(base.game.catalogue), dtype=bool)
        mask: np.ndarray[Any, np.dtype[np.bool_]] = base.infos[self.agent]["action_mask"].astype(bool)
        return mask

    def render(self) -> Any:
        return self.game_env.render()

    def close(self) -> None:
        self.env.close()

    def _observe(self) -> Any:
        return self.learners.observe(_LEARNER)[self._key]

    def _info(self) -> dict[str, Any]:
        return {**self.learners.infos[_LEARNER], "action_mask": self.action_masks().astype(np.int8)}
