"""What is said at a table of Coin: seats and sides, the faces of the coin, kinds of moves, and the View of a seat."""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs.core import Event, Move
from parlour.envs.language import speech

KEEPER, GUESSER = 0, 1
SIDES: Final = ("keeper", "guesser")
"""Sides of the table, by seat."""
SUMMARY: Final = "summary"
"""The kind of features in which each seat counts from itself."""
FACES: Final = ("heads", "tails")
GUESS: Final = "guess"  # args: (face,)
TOSS: Final = "toss"  # nature; args: (face,)
SPEECHES: Final = (Move(speech.SILENT), Move(speech.PROMISE, (0,)), Move(speech.PROMISE, (1,)))
GUESSES: Final = (Move(GUESS, (0,)), Move(GUESS, (1,)))


class CoinView(NamedTuple):
    """What one seat may know. Satisfies `parlour.envs.core.View`."""

    seat: int
    legal: tuple[Move, ...]
    events: tuple[Event, ...]
    coin: int
    """The face that lies up; -1 if the seat does not know it."""
    side: str
    """The seat's side: one of `SIDES`."""
