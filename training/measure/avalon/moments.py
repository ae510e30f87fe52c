"""Who sat where in a recorded game."""

from __future__ import annotations

from typing import Final, Protocol

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


def is_players(game: SeatedGame, seat: int) -> bool:
    """Whether a seat was the measured player's. The header names who sat where."""
    return not names_of(game)[seat].endswith(OPPONENT)


def names_of(game: SeatedGame) -> list[str]:
    """Who sat in each seat, opponents with `OPPONENT` behind their names."""
    players = game.transcript.header["players"]
    return [str(players[name(seat)]) for seat in range(len(game.roles))]
