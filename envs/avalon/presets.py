"""Avalon's tables and the three sets of rules it is played by.

Sources: the boxed game's rule sheet (The Resistance: Avalon, 2012) for tables and `official`; Lan et al. 2023,
"LLM-Based Agent Society Investigation" (arXiv 2310.14985, appendices A.1 and A.4) for `paper`; the code published with
it, as its game logs show it, for `reference` (decisions 3.1); for `ROLE_SETS` see there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from parlour.envs.avalon.vocabulary import ASSASSIN, MERLIN, MINION, SERVANT

PLAYERS: Final = range(5, 11)
QUESTS: Final = 5
QUESTS_TO_WIN: Final = 3

# Rule sheet, table "players": number of evil players.
EVIL_COUNT: Final = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}

# Rule sheet, table "quest teams": team size of quests 1-5.
TEAM_SIZES: Final = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}
PROPOSALS: Final = 5

# Tables that others have published results on, by name: `roles="deeprole"`.
ROLE_SETS: Final = {
    # Serrino et al. 2019, "Finding Friend and Foe in Multi-Agent Games" (arXiv 1906.02330), section 2, and its code
    # (github.com/Detry322/DeepRole). Its rules are `official` without talk: docs/explanation/strength.md.
    "deeprole": (MERLIN, SERVANT, SERVANT, ASSASSIN, MINION),
}


Majority = Literal["half", "strict"]
Hunt = Literal["each_quest", "end"]


@dataclass(frozen=True, kw_only=True)
class AvalonRules:
    """The points on which the sources differ."""

    majority: Majority
    """What carries a team: agreement of at least half of the seats, or of more than half."""
    fifth_rejection: Literal["team_goes", "evil_wins"]
    """What happens when the limit of proposals of a quest is reached without a majority."""
    short_teams: bool
    """Whether a leader may name too few: the short team is voted on, counts as two proposals, and once it is to go
    a fresh team is drawn from all seats. (The published code; elsewhere the wrapper for bad input fills up the team.)"""
    good_may_fail: bool
    """Whether a good player may play a fail card."""
    two_fails: bool
    """Whether the fourth quest needs two fails from seven players."""
    hunt: Hunt
    """When the Assassin may name Merlin: once, after a quest of his choice, before it is scored; or after good has
    won three quests."""
    unclear_card: Literal["success", "by_side"]
    """The card played for a seat whose words cannot be read: success; or success for good and fail for evil seats."""
    sizes: tuple[int, ...] | None = None
    """Team size of each quest; None: as in `TEAM_SIZES`."""
    guesser: str = ASSASSIN
    """The role that names Merlin."""


# Appendix A.1 and A.4, and the published code in two points: a tie carries the team (appendices A.1 and A.2: more than
# half), the Assassin is asked after every quest (A.1: at the end; A.2: at the end of a round). The options `majority` and `hunt`
# set them. The fifth proposal goes whatever the vote; good players only succeed.
_PAPER: Final = AvalonRules(
    majority="half",
    fifth_rejection="team_goes",
    short_teams=False,
    good_may_fail=False,
    two_fails=False,
    hunt="each_quest",
    unclear_card="by_side",
)
PRESETS: Final = {
    "paper": _PAPER,
    # The published code: short teams are voted on, good players may fail and unclear cards succeed.
    "reference": replace(_PAPER, short_teams=True, good_may_fail=True, unclear_card="success"),
    # Rule sheet: strict majority, five rejections lose, two fails on quest 4 from seven players, one guess at the end.
    "official": replace(_PAPER, majority="strict", fifth_rejection="evil_wins", two_fails=True, hunt="end"),
}
