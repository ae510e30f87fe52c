"""HistoryWindow: the prose keeps only the last lines of the record; who I am and what I may do stay whole."""

from __future__ import annotations

from typing import Any

from parlour.envs.core import check_from
from parlour.envs.headings import LANGUAGES, sections_of
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
    found = sections_of(text)
    record = found.record.splitlines(keepends=True) if found else []
    if found is None or len(record) <= lines:
        return text
    told = LANGUAGES[found.language]
    kept = told.left_out.format(number=len(record) - lines) + "".join(record[-lines:])
    return f"{told.who}{found.who}{told.record}{kept}{told.choice}{found.choice}"
