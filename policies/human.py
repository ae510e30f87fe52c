"""A person at the terminal: reads the prose, answers in words or with the number of an option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from parlour.envs.headings import LANGUAGES, sections_of
from parlour.envs.terminal import tell_text
from parlour.policies.base import Policy


class HumanPolicy(Policy):
    """Shows what is new in the observation and asks for an answer.

    Args:
        read: Reads one line; the terminal by default.
        write: Shows text; the terminal by default.
    """

    name: ClassVar[str] = "human"
    wants: ClassVar[str] = "text"

    def __init__(self, read: Callable[[str], str] | None = None, write: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self._read, self._write = read or input, write or tell_text
        self._shown = ""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._shown = ""

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self._write(self._news(observation["text"]))
        options = info["options"]
        for number, option in enumerate(options, 1):
            self._write(f"  {number:>3}  {option}")
        while True:
            answer = self._read("Number of an option, or your own words: ").strip()
            if answer.isdigit() and 1 <= int(answer) <= len(options):
                return info["legal"][int(answer) - 1]
            if answer and not answer.isdigit():
                return answer
            self._write(f"{answer!r} is not accepted; accepted: 1..{len(options)}, or words")

    def _news(self, text: str) -> str:
        """What was not shown before; the options are listed with numbers instead."""
        sections = sections_of(text)
        choice = text if sections is None else sections.choice
        told = "" if sections is None else text.removesuffix(choice).removesuffix(LANGUAGES[sections.language].choice)
        same = 0
        while same < min(len(told), len(self._shown)) and told[same] == self._shown[same]:
            same += 1
        start = told.rfind("\n", 0, same) + 1
        self._shown = told
        asked, *rest = choice.splitlines() or [""]
        refused = [line for line in rest if not line.startswith("- ")]
        return told[start:] + "\n".join([*refused, asked])
