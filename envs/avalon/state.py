"""Avalon's phases, moves, states and views as plain values; what they mean in play is in `rules.py`."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from parlour.envs.core import Event
from parlour.envs.hidden_roles.rules import NOTHING, Options


class AvalonPhase(IntEnum):
    """Phases, in the order of play; then the phases of a table with bids."""

    DEAL = 0
    TALK = 1
    PROPOSE = 2
    VOTE = 3
    DRAW = 4
    QUEST = 5
    HUNT = 6
    DONE = 7
    BID = 9
    FLOOR_TIE = 10
    """Nature draws among equal bids."""


NOBODY: Final[tuple[int, ...]] = ()


class AvalonStanding(NamedTuple):
    """What changes from proposal to proposal only."""

    roles: tuple[int, ...] = NOBODY
    """Role number of each seat, an index into `Avalon.role_names`; empty before the deal."""
    quest: int = 0
    """0-4."""
    leader: int = -1
    counted: int = 0
    """Proposals of this quest that count towards the limit."""
    good: int = 0
    evil: int = 0
    """Quests won."""
    guessed: bool = False
    """Whether the guess is used."""
    reason: str = ""
    """Why the game ended; empty while it has not."""


class AvalonState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: int
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    standing: AvalonStanding
    turn: int = 0
    """How many have moved in this phase."""
    team: tuple[int, ...] = NOBODY
    """The team proposed, then the team that goes."""
    secret: tuple[int, ...] = NOBODY
    """Votes or cards given so far, 1/0, shown to nobody yet; after bids, the highest bidders."""
    success: int = 0
    """While Merlin may be named, 1 if the quest succeeded."""
    options: Options = NOTHING
    """Options of the seat to move; `NOTHING` if there is none."""
    log: tuple[Event, ...] = ()
