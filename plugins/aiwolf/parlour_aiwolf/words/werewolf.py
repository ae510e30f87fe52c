"""Words of Werewolf's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

WEREWOLF: Final = "Werewolf"
SEER: Final = "Seer"
VILLAGER: Final = "Villager"
VILLAGE: Final = "village"
WOLVES: Final = "werewolf"
KILL: Final = "hunt"  # a wolf's vote
GUARDS: Final = "protect"
CHECKS: Final = "check"
BALLOT: Final = "vote"
DEALT: Final = "deal"  # args: role number of each seat, then the seats in the order of talk
DRAWN: Final = "draw"  # args: (seat,) killed by the wolves after a tie, or ()
NIGHT: Final = "night"  # args: number of the night, from 1
CHOSEN: Final = "wolves"  # to the living wolves; args: (seat,) chosen, or ()
CHECKED: Final = "checked"  # to the seer; args: seat, 1 if a werewolf else 0
DAWN: Final = "dawn"  # args: number of the day, then the seats that died, ascending
DAY: Final = "day"  # args: number of the day, and the seat that speaks first, where none bids for the floor
VOTES: Final = "votes"  # args: number of the day, then for each seat: seat voted for, -1 nobody, -2 dead
EXECUTED: Final = "executed"  # args: (seat,), or ()
NO_VOTE: Final = -1
DEAD: Final = -2
