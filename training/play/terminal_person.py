"""A person at the terminal of `parlour play`: sees what words are heard as before they are said."""

from __future__ import annotations

from typing import Any

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import ParlourError
from parlour.envs.language.entries import TextAction
from parlour.envs.language.free_words import FreeWords
from parlour.policies import HumanPolicy

NO_CLAIM = "no claim; your words are said as they are"


class TerminalPerson(HumanPolicy):
    """As `HumanPolicy`, at a table whose wording it knows.

    Args:
        env: The table.
        **terminal: As of `HumanPolicy`.
    """

    def __init__(self, env: GameEnv, **terminal: Any) -> None:
        super().__init__(**terminal)
        self._words = FreeWords(env.text)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        answer = super().act(observation, info)
        while isinstance(answer, str):
            try:
                move = self._words.read(answer, info["view"])
            except ParlourError:
                return answer  # the table says what is wrong with it
            claim = self._words.understood(move) or NO_CLAIM
            self._tell(f"Heard as: {claim}")
            other = self._read("Enter to say it, or other words, or the number of an option: ").strip()
            if not other:
                return TextAction(move, answer)
            answer = self._answered(other, info)
        return answer

    def _news(self, text: str) -> str:
        return "".join(map(FreeWords.as_said, super()._news(text).splitlines(keepends=True)))

    def _answered(self, answer: str, info: dict[str, Any]) -> Any:
        """The option with a number, or words."""
        if answer.isdigit() and 1 <= int(answer) <= len(info["legal"]):
            return info["legal"][int(answer) - 1]
        return self._names.seats(answer)
