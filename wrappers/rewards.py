"""QuestRewards: pays each side for every quest it wins, on top of the end, for learners that need nearer goals."""

from __future__ import annotations

from typing import Any, cast

from parlour.envs.avalon.vocabulary import GOOD, AvalonView
from parlour.envs.core import accept
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class QuestRewards(BaseWrapper[str, Any, Any]):
    """When a quest is scored, the winning side's seats get `bonus` and the other side's `-bonus`; the end pays as before.

    For games whose Views tell the score as `good` and `evil` and the seat's own `side` (Avalon). The sum over a game of
    what a seat gets is its return plus `bonus` times (quests its side won - quests it lost).
    """

    def __init__(self, env: AECEnv[str, Any, Any], bonus: float = 0.1) -> None:
        if not 0 <= bonus <= 1:
            raise accept("bonus", bonus, "0..1")
        super().__init__(env)
        base = inner_game(env, "QuestRewards")
        self.game_env, self.bonus = base, bonus

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._lead = 0

    def step(self, action: Any) -> None:
        base = self.game_env
        before_end = base.outcome is None
        super().step(action)
        if not before_end:
            return
        view = cast(AvalonView, base.view(0))
        change = (view.good - view.evil) - self._lead
        self._lead += change
        if base.outcome is None:
            base.rewards = dict.fromkeys(base.agents, 0.0)
        if change:
            for agent in base.agents:
                own = cast(AvalonView, base.view(base.seat_of[agent]))
                paid = self.bonus * change * (1 if own.side == GOOD else -1)
                base.rewards[agent] += paid
                base._cumulative_rewards[agent] += paid
