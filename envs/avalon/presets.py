"""Avalon's tables and the four sets of rules it is played by.

Sources: the boxed game's rule sheet (The Resistance: Avalon, 2012) for tables and `official`; Lan et al. 2023,
"LLM-Based Agent Society Investigation" (arXiv 2310.14985, appendices A.1 and A.4) for `paper`; the code published with
it, as its game logs show it, for `reference`; the games of GPT-5.1 published as "multi-round-avalon-agents" (S. Ellawela,
2026, MIT), as their records show them, for `multi_round`; for `ROLE_SETS` see there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from parlour.envs import hidden_roles
from parlour.envs.avalon.vocabulary import (
    ASSASSIN,
    EVIL,
    EVIL_ROLES,
    MERLIN,
    MINION,
    MORDRED,
    MORGANA,
    OBERON,
    PERCIVAL,
    ROLES,
    SERVANT,
    side_of,
)
from parlour.envs.core import ParlourError, accept, check_one_of

REPEATABLE: Final = (SERVANT, MINION)

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
# The roles of the records of `multi_round`, by number of players.
MULTI_ROUND_ROLES: Final = {
    5: ROLE_SETS["deeprole"],
    6: (MERLIN, PERCIVAL, SERVANT, SERVANT, MORGANA, MORDRED),
    7: (MERLIN, PERCIVAL, SERVANT, SERVANT, MORGANA, MORDRED, OBERON),
    8: (MERLIN, PERCIVAL, *(SERVANT,) * 3, MORGANA, ASSASSIN, MORDRED),
    9: (MERLIN, PERCIVAL, *(SERVANT,) * 4, MORGANA, ASSASSIN, MORDRED),
    10: (MERLIN, PERCIVAL, *(SERVANT,) * 4, MORGANA, ASSASSIN, MORDRED, OBERON),
}
MULTI_ROUND_GUESSERS: Final = {6: MORDRED, 7: MORGANA}
"""Who names Merlin there where no Assassin plays, by number of players."""

DISCUSSIONS: Final = ("proposal", "mission")
SPEAKS_FIRST: Final = ("leader", "seat_0")
COMMENTS: Final = ("none", "private", "public")


@dataclass(frozen=True, kw_only=True)
class AvalonRules:
    """The points on which the sources differ."""

    majority: Literal["half", "strict"]
    """What carries a team: agreement of at least half of the seats, or of more than half."""
    fifth_rejection: Literal["team_goes", "evil_wins", "no_vote"]
    """What happens when the limit of proposals of a quest is reached without a majority; `"no_vote"`: the last team goes
    without being voted on."""
    short_teams: bool
    """Whether a leader may name too few: the short team is voted on, counts as two proposals, and once it is to go
    a fresh team is drawn from all seats. (The published code; elsewhere the wrapper for bad input fills up the team.)"""
    good_may_fail: bool
    """Whether a good player may play a fail card."""
    two_fails: bool
    """Whether the fourth quest needs two fails from seven players."""
    hunt: Literal["each_quest", "end"]
    """When the Assassin may name Merlin: once, after a quest of his choice, before it is scored; or after good has
    won three quests."""
    unclear_card: Literal["success", "by_side"]
    """The card played for a seat whose words cannot be read: success; or success for good and fail for evil seats."""
    discussion: Literal["proposal", "mission"] = "proposal"
    """When all speak: before every proposal, or once a quest, before its first one."""
    speaks_first: Literal["leader", "seat_0", "bids"] = "leader"
    """Who speaks first; the others follow by number. With bids, nobody in particular does (`bidding.py`)."""
    reasons: bool = False
    """Whether words may go with a team, which all hear, and with the guess, which nobody else does."""
    comments: Literal["none", "private", "public"] = "none"
    """Whether words may go with a vote: seen by the voter alone, or by all once the votes are shown."""
    consult: bool = False
    """Whether all evil seats, Oberon too, speak once each among themselves before the guess at the end."""
    sizes: tuple[int, ...] | None = None
    """Team size of each quest; None: as in `TEAM_SIZES`."""
    guesser: str = ASSASSIN
    """The role that names Merlin."""


# Appendix A.1 and A.4 with the published code where both can be had: a tie carries the team, the fifth proposal
# goes whatever the vote, the Assassin is asked after every quest; good players only succeed.
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
    # The records of GPT-5.1: one discussion a mission in the order of seats, leaders give reasons, voters comment to
    # themselves (nobody ever takes up a comment), evil consults before the guess, the fifth team is not voted on.
    "multi_round": replace(
        _PAPER,
        majority="strict",
        fifth_rejection="no_vote",
        hunt="end",
        discussion="mission",
        speaks_first="seat_0",
        reasons=True,
        comments="private",
        consult=True,
    ),
}
_SILENT: Final = {"reasons": False, "comments": "none", "consult": False}
"""What presets say about words, at a table without talk."""


def rules_of(
    rules: str, num_players: int, roles: Sequence[str], *, talk: bool, given: Mapping[str, Any]
) -> AvalonRules:
    """A preset with the points that are given instead of its own, for a table with these roles.

    Args:
        rules: One of `PRESETS`.
        num_players: 5-10.
        roles: One for each player.
        talk: Whether there is a discussion.
        given: Points of `AvalonRules` by name; None: as the preset says.

    Raises:
        ParlourError: A point is not accepted, or does not go with the others.
    """
    points = {name: _point(name, value, num_players) for name, value in given.items() if value is not None}
    if "guesser" not in points and rules == "multi_round" and ASSASSIN not in roles:
        points["guesser"] = MULTI_ROUND_GUESSERS.get(num_players, ASSASSIN)
    preset = replace(PRESETS[rules], **{**({} if talk else _SILENT), **points})
    if list(roles).count(preset.guesser) != 1:
        fault = f"roles {list(roles)!r} hold {list(roles).count(preset.guesser)} x {preset.guesser}"
        raise ParlourError(f"{fault}; accepted: exactly one, or another guesser that names Merlin")
    if preset.consult and preset.hunt != "end":
        raise accept("consult", True, "True only where Merlin is named at the end: rules official, multi_round")
    return preset


def _point(name: str, value: Any, num_players: int) -> Any:
    """The value of a point, if it is accepted."""
    if name == "sizes":
        if not isinstance(value, list | tuple) or len(value) != QUESTS:
            raise accept("sizes", value, f"None, or {QUESTS} whole numbers 1..{num_players}")
        for size in value:
            check_one_of("size", size, range(1, num_players + 1))
        return tuple(int(size) for size in value)
    accepted = {
        "discussion": DISCUSSIONS,
        "speaks_first": SPEAKS_FIRST,
        "comments": COMMENTS,
        "guesser": EVIL_ROLES,
    }
    if name in accepted:
        check_one_of(name, value, accepted[name])
    elif not isinstance(value, bool):
        raise accept(name, value, ("None", "True", "False"))
    return value


def default_roles(num_players: int, rules: str) -> tuple[str, ...]:
    """Merlin, Percival, Morgana and the Assassin; the other seats are Loyal Servants and plain Minions.

    In `multi_round`, as in the records.
    """
    if rules == "multi_round":
        return MULTI_ROUND_ROLES[num_players]
    evil = EVIL_COUNT[num_players]
    good = num_players - evil
    return (MERLIN, PERCIVAL) + (SERVANT,) * (good - 2) + (MORGANA, ASSASSIN) + (MINION,) * (evil - 2)


def check_roles(num_players: int, roles: Sequence[str] | str) -> tuple[str, ...]:
    """The roles, or the roles of the set with this name, in the order of `ROLES`.

    Raises `ParlourError` unless they make a game of `num_players`.

    >>> check_roles(5, "deeprole")
    ('Merlin', 'Loyal Servant', 'Loyal Servant', 'Assassin', 'Minion')
    """
    if isinstance(roles, str):
        if roles not in ROLE_SETS:
            raise accept("roles", roles, f"None, or one role for each player, or a name: {', '.join(ROLE_SETS)}")
        roles = ROLE_SETS[roles]
    counts = hidden_roles.check_roles(num_players, roles, ROLES)
    if counts[MERLIN] != 1:
        raise ParlourError(f"roles {list(roles)!r} hold {counts[MERLIN]} x {MERLIN}; accepted: exactly one")
    for role, count in counts.items():
        if count > 1 and role not in REPEATABLE:
            raise ParlourError(f"roles {list(roles)!r} hold {count} x {role}; accepted: at most one")
    evil = sum(side_of(role) == EVIL for role in roles)
    if evil != EVIL_COUNT[num_players]:
        wanted = EVIL_COUNT[num_players]
        raise ParlourError(f"roles {list(roles)!r} hold {evil} evil; accepted: {wanted} of {num_players} players")
    return tuple(sorted(roles, key=ROLES.index))
