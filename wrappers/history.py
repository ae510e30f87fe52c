"""HistoryWindow: the prose keeps only the last lines of the record; who I am and what I may do stay whole."""

from __future__ import annotations

from typing import Any

from parlour.envs.core import check_from
from parlour.envs.text import CHOICE, RECORD
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class HistoryWindow(BaseWrapper[str, Any, Any]):
    """Keep the last `lines` lines of the second section of the prose; what was left out is counted in one line.

    No utterance can pass for a heading (see `parlour.envs.text`), so the sections are found by their headings.
    """

    def __init__(self, env: AECEnv[str, Any, Any], lines: int) -> None:
        check_from("lines", lines, 1)
        super().__init__(env)
        self.lines = lines

    def observe(self, agent: str) -> Any:
        return self._cut(self.env.observe(agent))

    def observe_as(self, agent: str, observation: str) -> Any:
        """As `GameEnv.observe_as`, with the window."""
        return self._cut(self.env.observe_as(agent, observation))

    def _cut(self, observed: Any) -> Any:
        if observed is None or "text" not in observed:
            return observed
        return {**observed, "text": window(observed["text"], self.lines)}


def window(text: str, lines: int) -> str:
    r"""The prose with the last `lines` lines of its record.

    >>> window("# Who you are\nx\n# What has happened\na\nb\n# What you may do now\nc\n", 1)
    '# Who you are\nx\n# What has happened\n(1 earlier lines left out)\nb\n# What you may do now\nc\n'
    """
    start, end = text.index(f"\n{RECORD}") + 1 + len(RECORD), text.rindex(f"\n{CHOICE}") + 1
    record = text[start:end].splitlines(keepends=True)
    if len(record) <= lines:
        return text
    left_out = f"({len(record) - lines} earlier lines left out)\n"
    return text[:start] + left_out + "".join(record[-lines:]) + text[end:]
