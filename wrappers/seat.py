"""SeatEnv: one seat of a game as a Gymnasium environment; the other seats are played by policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import gymnasium
import numpy as np
from parlour.envs.aec import GameEnv
from parlour.envs.core import Move, ParlourError, accept
from parlour.envs.turn import Player, take_turn
from pettingzoo.utils.env import AECEnv

_TRIES: Final = 1000
_SEEDS: Final = 2**30  # `parlour.training.seeds.TRAINING`


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat learns, the others play by policies; what the seat earns after its last move reaches it with that move.

    Args:
        env: One of parlour's AEC environments with `info="full"`, not wrapped by Recorder's `{n}`-less paths if several
            games are to be played.
        opponents: Makes a policy for a seat (called once for each seat), or one policy for each seat.
        seat: The learner's seat, or `"random"` for another one in each game.
        observation: `"features"`: Box of numbers; `"text"`: prose.
        on_illegal: What follows an action that is not legal: `"random"`: a random legal one in its place, counted in
            `info["replaced"]`; `"raise"`: the error.

    `action_masks()` gives the legal actions as sb3-contrib's MaskablePPO asks for them. If a game ends before the seat
    has moved, `reset` deals again (`info["redeals"]`), so that an episode has at least one move.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        opponents: Callable[[int], Player] | Sequence[Player],
        *,
        seat: int | Literal["random"] = "random",
        observation: Literal["features", "text"] = "features",
        on_illegal: Literal["random", "raise"] = "random",
    ) -> None:
        base = env.unwrapped
        assert isinstance(base, GameEnv), "SeatEnv takes parlour's own environments"
        seats = range(base.game.seats)
        if seat != "random" and seat not in seats:
            raise accept("seat", seat, ("random", *seats))
        if observation not in ("features", "text"):
            raise accept("observation", observation, ("features", "text"))
        if on_illegal not in ("random", "raise"):
            raise accept("on_illegal", on_illegal, ("random", "raise"))
        if base.info != "full":
            raise ParlourError("SeatEnv needs an environment with info='full', from which the other seats are played")
        self.env, self.game_env, self.observation, self.on_illegal = env, base, observation, on_illegal
        self._players = [opponents(k) for k in seats] if callable(opponents) else list(opponents)
        if len(self._players) != len(seats):
            raise ParlourError(f"{len(self._players)} opponents; accepted: one for each of {len(seats)} seats")
        self._choice = seat
        self.seat = 0 if seat == "random" else seat
        self.metadata = {"render_modes": base.metadata["render_modes"]}
        self.render_mode = base.render_mode
        probe = GameEnv(base.spec, base.game, observation=observation)
        key = "observation" if observation == "features" else "text"
        self.observation_space = probe.observation_space(probe.possible_agents[0])[key]  # type: ignore[index]
        self.action_space = probe.action_space(probe.possible_agents[0])

    @property
    def agent(self) -> str:
        """The learner's agent."""
        return self.game_env.possible_agents[self.seat]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        for redeals in range(_TRIES):
            game_seed = seed if seed is not None and redeals == 0 else int(self.np_random.integers(_SEEDS))
            if self._choice == "random":
                self.seat = int(self.np_random.integers(self.game_env.game.seats))
            self._reward = 0.0
            self._replaced = 0
            self.env.reset(seed=game_seed, options=options)
            for seat, player in enumerate(self._players):
                if seat != self.seat:
                    player.reset(seat, game_seed)
            self._let_others_play()
            if self.game_env.outcome is None:
                return self._observe(), {**self._info(), "redeals": redeals}
        raise ParlourError(f"seat {self.seat} did not get to move in {_TRIES} games")

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.game_env.outcome is not None:
            raise ParlourError("the game is over; accepted: reset()")
        self._reward = 0.0
        self.env.step(self._legal(action))
        self._earn()
        self._let_others_play()
        over = self.game_env.outcome is not None
        return self._observe(), self._reward, over, False, self._info()

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

    def _let_others_play(self) -> None:
        base, env = self.game_env, self.env
        while base.outcome is None and base.seat != self.seat:
            take_turn(env, self._players[base.seat])
            self._earn()

    def _earn(self) -> None:
        self._reward += float(self.game_env.rewards[self.agent])

    def _legal(self, action: Any) -> Any:
        base = self.game_env
        if isinstance(action, str):
            return action
        number = int(action)
        legal = base.infos[self.agent]["legal"]
        if number in legal:
            return number
        if self.on_illegal == "raise":
            moves: tuple[Move, ...] = base.game.catalogue
            shown = moves[number] if 0 <= number < len(moves) else number
            raise accept("action", shown, base.infos[self.agent]["options"])
        self._replaced += 1
        return legal[int(self.np_random.integers(len(legal)))]

    def _observe(self) -> Any:
        seen = self.game_env.observe_as(self.agent, self.observation)
        return seen["observation" if self.observation == "features" else "text"]

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8), "seat": self.seat, "replaced": self._replaced}
