"""The headings of an observation in prose, in each language of a table; its sections; what is new in it since the last turn.

A game's text whose `language` is not English names it; everybody who writes or cuts prose takes the headings from here.
No player's words can imitate one: whatever a player says stands inside one line (`parlour.envs.language.text`).
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
    you_won: str
    """The end of a game to a seat with a positive return."""
    you_lost: str
    """The same with a negative return."""
    because: str
    """`{reason}`: behind these."""
    stop: str
    """Behind these, before another sentence."""
    gave_up: str
    """The reason of a game that a player gave up."""
    over: str
    """The heading of the last message to a seat, instead of the third section's heading."""
    since: str
    """Heading of the news since the seat's last message (`parlour.wrappers.conversation`)."""


OPTION: Final = "- "
"""Before each option of the third section."""
ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, Headings]] = {
    ENGLISH: Headings(
        "# Who you are\n",
        "# What has happened\n",
        "# What you may do now\n",
        "Wait: it is not your turn.\n",
        "({number} earlier lines left out)\n",
        "Your answer could not be used: ",
        "{winner} wins: {reason}.",
        "Nobody wins: {reason}.",
        "You won",
        "You lost",
        ": {reason}.",
        ". ",
        "a player gave up",
        "# Game over\n",
        "# What has happened since then\n",
    ),
    "zh": Headings(
        "# 你是谁\n",
        "# 已经发生的事\n",
        "# 现在你可以做什么\n",
        "请等待：还没有轮到你。\n",
        "（前面略去{number}行）\n",
        "你的回答无法采用：",
        "{winner}获胜：{reason}。",
        "不分胜负：{reason}。",
        "你赢了",
        "你输了",
        "：{reason}。",
        "。",
        "有玩家弃权",
        "# 游戏结束\n",
        "# 此后发生的事\n",
    ),
}


def language_of(text: Any) -> str:
    """The language of a game's text: its `language`, or English."""
    return str(text.language or ENGLISH)


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
    for language, head in LANGUAGES.items():
        if not prose.startswith(head.who):
            continue
        start, end = prose.find(f"\n{head.record}") + 1, prose.rfind(f"\n{head.choice}") + 1
        if 0 < start < end:
            parts = prose[len(head.who) : start], prose[start + len(head.record) : end], prose[end + len(head.choice) :]
            return Sections(language, *parts)
    return None


class News(NamedTuple):
    """One message to a seat, in its parts."""

    heading: str
    """The text before the record: at first with the seat's identity. Empty if nothing has happened since its last message."""
    record: str
    """What has happened that it was not told, line by line."""
    choice: str
    """What may be done now, or how the game ended, with the heading."""

    @property
    def message(self) -> str:
        """The whole."""
        return self.heading + self.record + self.choice


class SeatNews:
    """The messages to one seat in one game: the rules and its role once, then only news.

    Put together, the messages of a seat hold its observation and nothing else. Every conversation is built on this.

    Args:
        list_options: Whether messages list the options.
    """

    def __init__(self, *, list_options: bool = True) -> None:
        self.list_options = list_options
        self._record: str | None = None
        """As it was told last; None before the first message."""

    @property
    def begun(self) -> bool:
        """Whether the seat has received a message."""
        return self._record is not None

    def tell(self, sections: Sections, ended: str | None = None) -> News:
        """What is new in an observation.

        If the record does not begin with the earlier messages, as under a moving window, everything is sent again.

        Args:
            sections: The observation.
            ended: How the game ended, in a sentence instead of the choice; None: the game is running.
        """
        before, self._record = self._record, sections.record
        headings = LANGUAGES[sections.language]
        if before is None or not sections.record.startswith(before):
            heading, record = f"{headings.who}{sections.who}{headings.record}", sections.record
        else:
            record = sections.record[len(before) :]
            heading = headings.since if record else ""
        choice = f"{headings.choice}{self._choice(sections)}" if ended is None else f"{headings.over}{ended}\n"
        return News(heading, record, choice)

    def tell_prose(self, prose: str) -> News:
        """As `tell`, for an observation in one piece; prose from other tables than parlour's is sent unchanged."""
        sections = sections_of(prose)
        return News(prose, "", "") if sections is None else self.tell(sections)

    def _choice(self, sections: Sections) -> str:
        if self.list_options:
            return sections.choice
        return "".join(line for line in sections.choice.splitlines(keepends=True) if not line.startswith(OPTION))
