"""Words of transcripts of murder mysteries: kinds of announcements and verdicts."""

from __future__ import annotations

from typing import Final

ROUND: Final = "round"  # args: round from 0; the number of rounds: the vote begins
TURN: Final = "turn"  # args: seat, victim: the seat asks about the victim
VOTES: Final = "votes"  # args: victim, then how many votes each seat has
VERDICT: Final = "verdict"  # args: victim, seat found or -1, one of the three below
SOLVED: Final = 1
