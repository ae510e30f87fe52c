"""Words of Avalon's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

TEAM: Final = "propose"  # args: the seats, ascending
BALLOT: Final = "vote"  # args: (1,) approve, (0,) reject
GUESS: Final = "guess"  # args: (seat,) named as Merlin, or () to pass
DRAWN: Final = "draw"  # args: the seats that go instead of a short team
LEADS: Final = "leads"  # args: quest 0-4, leader, team size, proposals counted so far, fails needed
VOTES: Final = "votes"  # args: (1 if the team goes else 0, 1/0 of each seat in seat order)
FAILS: Final = "fails"  # args: quest 0-4, number of fail cards, 1 if the quest succeeded
EXPOSED: Final = "exposed"  # args: who names, the seat named, 1 if that is Merlin
