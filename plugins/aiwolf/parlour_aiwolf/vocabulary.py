"""What is said at a table of AIWolf's Werewolf beyond `parlour.envs.werewolf.vocabulary`: its roles, moves and announcements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import SEER, VILLAGE, VILLAGER, WEREWOLF, WOLVES

MEDIUM: Final = "Medium"
BODYGUARD: Final = "Bodyguard"
POSSESSED: Final = "Possessed"

# Moves of the seats, beside those of `parlour.envs.werewolf`.
TALK_OVER: Final = "over"  # says nothing more, unless somebody else goes on
REMARK: Final = "remark"  # says words that make no claim

# Announcements.
IDENTIFIED: Final = "identified"  # to the medium; args: the executed seat, 1 if a werewolf else 0
ATTACK_VOTES: Final = "attack_votes"  # to the living wolves; args: by seat, as in the announcement of votes by day

TALK_ACTS: Final = (speech.ACCUSE, speech.DEFEND, speech.CLAIM_ROLE, speech.REPORT)
"""Claims by day. Silence is AIWolf's `Skip`."""


def side_of(role: str) -> str:
    """`"village"` or `"werewolf"`. The possessed wins with the werewolves.

    >>> side_of("Possessed")
    'werewolf'
    """
    return WOLVES if role in (WEREWOLF, POSSESSED) else VILLAGE


def claims_medium(events: Sequence[Event], seat: int, roles: Sequence[str]) -> bool:
    """Whether the last role that a seat claimed is the medium's; `roles` by their number."""
    claimed = (event.move for event in reversed(events) if event.seat == seat)
    last = next((move for move in claimed if move.kind == speech.CLAIM_ROLE), None)
    return last is not None and roles[last.args[0]] == MEDIUM


@dataclass(frozen=True, kw_only=True)
class AIWolfRules:
    """A table: its roles, and AIWolf's limits (`GameSetting.getDefaultGame`; the same for all numbers of players)."""

    roles: tuple[str, ...]
    """One for each seat, in no order of seats."""
    talk_turns: int = 20
    """Turns of a day's talk at most. In each, everybody says one line; all lines of a turn are heard at its end."""
    talk_lines: int = 10
    """Lines that a seat may say in a day, `Skip` and `Over` aside."""
    skips: int = 2
    """Times that a seat may skip running; then it says a line or is over."""
    revotes: int = 1
    """Votes after a tied one, by day and among the wolves; if the last is tied, one of the tied is drawn."""

    @property
    def players(self) -> int:
        """How many seats the table has."""
        return len(self.roles)


TABLES: Final[Mapping[int, AIWolfRules]] = {
    5: AIWolfRules(roles=(WEREWOLF, POSSESSED, SEER, VILLAGER, VILLAGER)),
    15: AIWolfRules(roles=(WEREWOLF,) * 3 + (POSSESSED, SEER, MEDIUM, BODYGUARD) + (VILLAGER,) * 8),
}
"""Number of players -> the table."""
