"""Words of Werewolf's transcripts: roles, sides, kinds of moves and announcements, with their `args`."""

from __future__ import annotations

from typing import Final

WEREWOLF: Final = "Werewolf"
EXECUTED: Final = "executed"  # args: (seat,), or ()
