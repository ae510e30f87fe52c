"""SeatEnv: one seat of a game as a Gymnasium environment; the other seats are played by policies."""

from __future__ import annotations

from typing import Any, Final, Literal

import gymnasium
import numpy as np
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.wrappers.base import inner_game
from parlour.wrappers.learner_seats import LearnerSeats
from parlour.wrappers.opponents import Opponents
from pettingzoo.utils.env import AECEnv

_LEARNER: Final = "learner_0"
_KEYS: Final = {"features": "observation", "text": "text"}


class SeatEnv(gymnasium.Env[Any, Any]):
    """`LearnerSeats` with one learner, as Gymnasium wants it.

    What the seat earns after its last move reaches it with that move.

    Args:
        env: One of parlour's AEC environments with `info="full"`, not wrapped by Recorder's `{n}`-less paths if several
            games are to be played.
        opponents: Who plays the other seats: a policy's name, such as `"heuristic"`; a class or a function that makes a
            policy, called for each seat; or one for each seat, in order (`parlour.wrappers.opponents`).
        seat: The learner's seat, or `"random"` for another one in each game.
        observation: `"features"`: Box of numbers; `"text"`: prose.
        on_illegal: What follows an action that is not legal: `"random"`: a random legal one in its place, counted in
            `info["replaced"]`; `"raise"`: the error. What is no action of the space at all always raises.

    `action_masks()` gives the legal actions as sb3-contrib's MaskablePPO asks for them. If a game ends before the seat
    has moved, `reset` deals again (`info["redeals"]`), so that an episode has at least one move.

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
        self.observation = observation
        self.metadata = {"render_modes": self.game_env.metadata["render_modes"], "render_fps": 1}
        self.render_mode = self.game_env.render_mode
        self.observation_space = self.learners.observation_spaces[_LEARNER][_KEYS[observation]]  # type: ignore[index]
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

    # -- inside ------------------------------------------------------------------------------------------------

    def _observe(self) -> Any:
        return self.learners.observe(_LEARNER)[_KEYS[self.observation]]

    def _info(self) -> dict[str, Any]:
        return {**self.learners.infos[_LEARNER], "action_mask": self.action_masks().astype(np.int8)}


class _OneSeat(LearnerSeats):
    """One learner, whose seat takes one draw: trained seats stay as they are published."""

    def _drawn(self) -> tuple[int, ...]:
        return (int(self.np_random.integers(self.game_env.game.seats)),)
