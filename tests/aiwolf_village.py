"""A village of AIWolf's Werewolf for the servers of tests, written from the rules alone: it uses nothing of parlour.

One agent comes from outside; all others play at random here. What does not fit in its answers is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

DECKS = {
    5: ["WEREWOLF", "POSSESSED", "SEER", "VILLAGER", "VILLAGER"],
    9: ["WEREWOLF"] * 2 + ["POSSESSED", "SEER", "MEDIUM", "BODYGUARD"] + ["VILLAGER"] * 3,
    13: ["WEREWOLF"] * 3 + ["POSSESSED", "SEER", "MEDIUM", "BODYGUARD"] + ["VILLAGER"] * 6,
    15: ["WEREWOLF"] * 3 + ["POSSESSED", "SEER", "MEDIUM", "BODYGUARD"] + ["VILLAGER"] * 8,
}


class StubVillage:
    """Games with one agent from outside; agents are numbers or names."""

    def __init__(self, players: int, seed: int) -> None:
        self.players, self.rng = players, np.random.default_rng(seed)
        self.wrong, self.said, self.won = list[str](), list[str](), list[bool]()
        self.games = 0

    def deal(self, agents: list[Any]) -> None:
        self.roles = dict(zip(agents, self.rng.permutation(DECKS[self.players]).tolist(), strict=True))
        self.me = self.drawn(agents)
        self.alive, self.day = set(agents), 0

    def of(self, role: str) -> list[Any]:
        return [agent for agent in sorted(self.alive) if self.roles[agent] == role]

    def over(self) -> bool:
        wolves = len(self.of("WEREWOLF"))
        return wolves == 0 or 2 * wolves >= len(self.alive)

    def ended(self) -> None:
        self.games += 1
        self.won.append((self.roles[self.me] in ("WEREWOLF", "POSSESSED")) == bool(self.of("WEREWOLF")))

    def drawn(self, among: Any) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def checked(self, request: str, answer: str, target: Any, among: list[Any]) -> Any:
        """The target of an answer, or one that may be chosen."""
        if target in among:
            return target
        self.wrong.append(f"{request} answered with {answer}, accepted: {among}")
        return among[0]

    def ballot(
        self,
        votes: list[dict[str, Any]],
        voters: list[Any],
        among: Callable[[Any], list[Any]],
        ask: Callable[[list[Any]], Any],
    ) -> Any:
        """Votes are cast into the list, a second time after a tie; who then has most of them."""
        for _ in range(2):
            cast = {agent: (ask if agent == self.me else self.drawn)(among(agent)) for agent in voters}
            votes[:] = [{"day": self.day, "agent": agent, "target": target} for agent, target in cast.items()]
            counts = Counter(cast.values())
            top = sorted(agent for agent, n in counts.items() if n == max(counts.values()))
            if len(top) == 1:
                break
        return self.drawn(top)

    # -- what the agent is told --------------------------------------------------------------------------------

    def shown(self, over: bool) -> dict[str, str]:
        """The roles that the agent knows."""
        role = self.roles[self.me]
        return {str(a): r for a, r in self.roles.items() if over or a == self.me or role == r == "WEREWOLF"}

    def status(self) -> dict[str, str]:
        return {str(agent): "ALIVE" if agent in self.alive else "DEAD" for agent in sorted(self.roles)}

    def judged(self, target: Any) -> dict[str, Any] | None:
        if target is None:
            return None
        result = "WEREWOLF" if self.roles[target] == "WEREWOLF" else "HUMAN"
        return {"day": self.day, "agent": self.me, "target": target, "result": result}
