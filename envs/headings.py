"""The headings of an observation in prose, in each language of a table, and the lines of wrappers that stand between them.

A game's text whose `language` is not English names it; everybody who writes or cuts prose takes the headings from here.
No player's words can imitate one: whatever a player says stands inside one line (`parlour.envs.text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple


class Headings(NamedTuple):
    """The headings of the three sections, each a whole line, and the other lines that no game words itself."""

    who: str
    record: str
    choice: str
    not_your_turn: str
    """All of the third section while another seat is to move."""
    left_out: str
    """`{number}`: lines of the record that a window does not show."""
    refused: str
    """Before what was wrong with an answer."""
    won: str
    """`{winner}`, `{reason}`: the end of a game."""
    drawn: str
    """`{reason}`: the end of a game that nobody won."""
    since: str
    """Over what has happened since a seat was told last (`parlour.wrappers.conversation`)."""


ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, Headings]] = {
    ENGLISH: Headings(
        "# Who you are\n",
        "# What has happened\n",
        "# What you may do now\n",
        "Nothing: it is not your turn.\n",
        "({number} earlier lines left out)\n",
        "Your answer could not be used: ",
        "{winner} wins ({reason}).",
        "Nobody wins ({reason}).",
        "# What has happened since then\n",
    ),
    "zh": Headings(
        "# 你是谁\n",
        "# 已经发生的事\n",
        "# 现在你可以做什么\n",
        "什么也不用做：还没有轮到你。\n",
        "（前面略去{number}行）\n",
        "你的回答无法采用：",
        "{winner}获胜（{reason}）。",
        "不分胜负（{reason}）。",
        "# 此后发生的事\n",
    ),
}


def language_of(text: Any) -> str:
    """The language of a game's text: its `language`, if it has one."""
    return str(getattr(text, "language", ENGLISH))


def headings_of(text: Any) -> Headings:
    """The headings in the language of a game's text."""
    return LANGUAGES[language_of(text)]


class Sections(NamedTuple):
    """An observation in prose, cut into its sections; each ends in a line break or is empty."""

    language: str
    who: str
    record: str
    choice: str
    """What is asked and the options; whatever a wrapper has put behind them included."""


def sections_of(prose: str) -> Sections | None:
    r"""The sections of an observation in whatever language it is written; None if it is none.

    >>> sections_of("# Who you are\nx\n# What has happened\na\n# What you may do now\nc\n")
    Sections(language='en', who='x\n', record='a\n', choice='c\n')
    """
    for language, told in LANGUAGES.items():
        if not prose.startswith(told.who):
            continue
        start, end = prose.find(f"\n{told.record}") + 1, prose.rfind(f"\n{told.choice}") + 1
        if 0 < start < end:
            parts = prose[len(told.who) : start], prose[start + len(told.record) : end], prose[end + len(told.choice) :]
            return Sections(language, *parts)
    return None
