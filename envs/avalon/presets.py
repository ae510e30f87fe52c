"""Avalon's tables and the three sets of rules it is played by.

Sources: the boxed game's rule sheet (The Resistance: Avalon, 2012) for tables and `official`; Lan et al. 2023,
"LLM-Based Agent Society Investigation" (arXiv 2310.14985, appendices A.1 and A.4) for `paper`; the code published with
it, as its game logs show it, for `reference`; for `ROLE_SETS` see there.
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
    MORGANA,
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


@dataclass(frozen=True, kw_only=True)
class AvalonRules:
    """The points on which the sources differ."""

    majority: Literal["half", "strict"]
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
    hunt: Literal["each_quest", "end"]
    """When the Assassin may name Merlin: once, after a quest of his choice, before it is scored; or after good has
    won three quests."""
    unclear_card: Literal["success", "by_side"]
    """The card played for a seat whose words cannot be read: success; or success for good and fail for evil seats."""
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
}


def rules_of(rules: str, num_players: int, roles: Sequence[str], given: Mapping[str, Any]) -> AvalonRules:
    """A preset with the points that are given instead of its own, for a table with these roles.

    Args:
        rules: One of `PRESETS`.
        num_players: 5-10.
        roles: One for each player.
        given: Points of `AvalonRules` by name; None: as the preset says.

    Raises:
        ParlourError: A point is not accepted, or does not go with the others.
    """
    points = {name: _point(name, value, num_players) for name, value in given.items() if value is not None}
    preset = replace(PRESETS[rules], **points)
    if list(roles).count(preset.guesser) != 1:
        fault = f"roles {list(roles)!r} hold {list(roles).count(preset.guesser)} x {preset.guesser}"
        raise ParlourError(f"{fault}; accepted: exactly one, or another guesser that names Merlin")
    return preset


def _point(name: str, value: Any, num_players: int) -> Any:
    """The value of a point, if it is accepted."""
    if name == "sizes":
        if not isinstance(value, list | tuple) or len(value) != QUESTS:
            raise accept("sizes", value, f"None, or {QUESTS} whole numbers 1..{num_players}")
        for size in value:
            check_one_of("size", size, range(1, num_players + 1))
        return tuple(int(size) for size in value)
    if name == "guesser":
        check_one_of(name, value, EVIL_ROLES)
    elif not isinstance(value, bool):
        raise accept(name, value, ("None", "True", "False"))
    return value


def default_roles(num_players: int) -> tuple[str, ...]:
    """Merlin, Percival, Morgana and the Assassin; the other seats are Loyal Servants and plain Minions."""
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
