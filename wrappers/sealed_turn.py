"""SealedTurn: all that the player to move reads, as one object in `info["turn"]`, beside the mask.

For loops that stack the infos of many tables into arrays and keep them: options and views do not stack, one object does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from gymnasium.utils import seeding
from parlour.envs.core import ParlourError, accept
from parlour.wrappers.base import SEEDS, Form, TurnWrapper
from pettingzoo.utils.env import AECEnv


class Turn:
    """One turn of one seat. What it holds is there until the move is made, so that whoever keeps it keeps little."""

    def __init__(self, table: str, game: int, seed: int, seat: int, told: tuple[Any, dict[str, Any]] | None) -> None:
        self.table, self.game, self.seed, self.seat = table, game, seed, seat
        """Which environment, which of its games (from 1), the seed of that game, and the seat to move."""
        self._told = told

    def read(self) -> tuple[Any, dict[str, Any]]:
        """What `Policy.act` takes. Raises `ParlourError` if the move is made, or the seat is none that is told."""
        if self._told is None:
            raise ParlourError(
                f"there is nothing to read for seat {self.seat}: not one of SealedTurn's seats, or moved"
            )
        return self._told

    def clear(self) -> None:
        """Forget what was told."""
        self._told = None


class SealedTurn(TurnWrapper):
    """Infos are `{"action_mask", "turn"}`; `turn` is the `Turn` of the seat to move, and empty for others. It goes outermost.

    Args:
        env, observation: See `TurnWrapper`.
        seats: Whose turns are told; None: all. The turns of others are empty.

    `reset` without a seed deals from a seed that is drawn, and that the turns tell.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        observation: Form = "view",
        seats: Sequence[int] | None = None,
    ) -> None:
        super().__init__(env, observation)
        every = range(self.game_env.game.seats)
        if seats is not None and not set(seats) <= set(every):
            raise accept("seats", tuple(seats), every)
        self.seats = frozenset(every if seats is None else seats)
        self.table, self.games, self.seed_now = uuid4().hex, 0, 0
        self.np_random, _ = seeding.np_random(None)
        self._turn: Turn | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.table = uuid4().hex  # a copy is another table

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        self.seed_now = int(self.np_random.integers(SEEDS)) if seed is None else seed
        self.games += 1
        self._forget()
        super().reset(seed=self.seed_now, options=options)

    def step(self, action: Any) -> None:
        super().step(action)
        self._forget()

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """Of all agents: the mask, and a turn that is empty for those that are not to move."""
        base = self.game_env
        return {agent: self._info(agent, info) for agent, info in base.infos.items()}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observed, reward, terminated, truncated, info = self.env.last(observe)
        return observed, reward, terminated, truncated, self._info(self.game_env.agent_selection, info)

    # -- inside ------------------------------------------------------------------------------------------------

    def _info(self, agent: str, info: dict[str, Any]) -> dict[str, Any]:
        base = self.game_env
        if agent != base.agent_selection:
            return {"action_mask": info["action_mask"], "turn": self._seal(base.seat_of[agent], None)}
        if self._turn is None:
            told = None
            if base.outcome is None and base.seat in self.seats:
                told = (self.read(agent), dict(base.infos[agent]))
            self._turn = self._seal(base.seat, told)
        return {"action_mask": info["action_mask"], "turn": self._turn}

    def _seal(self, seat: int, told: tuple[Any, dict[str, Any]] | None) -> Turn:
        return Turn(self.table, self.games, self.seed_now, seat, told)

    def _forget(self) -> None:
        if self._turn is not None:
            self._turn.clear()
            self._turn = None
