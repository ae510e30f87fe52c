"""What is said at a table of Avalon: roles, what the night shows, kinds of moves and announcements, and the View of a seat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from parlour.envs.core import Event, Knowledge, Move, counted
from parlour.envs.language import speech
from parlour.envs.language.english import listing, name

MERLIN: Final = "Merlin"
PERCIVAL: Final = "Percival"
SERVANT: Final = "Loyal Servant"
MORGANA: Final = "Morgana"
ASSASSIN: Final = "Assassin"
MORDRED: Final = "Mordred"
OBERON: Final = "Oberon"
MINION: Final = "Minion"

GOOD_ROLES: Final = (MERLIN, PERCIVAL, SERVANT)
EVIL_ROLES: Final = (MORGANA, ASSASSIN, MORDRED, OBERON, MINION)
ROLES: Final = GOOD_ROLES + EVIL_ROLES
SEES_NOTHING: Final = (PERCIVAL, SERVANT, OBERON)
"""Who learns nobody's side in the night (Percival learns two names, and not which is which)."""

GOOD: Final = "good"
EVIL: Final = "evil"


def side_of(role: str) -> str:
    """`"good"` or `"evil"`.

    >>> side_of("Morgana")
    'evil'
    """
    return GOOD if role in GOOD_ROLES else EVIL


def shown_roles(role: str, roles: Sequence[str]) -> tuple[str, ...]:
    """The roles among `roles` whose holders the night shows to `role`, without distinguishing them.

    >>> shown_roles("Merlin", ["Merlin", "Percival", "Morgana", "Mordred"])
    ('Morgana',)
    """
    different = dict.fromkeys(roles)
    if role == MERLIN:
        return tuple(other for other in different if other in EVIL_ROLES and other != MORDRED)
    if role == PERCIVAL:
        return tuple(other for other in (MERLIN, MORGANA) if other in different)
    if role in EVIL_ROLES and role != OBERON:
        return tuple(other for other in different if other in EVIL_ROLES and other != OBERON)
    return ()


def titled(role: str) -> str:
    """A role in a sentence, with its article.

    >>> titled("Assassin"), titled("Minion"), titled("Merlin")
    ('the Assassin', 'a Minion', 'Merlin')
    """
    if role == ASSASSIN:
        return f"the {role}"
    return f"a {role}" if role in (SERVANT, MINION) else role


def night_sentence(role: str, roles: Sequence[str], seats: Sequence[int]) -> str:
    """What the night showed to `role`: that exactly `seats` hold the `shown_roles`.

    >>> night_sentence("Morgana", ["Merlin", "Loyal Servant", "Morgana", "Assassin"], [1])
    'Your evil teammate is player_1, the Assassin.'
    """
    are = "is" if len(seats) == 1 else "are"
    if role == PERCIVAL:
        if len(seats) == 1:
            return f"{listing(seats)} is Merlin."
        return f"{listing(seats)} are Merlin and Morgana; you do not know which is which."
    if role == MERLIN:
        hidden = " You did not see Mordred." if MORDRED in roles else ""
        return f"You know that {listing(seats)} {are} evil.{hidden}"
    if not seats:
        return "You know no evil teammate."
    others = Counter(other for other in roles if other in EVIL_ROLES and other != OBERON) - Counter([role])
    if len(seats) == 1:
        return f"Your evil teammate is {', '.join([*map(name, seats), *map(titled, others)])}."
    cards = ", ".join(other if count == 1 else f"{count} x {other}" for other, count in others.items())
    unknown = ", in unknown order" if len(others) > 1 else ""
    return f"Your evil teammates are {listing(seats)} ({cards}{unknown})."


# Moves of the seats.
TEAM: Final = "propose"  # args: the seats, ascending
BALLOT: Final = "vote"  # args: (1,) approve, (0,) reject
CARD: Final = "card"  # args: (1,) success, (0,) fail
GUESS: Final = "guess"  # args: (seat,) named as Merlin, or () to pass
APPROVE, REJECT = Move(BALLOT, (1,)), Move(BALLOT, (0,))
SUCCESS, FAIL = Move(CARD, (1,)), Move(CARD, (0,))
PASS: Final = Move(GUESS)

# Moves of nature and announcements of the moderator.
DEALT: Final = "deal"  # args: role number of each seat, then the first leader
DRAWN: Final = "draw"  # args: the seats that go instead of a short team
LEADS: Final = "leads"  # args: quest 0-4, leader, team size, proposals counted so far, fails needed
VOTES: Final = "votes"  # args: (1 if the team goes else 0, 1/0 of each seat in seat order)
FAILS: Final = "fails"  # args: quest 0-4, number of fail cards, 1 if the quest succeeded
SCORE: Final = "score"  # args: quests won by good, quests won by evil
EXPOSED: Final = "exposed"  # args: who names, the seat named, 1 if that is Merlin

ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.CLAIM_ROLE)


def turned(move: Move, by: int, seats: int) -> Move:
    """The same move of a seat with every seat in it counted `by` further round a table of `seats`.

    >>> turned(Move(TEAM, (0, 4)), by=1, seats=5)
    Move(kind='propose', args=(0, 1), words='')
    """
    if move.kind in (TEAM, GUESS):
        return move._replace(args=tuple(sorted(counted(j, by, seats) for j in move.args)))
    return speech.turned(move, by, seats)


class AvalonView(NamedTuple):
    """What one seat may know about a game of Avalon. Satisfies `parlour.envs.core.View`."""

    seat: int
    legal: tuple[Move, ...]
    events: tuple[Event, ...]
    role: str
    """Its own role; empty before the deal."""
    side: str
    """`"good"` or `"evil"`; empty before the deal."""
    knows: tuple[Knowledge, ...]
    """What the night showed it."""
    roles: tuple[str, ...]
    """The roles in play, one for each seat, in no order of seats."""
    sizes: tuple[int, ...]
    """Team size of each quest."""
    fails_needed: tuple[int, ...]
    """Fail cards that make each quest fail."""
    limit: int
    """Proposals of a quest after which no further one is made."""
    last_rejection_loses: bool
    """Whether the rejection at the limit loses the game for good; if not, the team goes all the same."""
    guess_at_end: bool
    """Whether Merlin is named only after three successes."""
    quest: int
    """0-4."""
    leader: int
    """Who leads; -1 before the deal."""
    counted: int
    """Proposals of this quest that count towards the limit, the one on the table among them."""
    team: tuple[int, ...]
    """The team proposed or on the quest; empty while none is."""
    good: int
    evil: int
    """Quests won."""
    guesser: str = ASSASSIN
    """The role that names Merlin."""
    bids: bool = False
    """Whether players bid for the floor; else the leader speaks first and the others follow by number."""
