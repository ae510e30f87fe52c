"""Words of Avalon's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

from parlour.envs.core import Move

from parlour_people.words import speech

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
TEAM: Final = "propose"  # args: the seats, ascending
BALLOT: Final = "vote"  # args: (1,) approve, (0,) reject
CARD: Final = "card"  # args: (1,) success, (0,) fail
GUESS: Final = "guess"  # args: (seat,) named as Merlin, or () to pass
APPROVE, REJECT = Move(BALLOT, (1,)), Move(BALLOT, (0,))
SUCCESS, FAIL = Move(CARD, (1,)), Move(CARD, (0,))
DRAWN: Final = "draw"  # args: the seats that go instead of a short team
LEADS: Final = "leads"  # args: quest 0-4, leader, team size, proposals counted so far, fails needed
VOTES: Final = "votes"  # args: (1 if the team goes else 0, 1/0 of each seat in seat order)
FAILS: Final = "fails"  # args: quest 0-4, number of fail cards, 1 if the quest succeeded
SCORE: Final = "score"  # args: quests won by good, quests won by evil
EXPOSED: Final = "exposed"  # args: who names, the seat named, 1 if that is Merlin
ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.CLAIM_ROLE)


def side_of(role: str) -> str:
    """`"good"` or `"evil"`.

    >>> side_of("Morgana")
    'evil'
    """
    return GOOD if role in GOOD_ROLES else EVIL


LEADERS: Final = ("evil", "Merlin", "good", "Oberon")

PLAYERS: Final = range(5, 11)
