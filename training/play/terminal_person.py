"""A person at the terminal of `parlour play`: sees what words are heard as before they are said, and a coach's hints if asked."""

from __future__ import annotations

from typing import Any

from parlour.envs.aec import GameEnv
from parlour.envs.core import ParlourError
from parlour.envs.entries import TextAction
from parlour.envs.free_words import as_said, read_free_words, understood
from parlour.policies import HumanPolicy
from parlour.training.play.coach import Coach

NO_CLAIM = "no claim; your words are said as they are"


class TerminalPerson(HumanPolicy):
    """As `HumanPolicy`, at a table whose wording it knows.

    Args:
        env: The table.
        coach: Whether to show hints.
        **terminal: As of `HumanPolicy`.
    """

    def __init__(self, env: GameEnv, coach: bool = False, **terminal: Any) -> None:
        super().__init__(**terminal)
        self._env, self._coached = env, coach
        self._coach: Coach | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        if self._coached:
            self._coach = Coach(self._env, seat)
            self._coach.reset(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        if self._coach is not None:
            for line in self._coach.hint(observation, info).lines():
                self._tell(line)
        answer = super().act(observation, info)
        while isinstance(answer, str):
            try:
                move = read_free_words(self._env.text, answer, info["view"])
            except ParlourError:
                return answer  # the table says what is wrong with it
            claim = understood(self._env.text, move) or NO_CLAIM
            self._tell(f"Heard as: {claim}")
            other = self._read("Enter to say it, or other words, or the number of an option: ").strip()
            if not other:
                return TextAction(move, answer)
            answer = self._answered(other, info)
        return answer

    def _news(self, text: str) -> str:
        return "".join(map(as_said, super()._news(text).splitlines(keepends=True)))

    def _answered(self, answer: str, info: dict[str, Any]) -> Any:
        """The option with a number, or words."""
        if answer.isdigit() and 1 <= int(answer) <= len(info["legal"]):
            return info["legal"][int(answer) - 1]
        return self._names.seats(answer)
