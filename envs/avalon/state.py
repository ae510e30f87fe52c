"""Avalon's phases, moves, states and views as plain values; what they mean in play is in `rules.py`."""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs.core import Event
from parlour.envs.hidden_roles.rules import Options

# Phases, in the order of play.
DEAL: Final = 0
TALK: Final = 1
PROPOSE: Final = 2
VOTE: Final = 3
DRAW: Final = 4
QUEST: Final = 5
HUNT: Final = 6
DONE: Final = 7
NOBODY: Final[tuple[int, ...]] = ()


class AvalonStanding(NamedTuple):
    """What changes from proposal to proposal only."""

    roles: tuple[int, ...]
    """Role number of each seat, an index into `Avalon.role_names`; empty before the deal."""
    quest: int
    """0-4."""
    leader: int
    counted: int
    """Proposals of this quest that count towards the limit."""
    good: int
    evil: int
    """Quests won."""
    guessed: bool
    """Whether the guess is used."""
    reason: str
    """Why the game ended; empty while it has not."""


class AvalonState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: int
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    turn: int
    """How many have moved in this phase."""
    team: tuple[int, ...]
    """The team proposed, then the team that goes."""
    secret: tuple[int, ...]
    """Votes or cards given so far, 1/0, shown to nobody yet; while Merlin may be named, the quest's result."""
    standing: AvalonStanding
    options: Options
    """Options of the seat to move; `NOTHING` if there is none."""
    log: tuple[Event, ...]
