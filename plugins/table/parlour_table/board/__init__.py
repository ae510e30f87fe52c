"""What lies on a table for all to see, as data: the phase, tracks of quests or rounds, marks beside the seats.

Packages offer a function `View -> Board` under the id of a game, as an entry point of the group `parlour_table.boards`. It reads what
all seats know: every seat's View of a state gives the same board (`check.public_board` checks it), so that a board can be shown to
whoever watches. A game without one has a board of the claims alone. Players are called `player_3` in all texts, as in the game's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from types import FunctionType
from typing import Any, Final

from parlour.envs.core import Event, View
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.plugins import OpenTable
from parlour.envs.spec import GameSpec

GOOD, EVIL, NOW, PLAIN = "good", "evil", "now", "plain"
"""Kinds of places and marks: won by good or said to be good, the same of evil, where the game is now, anything else."""


@dataclass(frozen=True)
class TrackStep:
    """One step of a track, such as a quest."""

    text: str
    """A few characters."""
    note: str = ""
    """A word or two below it."""
    kind: str = PLAIN
    title: str = ""
    """The whole of it in words."""


@dataclass(frozen=True)
class Track:
    """Steps in order."""

    title: str
    places: tuple[TrackStep, ...]


@dataclass(frozen=True)
class Mark:
    """A word beside a seat."""

    text: str
    kind: str = PLAIN
    title: str = ""


@dataclass(frozen=True)
class Board:
    """What everybody sees."""

    seats: tuple[tuple[Mark, ...], ...]
    """The marks of each seat."""
    phase: str = ""
    """Where the game is, in one line."""
    tracks: tuple[Track, ...] = ()
    out: tuple[bool, ...] = ()
    """By seat, whether it is out of the game; empty where nobody leaves."""
    waits: tuple[int, ...] = ()
    """The seats for which everybody sees that the table waits; empty where that is hidden."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


BOARDS: Final[OpenTable[FunctionType]] = OpenTable("parlour_table.boards", FunctionType)
"""Id of a game -> the function `View -> Board`."""


def board_of(spec: GameSpec, view: View, seats: int) -> Board:
    """The board of a game; without its own, what was claimed. Raises `ParlourError` for a function that cannot be loaded."""
    if spec.id not in BOARDS:
        roles: Sequence[str] = getattr(view, "role_names", ())
        return Board(tuple(map(tuple, claim_marks(public(view), seats, roles))))
    board: Board = BOARDS[spec.id](view)
    return board


def public(view: View) -> list[Event]:
    """The events that everybody saw, oldest first."""
    return [event for event in view.events if event.to is None]


def claim_marks(events: Iterable[Event], seats: int, roles: Sequence[str]) -> list[list[Mark]]:
    """The latest role that each seat claimed, and the latest report on each seat by each speaker.

    >>> claim_marks([Event(1, speech.Move(speech.CLAIM_ROLE, (0,)), None)], 2, ["Seer"])
    [[], [Mark(text='says: Seer', kind='plain', title='player_1 claims to be the Seer')]]
    """
    roles_claimed: dict[int, int] = {}
    reports: dict[tuple[int, int], int] = {}
    for seat, (kind, args, _), _ in events:
        if seat >= 0 and kind == speech.CLAIM_ROLE and args[0] < len(roles):
            roles_claimed[seat] = args[0]
        elif seat >= 0 and kind == speech.REPORT:
            reports[args[0], seat] = args[1]
    marks: list[list[Mark]] = [[] for _ in range(seats)]
    for seat, role in roles_claimed.items():
        marks[seat].append(Mark(f"says: {roles[role]}", PLAIN, f"{name(seat)} claims to be the {roles[role]}"))
    for (checked, seat), evil in reports.items():
        word = EVIL if evil else GOOD
        marks[checked].append(
            Mark(f"{name(seat)}: {word}", word, f"{name(seat)} says that a check showed {name(checked)} {word}")
        )
    return marks
