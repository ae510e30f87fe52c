"""TurnInInfo: the info of the agent to move holds all that a player reads, and `reset` returns it.

For loops that hand infos on to their players, but reshape the observations, or leave out the first infos of a game.
"""

from __future__ import annotations

from typing import Any

from parlour.wrappers.base import TurnWrapper


class TurnInInfo(TurnWrapper):
    """`info["seat"]` is the seat to move, `info["observation"]` what its player reads; empty with `observation="view"`.

    It goes outermost, for else nobody sees what `reset` returns. For the arguments see `TurnWrapper`.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> dict[str, dict[str, Any]]:
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
            self.infos[agent] = {**self.infos[agent], "seat": base.seat, "observation": self.read(agent)}
