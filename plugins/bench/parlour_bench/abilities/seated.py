"""Who sat where in a recorded game: its header names the players."""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.language.english import name

OPPONENT: Final = " (opponent)"
"""Behind the names of the players that the measured player meets."""


def is_players(game: Any, seat: int) -> bool:
    """Whether a seat was the measured player's."""
    return not names_of(game)[seat].endswith(OPPONENT)


def names_of(game: Any) -> list[str]:
    """Who sat in each seat, opponents with `OPPONENT` behind their names."""
    players = game.transcript.header["players"]
    return [str(players[name(seat)]) for seat in range(len(game.roles))]
