"""A person at the terminal with a coach."""

from __future__ import annotations

from typing import Any

from parlour.training.play.terminal_person import TerminalPerson

from parlour_table.coach import Coach


class CoachedPerson(TerminalPerson):
    """As `TerminalPerson`, with hints at each turn, after what is new."""

    def __init__(self, env: Any, **terminal: Any) -> None:
        super().__init__(env, **terminal)
        self._env = env
        self._coach: Coach | None = None
        self._hint: list[str] = []

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._coach = Coach(self._env, seat)
        self._coach.reset(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        if self._coach is not None:
            self._hint = self._coach.hint(observation, info).lines()
        return super().act(observation, info)

    def _news(self, text: str) -> str:
        return "\n".join([super()._news(text), *self._hint])
