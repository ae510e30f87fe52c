"""A moment at which a seat is asked what it believes, and who sat where in a recorded game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from parlour.envs.language.english import name
from parlour.envs.replay import Transcript

OPPONENT: Final = " (opponent)"
"""Behind the names of the players that the measured player meets."""


class SeatedGame(Protocol):
    """A game with the header that names who sat where."""

    @property
    def transcript(self) -> Transcript: ...
    @property
    def roles(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class BeliefMoment:
    """A seat that is asked."""

    game: str
    """Name of the transcript."""
    table: tuple[str, Mapping[str, Any]]
    """The game's id and its configuration."""
    by_player: bool
    """Whether the seat is the measured player's; else an opponent's."""
    opponent: str
    """Who sat on the other side of the measured player."""
    seat: int
    seed: int
    text: str
    """What the seat reads."""
    info: Mapping[str, Any]
    """As `Policy.state_belief` takes it."""
    truth: tuple[bool, ...]
    """Whether each of the other seats is evil."""
    prior: tuple[float, ...]
    """How likely each of the others is to be evil, according to what the night showed the seat."""
    exact: tuple[float, ...]
    """By the exact posterior of what the seat saw (`Deduction`); empty until it is computed."""

    def others(self, chances: Iterable[float]) -> tuple[float, ...]:
        """Chances of all seats without the own one."""
        return tuple(chance for seat, chance in enumerate(chances) if seat != self.seat)


def is_players(game: SeatedGame, seat: int) -> bool:
    """Whether a seat was the measured player's. The header names who sat where."""
    return not names_of(game)[seat].endswith(OPPONENT)


def names_of(game: SeatedGame) -> list[str]:
    """Who sat in each seat, opponents with `OPPONENT` behind their names."""
    players = game.transcript.header["players"]
    return [str(players[name(seat)]) for seat in range(len(game.roles))]
