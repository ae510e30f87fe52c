"""Words of Avalon's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

from parlour_bench.words import speech

MINION: Final = "Minion"
MORGANA: Final = "Morgana"
MORDRED: Final = "Mordred"
MERLIN: Final = "Merlin"
ASSASSIN: Final = "Assassin"
OBERON: Final = "Oberon"
EVIL_ROLES: Final = (MORGANA, ASSASSIN, MORDRED, OBERON, MINION)
GOOD: Final = "good"
EVIL: Final = "evil"
TEAM: Final = "propose"  # args: the seats, ascending
CARD: Final = "card"  # args: (1,) success, (0,) fail
GUESS: Final = "guess"  # args: (seat,) named as Merlin, or () to pass
DRAWN: Final = "draw"  # args: the seats that go instead of a short team
VOTES: Final = "votes"  # args: (1 if the team goes else 0, 1/0 of each seat in seat order)
FAILS: Final = "fails"  # args: quest 0-4, number of fail cards, 1 if the quest succeeded
ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.CLAIM_ROLE)
