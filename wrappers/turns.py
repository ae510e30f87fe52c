"""All that the player to move reads, in the info: as plain entries (TurnInInfo), or as one object that stacks (SealedTurn)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from gymnasium.utils import seeding
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.wrappers.base import FORMS, SEEDS, Form, Infos, inner_game
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class _TurnWrapper(BaseWrapper[str, Any, Any]):
    """Tells in the info what the player to move reads.

    Args:
        env: One of parlour's AEC environments with `info="full"`, of all its seats; possibly in wrappers.
        observation: What the players read (their `wants`): `"view"`: nothing besides `info["view"]`; `"features"`,
            `"text"` or `"both"`: as the environments themselves.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(self, env: AECEnv[str, Any, Any], observation: Form = "view") -> None:
        super().__init__(env)
        self.game_env = inner_game(env, type(self).__name__, full=True)
        check_one_of("observation", observation, FORMS)
        self.form = observation

    def _read(self, agent: str) -> dict[str, Any]:
        """What the player of `agent` reads beside its View."""
        return {} if self.form == "view" else self.game_env.observe_as(agent, self.form)


class TurnInInfo(_TurnWrapper):
    """`info["seat"]` is the seat to move, `info["observation"]` what its player reads; empty with `observation="view"`.

    For loops that hand infos on to their players, but reshape the observations, or leave out the first infos of a game. It
    goes outermost, for else nobody sees what `reset` returns. For the arguments see `SealedTurn`.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Infos:
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
            self.infos[agent] = {**self.infos[agent], "seat": base.seat, "observation": self._read(agent)}


class Turn:
    """One turn of one seat. What it holds is there until the move is made, so that whoever keeps it keeps little."""

    def __init__(self, table: str, game: int, seed: int, seat: int, sealed: tuple[Any, dict[str, Any]] | None) -> None:
        self.table, self.game, self.seed, self.seat = table, game, seed, seat
        """Which environment, which of its games (from 1), the seed of that game, and the seat to move."""
        self._sealed = sealed

    def read(self) -> tuple[Any, dict[str, Any]]:
        """What `Policy.act` takes. Raises `ParlourError` if the move is made, or the seat's turns are not reported."""
        if self._sealed is None:
            raise ParlourError(
                f"there is nothing to read for seat {self.seat}: not one of SealedTurn's seats, or moved"
            )
        return self._sealed

    def clear(self) -> None:
        """Forget the reported turn."""
        self._sealed = None


class SealedTurn(_TurnWrapper):
    """Infos are `{"action_mask", "turn"}`; `turn` is the `Turn` of the seat to move, and empty for others. It goes outermost.

    For loops that stack the infos of many tables into arrays: options and views do not stack, one object does.

    Args:
        env: One of parlour's AEC environments with `info="full"`, of all its seats; possibly in wrappers.
        observation: What the players read (their `wants`): `"view"`: nothing besides `info["view"]`; `"features"`,
            `"text"` or `"both"`: as the environments themselves.
        seats: Seats whose turns are reported; None: all. The turns of others are empty.

    `reset` without a seed deals from a seed that is drawn, and that the turns tell.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self, env: AECEnv[str, Any, Any], observation: Form = "view", seats: Sequence[int] | None = None
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
    def infos(self) -> Infos:
        """Infos of all agents: the mask, and a turn that is empty for agents that are not to move."""
        return {agent: self._info(agent, info) for agent, info in self.game_env.infos.items()}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        *results, info = self.env.last(observe)
        return *results, self._info(self.game_env.agent_selection, info)

    def _info(self, agent: str, info: dict[str, Any]) -> dict[str, Any]:
        base = self.game_env
        if agent != base.agent_selection:
            return {"action_mask": info["action_mask"], "turn": self._seal(base.seat_of[agent], None)}
        if self._turn is None:
            playing = base.outcome is None and base.seat in self.seats
            self._turn = self._seal(base.seat, (self._read(agent), dict(base.infos[agent])) if playing else None)
        return {"action_mask": info["action_mask"], "turn": self._turn}

    def _seal(self, seat: int, sealed: tuple[Any, dict[str, Any]] | None) -> Turn:
        return Turn(self.table, self.games, self.seed_now, seat, sealed)

    def _forget(self) -> None:
        if self._turn is not None:
            self._turn.clear()
            self._turn = None
