"""Words of Werewolf's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

from parlour_bench.words import speech

WEREWOLF: Final = "Werewolf"
SEER: Final = "Seer"
WOLVES: Final = "werewolf"
CHECKED: Final = "checked"  # to the seer; args: seat, 1 if a werewolf else 0
DAWN: Final = "dawn"  # args: number of the day, then the seats that died, ascending
REVEALED: Final = "revealed"  # args: seat, role number
EXECUTED: Final = "executed"  # args: (seat,), or ()
ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.CLAIM_ROLE, speech.REPORT)
"""What is said by day and as last words."""
