"""Words of Werewolf's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

GUARDS: Final = "protect"
POISONS: Final = "poison"
CHECKS: Final = "check"
KILL: Final = "hunt"  # a wolf's vote
BALLOT: Final = "vote"
TARGETED: Final = (KILL, GUARDS, POISONS, CHECKS, BALLOT)
DEALT: Final = "deal"  # args: role number of each seat, then the seats in the order of talk
NIGHT: Final = "night"  # args: number of the night, from 1
DAWN: Final = "dawn"  # args: number of the day, then the seats that died, ascending
REVEALED: Final = "revealed"  # args: seat, role number
DAY: Final = "day"  # args: number of the day, and the seat that speaks first, where none bids for the floor
VOTES: Final = "votes"  # args: number of the day, then for each seat: seat voted for, -1 nobody, -2 dead
EXECUTED: Final = "executed"  # args: (seat,), or ()
NO_VOTE: Final = -1
DEAD: Final = -2
