"""A game of Werewolf as the measures count it: who played which seat and role, who won, the votes, the judgements.

Both kinds of game come down to this: published records (`published`) and transcripts of our own table (`transcripts`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from parlour.envs.werewolf.vocabulary import DRAW, LEADERS, VILLAGE, WEREWOLF, WOLVES, side_of

GAME: Final = "werewolf_v0"
WINNERS: Final = (WOLVES, VILLAGE, DRAW)


class DayVote(NamedTuple):
    """A vote by day for a player; passes are left out."""

    voter: int
    target: int


class Judgement(NamedTuple):
    """What an observer thinks of another player; one it is unsure of has none."""

    target: int
    ally: bool


Judgements = tuple[Judgement, ...]


@dataclass(frozen=True)
class WerewolfGame:
    """What a finished game holds that is counted. Seats are numbered from 0."""

    group: str
    """What the game was published under; empty for a game of our own."""
    methods: tuple[str, ...]
    """Who played each seat; an empty name where nobody tells."""
    roles: tuple[str, ...]
    winner: str
    """One of `WINNERS`."""
    votes: tuple[DayVote, ...] | None
    """None where they were not recorded."""
    judgements: tuple[Judgements | None, ...]
    """The last ones of each seat; None where the seat's were not recorded."""

    @property
    def pair(self) -> tuple[str, ...]:
        """The methods at the table, in alphabetical order."""
        return tuple(sorted(set(self.methods)))

    def seats(self, method: str, role: str | None = None) -> Iterable[int]:
        """The seats of a method, of all roles or of one."""
        return (
            seat
            for seat, (by, holds) in enumerate(zip(self.methods, self.roles, strict=True))
            if by == method and role in (None, holds)
        )

    def side(self, method: str) -> str | None:
        """Whose special block the method holds: all werewolves, or all leaders; None if neither, or both."""
        holds = {self.roles[seat] for seat in self.seats(method)}
        others = {role for by, role in zip(self.methods, self.roles, strict=True) if by != method}
        wolves = WEREWOLF in holds and WEREWOLF not in others
        leaders = bool(holds & set(LEADERS)) and not others & set(LEADERS)
        if wolves == leaders:
            return None
        return WOLVES if wolves else VILLAGE

    def won(self, seat: int) -> bool:
        """Whether the seat's side won."""
        return side_of(self.roles[seat]) == self.winner
