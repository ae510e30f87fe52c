"""A person at the terminal with a coach."""

from __future__ import annotations

from typing import Any

from parlour.training.play.terminal_person import TerminalPerson

from parlour_table.coach import Coach


class CoachedPerson(TerminalPerson):
    """As `TerminalPerson`, with hints before each turn."""

    def __init__(self, env: Any, **terminal: Any) -> None:
        super().__init__(env, **terminal)
        self._env = env
        self._coach: Coach | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._coach = Coach(self._env, seat)
        self._coach.reset(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        if self._coach is not None:
            for line in self._coach.hint(observation, info).lines():
                self._tell(line)
        return super().act(observation, info)
