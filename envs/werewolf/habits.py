"""Habits of Werewolf learned from records: `WerewolfHabits` by number of players, and the file they come in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.json_values import json_value
from parlour.envs.werewolf.belief import WerewolfHabits

RATES: Final = tuple(WerewolfHabits.__dataclass_fields__)
_GAME: Final = "werewolf_v0"
HABITS_FORMAT: Final = 1


@dataclass(frozen=True)
class WerewolfHabitsFile:
    """Habits by number of players."""

    by_players: Mapping[int, WerewolfHabits]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def of(self, num_players: int) -> WerewolfHabits:
        """The habits for a table. Raises `ParlourError` where the file has none."""
        if num_players not in self.by_players:
            held = ", ".join(map(str, sorted(self.by_players)))
            raise ParlourError(f"habits of {num_players} players are not in the file; accepted: {held} players")
        return self.by_players[num_players]

    def as_json(self) -> dict[str, Any]:
        """What `read_werewolf_habits` reads."""
        players = {str(n): asdict(habits) for n, habits in sorted(self.by_players.items())}
        return {"parlour_habits": HABITS_FORMAT, "game": _GAME, **self.notes, "players": players}


def read_werewolf_habits(path: str | Path) -> WerewolfHabitsFile:
    """Read a file of habits. Raises `ParlourError` if it cannot be read or holds something else."""
    players = _by_players(path)
    return WerewolfHabitsFile(
        {n: WerewolfHabits(*(_chance(rates, name, path) for name in RATES)) for n, rates in players.items()}
    )


def _by_players(path: str | Path) -> dict[int, Mapping[str, Any]]:
    """What a file tells of each number of players. Raises `ParlourError` if it cannot be read or is of something else."""
    try:
        file = json_value(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ParlourError(f"habits {str(path)!r} cannot be used: {error}") from None
    if not isinstance(file, dict) or file.get("parlour_habits") != HABITS_FORMAT or file.get("game") != _GAME:
        raise ParlourError(
            f"{str(path)!r} holds no habits of {_GAME}; accepted: a file that `parlour train habits` wrote"
        )
    players = file.get("players")
    if not isinstance(players, dict) or not all(
        n.isascii() and n.isdigit() and len(n) < 3 and isinstance(rates, dict) for n, rates in players.items()
    ):
        raise ParlourError(
            f"habits {str(path)!r} cannot be used: players; accepted: an object for each number of players"
        )
    return {int(n): rates for n, rates in players.items()}


def _chance(rates: Mapping[str, Any], name: str, path: str | Path) -> float:
    """A chance of a file, neither 0 nor 1. Raises `ParlourError` for anything else."""
    value = rates.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 < value < 1:
        raise ParlourError(f"habits {str(path)!r} cannot be used: {name}; accepted: a number between 0 and 1")
    return float(value)
