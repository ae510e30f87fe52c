"""Words of Avalon's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

from parlour.envs.core import Move

MERLIN: Final = "Merlin"
SERVANT: Final = "Loyal Servant"
ASSASSIN: Final = "Assassin"
TEAM: Final = "propose"  # args: the seats, ascending
BALLOT: Final = "vote"  # args: (1,) approve, (0,) reject
CARD: Final = "card"  # args: (1,) success, (0,) fail
GUESS: Final = "guess"  # args: (seat,) named as Merlin, or () to pass
APPROVE, REJECT = Move(BALLOT, (1,)), Move(BALLOT, (0,))
SUCCESS, FAIL = Move(CARD, (1,)), Move(CARD, (0,))
LEADS: Final = "leads"  # args: quest 0-4, leader, team size, proposals counted so far, fails needed
VOTES: Final = "votes"  # args: (1 if the team goes else 0, 1/0 of each seat in seat order)
FAILS: Final = "fails"  # args: quest 0-4, number of fail cards, 1 if the quest succeeded
