"""What a seat is told at its turn, from the prose that it observes: the rules and its role once, then only what is new.

Put together, the messages of a seat hold its observation and nothing else. Whoever makes a conversation of a game stands on
this: `parlour.wrappers.conversation` at its table, a policy with nothing but its observations.
"""

from __future__ import annotations

from typing import NamedTuple

from parlour.envs.headings import LANGUAGES, Sections, sections_of
from parlour.envs.text import OPTION


class News(NamedTuple):
    """One message to a seat, in its parts."""

    heading: str
    """What stands before the record: at first who the seat is, too. Empty if nothing has happened since it was told last."""
    record: str
    """What has happened that it was not told, line by line."""
    choice: str
    """What may be done now, or how the game ended, with the heading."""

    @property
    def told(self) -> str:
        """All but the choice."""
        return self.heading + self.record

    @property
    def message(self) -> str:
        """The whole."""
        return self.told + self.choice


class SeatNews:
    """What one seat has been told of one game.

    Args:
        list_options: Whether messages list the options.
    """

    def __init__(self, *, list_options: bool = True) -> None:
        self.list_options = list_options
        self._record: str | None = None
        """As it was told last; None before the first message."""

    @property
    def begun(self) -> bool:
        """Whether the seat was told anything yet."""
        return self._record is not None

    def tell(self, sections: Sections, ended: str | None = None) -> News:
        """What is new in an observation.

        Where the record does not begin with what was told before, as under a window that moves on, all is told anew.

        Args:
            sections: The observation.
            ended: How the game ended, in a sentence, which takes the place of the choice; None: it goes on.
        """
        before, self._record = self._record, sections.record
        headings = LANGUAGES[sections.language]
        if before is None or not sections.record.startswith(before):
            heading, record = f"{headings.who}{sections.who}{headings.record}", sections.record
        else:
            record = sections.record[len(before) :]
            heading = headings.since if record else ""
        choice = self._choice(sections) if ended is None else f"{ended}\n"
        return News(heading, record, f"{headings.choice}{choice}")

    def tell_prose(self, prose: str) -> News:
        """As `tell`, of an observation in one piece; other prose than that of parlour's tables is told as it is."""
        sections = sections_of(prose)
        return News(prose, "", "") if sections is None else self.tell(sections)

    def _choice(self, sections: Sections) -> str:
        if self.list_options:
            return sections.choice
        return "".join(line for line in sections.choice.splitlines(keepends=True) if not line.startswith(OPTION))
