"""Files of habits, one set for each number of players: `{"parlour_habits": 1, "game": ..., "players": {"5": {...}, ...}, ...notes}`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.json_values import json_value

HABITS_FORMAT: Final = 1


def habits_by_players(path: str | Path, game: str) -> dict[int, Mapping[str, Any]]:
    """What a file tells of each number of players. Raises `ParlourError` if it cannot be read or is of something else."""
    try:
        found = json_value(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ParlourError(f"habits {str(path)!r} cannot be used: {error}") from None
    if not isinstance(found, dict) or found.get("parlour_habits") != HABITS_FORMAT or found.get("game") != game:
        raise ParlourError(
            f"{str(path)!r} holds no habits of {game}; accepted: a file that `parlour train habits` wrote"
        )
    players = found.get("players")
    if not isinstance(players, dict) or not all(
        n.isascii() and n.isdigit() and len(n) < 3 and isinstance(told, dict) for n, told in players.items()
    ):
        raise ParlourError(
            f"habits {str(path)!r} cannot be used: players; accepted: an object for each number of players"
        )
    return {int(n): told for n, told in players.items()}


def chance_in(told: Mapping[str, Any], name: str, path: str | Path) -> float:
    """A chance of a file, neither 0 nor 1. Raises `ParlourError` for anything else."""
    value = told.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 < value < 1:
        raise ParlourError(f"habits {str(path)!r} cannot be used: {name}; accepted: a number between 0 and 1")
    return float(value)
