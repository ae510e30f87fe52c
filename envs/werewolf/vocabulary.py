"""What is said at a table of Werewolf: roles and sides, kinds of moves and announcements, and the View of a seat."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.core import Event, Knowledge, Move, counted
from parlour.envs.language import speech

WEREWOLF: Final = "Werewolf"
WITCH: Final = "Witch"
GUARD: Final = "Guard"
SEER: Final = "Seer"
HUNTER: Final = "Hunter"
VILLAGER: Final = "Villager"

ROLES: Final = (WEREWOLF, WITCH, GUARD, SEER, HUNTER, VILLAGER)
REPEATABLE: Final = (WEREWOLF, VILLAGER)
"""Roles that several players may have."""
LEADERS: Final = (WITCH, GUARD, SEER)
"""The paper's word for its roles with a power of their own."""

VILLAGE: Final = "village"
WOLVES: Final = "werewolf"
DRAW: Final = "draw"


def side_of(role: str) -> str:
    """`"village"` or `"werewolf"`.

    >>> side_of("Seer")
    'village'
    """
    return WOLVES if role == WEREWOLF else VILLAGE


# Moves of the seats. For those with a target args are (seat,), or () for nobody.
KILL: Final = "hunt"  # a wolf's vote
GUARDS: Final = "protect"
HEALS: Final = "save"  # args: (1,) the antidote is given, (0,) it is kept
POISONS: Final = "poison"
CHECKS: Final = "check"
BALLOT: Final = "vote"
TARGETED: Final = (KILL, GUARDS, POISONS, CHECKS, BALLOT)
SHOOTS: Final = "shoot"  # the dying hunter's, seen by everybody
KEEP, GIVE = Move(HEALS, (0,)), Move(HEALS, (1,))

# Moves of nature and announcements of the moderator; to everybody where nothing else is said.
DEALT: Final = "deal"  # args: role number of each seat, then the seats in the order of talk
DRAWN: Final = "draw"  # args: (seat,) killed by the wolves after a tie, or ()
NIGHT: Final = "night"  # args: number of the night, from 1
CHOSEN: Final = "wolves"  # to the living wolves; args: (seat,) chosen, or ()
ATTACKED: Final = "attacked"  # to the witch; args: (seat,)
CHECKED: Final = (
    "checked"  # to the seer; args: seat, 1 if a werewolf else 0, and its role number where the seer sees it
)
DAWN: Final = "dawn"  # args: number of the day, then the seats that died, ascending
REVEALED: Final = "revealed"  # args: seat, role number
HUNTER_SHOWN: Final = "hunter"  # args: (seat,) that shows the hunter's card and is asked to shoot
DAY: Final = "day"  # args: number of the day, and the seat that speaks first, where none bids for the floor
VOTES: Final = "votes"  # args: number of the day, then for each seat: seat voted for, -1 nobody, -2 dead
EXECUTED: Final = "executed"  # args: (seat,), or ()

NO_VOTE: Final = -1
DEAD: Final = -2

ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.CLAIM_ROLE, speech.REPORT)
"""What is said by day and as last words."""
WHISPERS: Final = (speech.SILENT, speech.RECOMMEND)
"""What the wolves say among themselves at night; to recommend a seat is to propose it as the victim."""


def turned(move: Move, by: int, seats: int) -> Move:
    """The same move of a seat with the seat in it counted `by` further round a table of `seats`.

    >>> turned(Move(BALLOT, (6,)), by=3, seats=8)
    Move(kind='vote', args=(1,), words='')
    """
    if move.kind in TARGETED or move.kind == SHOOTS:
        return move._replace(args=tuple(counted(j, by, seats) for j in move.args))
    return speech.turned(move, by, seats)


class WerewolfView(NamedTuple):
    """What one seat may know about a game of Werewolf. Satisfies `parlour.envs.core.View`."""

    seat: int
    legal: tuple[Move, ...]
    events: tuple[Event, ...]
    role: str
    """Its own role; empty before the deal."""
    roles: tuple[str, ...]
    """The roles in play, one for each seat, in no order of seats."""
    role_names: tuple[str, ...]
    """The different roles in play; role numbers in moves and events are indices into it."""
    side: str
    """`"village"` or `"werewolf"`; empty before the deal."""
    knows: tuple[Knowledge, ...]
    """For a werewolf: which other seats are werewolves."""
    alive: tuple[bool, ...]
    """By seat. The executed seat is dead already while it speaks its last words."""
    day: int
    """Number of the night and of the day after it, from 1; 0 before the deal."""
    night: bool
    """Whether it is night."""
    speakers: tuple[int, ...]
    """All seats in the order in which they talk and vote by day, the dead ones among them."""
    antidote: bool | None
    """Whether it still has the antidote; None for everybody but the witch."""
    poison: bool | None
    """Whether it still has the poison; None for everybody but the witch."""
    guarded: int | None
    """The player it protected in the latest night in which it was asked; None for nobody, and for every seat except the guard."""
    checks: tuple[tuple[int, bool], ...]
    """What the seer learnt: seat and whether it is a werewolf, oldest first; empty for everybody else."""
    parity: bool
    """Whether the wolves win as soon as they are as many as the others; if not, only when no other lives."""
    reveals_all: bool
    """Whether the roles of all dead are shown; if not, only of those who died in the first night."""
    guard_may_repeat: bool
    """Whether the guard may protect the same seat in two nights running."""
    public_votes: bool
    """Whether each vote by day is seen as it is cast; if not, all are shown at once."""
    max_days: int
    """The game is a draw after this number of days."""


@lru_cache(maxsize=4096)
def fellows(roles: tuple[int, ...], wolf: int, seat: int) -> tuple[Knowledge, ...]:
    """What a wolf knows from the beginning: its fellows, by the role number of each seat and that of the werewolves."""
    return (Knowledge((WEREWOLF,), tuple(j for j, role in enumerate(roles) if role == wolf and j != seat)),)


def known_wolves(view: WerewolfView) -> tuple[int, ...]:
    """All werewolves, for a werewolf; empty for everybody else."""
    if view.role != WEREWOLF:
        return ()
    return tuple(sorted({seat for fact in view.knows for seat in fact.seats} | {view.seat}))


def living_wolves(view: WerewolfView) -> tuple[int, ...]:
    """The living werewolves, for a werewolf; empty for everybody else."""
    return tuple(seat for seat in known_wolves(view) if view.alive[seat])
