"""The learner's table: one seat learns, the others are played by members drawn from the pool for that game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from parlour.envs.aec import GameEnv
from parlour.envs.core import SidedView
from parlour.envs.registry import lookup
from parlour.policies import Policy
from parlour.training.selfplay.pool import Member
from parlour.training.selfplay.sampling import Lineup
from parlour.wrappers.seat import SeatEnv


@dataclass(frozen=True)
class MakePoolSeat:
    """Makes the learner's environment; picklable."""

    game: str
    options: Mapping[str, Any]
    lineup: Lineup

    def __call__(self) -> PoolSeat:
        env = lookup(self.game).raw_env(info="full", observation="features", **self.options)
        return PoolSeat(env, self.lineup)


class PoolSeat(SeatEnv):
    """A `SeatEnv` whose other seats are drawn anew for each game, once it is known on which side the learner is.

    The last `info` of a game also has `member` (the opponent), and the learner's `side` and `role`.

    Args:
        env: As for `SeatEnv`; of a game with two sides.
        lineup: Who may be met, and how often.
    """

    def __init__(self, env: GameEnv, lineup: Lineup) -> None:
        self._lineup = lineup
        super().__init__(env, lambda _: _Chair(self))

    def drawn(self, seed: int) -> tuple[Member, Member]:
        """The opponent and the mates of the game that was dealt with this seed."""
        self._drawn = self._lineup.drawn(seed, self._side(self.seat))
        return self._drawn

    def member_at(self, seat: int, seed: int) -> Member:
        """Who plays a seat."""
        opponent, mate = self.drawn(seed)
        return mate if self._side(seat) == self._side(self.seat) else opponent

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        seen, reward, over, cut, info = super().step(action)
        if over:
            role = getattr(self.game_env.view(self.seat), "role", "")
            info |= {"member": self._drawn[0].name, "side": self._side(self.seat), "role": role}
        return seen, reward, over, cut, info

    def _side(self, seat: int) -> str:
        return cast(SidedView, self.game_env.view(seat)).side


class _Chair:
    """A seat at which somebody else may sit in each game."""

    def __init__(self, table: PoolSeat) -> None:
        self._table = table
        self._players: dict[str, Policy] = {}
        self._now: Policy

    @property
    def wants(self) -> str:
        return self._now.wants

    def reset(self, seat: int, seed: int) -> None:
        member = self._table.member_at(seat, seed)
        if member.name not in self._players:
            base = self._table.game_env
            self._players[member.name] = member.seat(base.spec.id, base.game.config)
        self._now = self._players[member.name]
        self._now.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return self._now.act(observation, info)
