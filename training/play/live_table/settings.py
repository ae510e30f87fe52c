"""The settings of a live table: its clock and its limits. Needs no extra."""

from __future__ import annotations

import math
from dataclasses import dataclass

from parlour.envs.core import accept, check_from
from parlour.envs.text import MAX_WORDS

LONGEST_ESCAPE = 12
"""Characters of JSON that one character may take: a pair of surrogates, each escaped (RFC 8259, 7)."""


@dataclass(frozen=True)
class TableSettings:
    """How a table treats the people at it.

    Raises:
        ParlourError: One of them is outside what is accepted.
    """

    clock: float | None = None
    """Seconds that a person has for a move; then the table makes the one that the rules of the game prescribe for words
    that cannot be used, which is counted; None: no clock."""
    pause: float = 5.0
    """Seconds between two games at a table without people; people begin the next one themselves."""
    max_watchers: int = 50
    """Number of watchers at once; the next one is refused."""
    max_message: int = 131_072
    """Longest message of a browser in bytes; a longer one is refused."""
    message_rate: float = 5.0
    """Messages that a browser may send each second, on average; its connection ends beyond that."""
    message_burst: int = 40
    """Messages that a browser may send at once."""
    sit_timeout: float = 10.0
    """Seconds in which a browser that has connected has to bring its key."""

    def __post_init__(self) -> None:
        for name, seconds in (("clock", self.clock), ("sit_timeout", self.sit_timeout)):
            if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
                raise accept(name, seconds, "seconds, more than 0")
        if not (math.isfinite(self.pause) and self.pause >= 0):
            raise accept("pause", self.pause, "seconds, at least 0")
        if not (math.isfinite(self.message_rate) and self.message_rate > 0):
            raise accept("message_rate", self.message_rate, "messages a second, more than 0")
        check_from("max_watchers", self.max_watchers, 0)
        check_from("message_burst", self.message_burst, 2)
        check_from("max_message", self.max_message, MAX_WORDS * LONGEST_ESCAPE + 1000)
