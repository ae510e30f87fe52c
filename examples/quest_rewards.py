"""A reward of your own as a PettingZoo wrapper: Avalon pays each side for every quest it wins, on top of the end.

Usage: python examples/quest_rewards.py

It plays a game at random and prints what each seat got. `SeatEnv(QuestRewards(env), "heuristic")` is the same for Gymnasium.
"""

from __future__ import annotations

from typing import Any

from parlour.envs import registry
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class QuestRewards(BaseWrapper[str, Any, Any]):
    """When a quest is scored, the winning side's seats get `bonus` and the other side's `-bonus`; the end pays as before.

    The sum over a game of what a seat gets is its return plus `bonus` times (quests its side won - quests it lost).
    """

    def __init__(self, env: AECEnv[str, Any, Any], bonus: float = 0.1) -> None:
        super().__init__(env)
        self.game_env, self.bonus = env.unwrapped, bonus

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._lead = 0

    def step(self, action: Any) -> None:
        base: Any = self.game_env
        over = base.outcome is not None
        super().step(action)
        if over:
            return
        view = base.view(0)
        change, self._lead = view.good - view.evil - self._lead, view.good - view.evil
        if base.outcome is None:
            base.rewards = dict.fromkeys(base.agents, 0.0)
        for agent in base.agents if change else ():
            side = base.view(base.seat_of[agent]).side
            paid = self.bonus * change * (1 if side == "good" else -1)
            base.rewards[agent] += paid
            base._cumulative_rewards[agent] += paid


if __name__ == "__main__":
    env = QuestRewards(registry["avalon_v0"].raw_env(num_players=5, talk=False, info="full"))
    env.reset(seed=7)
    got = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        got[agent] += reward
        env.step(None if terminated or truncated else env.action_space(agent).sample(info["action_mask"]))
    print({agent: round(reward, 1) for agent, reward in got.items()})
