"""Habits of Werewolf learned from records: `WerewolfHabits` by number of players, and the file they come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.habit_files import HABITS_FORMAT, chance_in, habits_by_players
from parlour.envs.werewolf.belief import WerewolfHabits

RATES: Final = tuple(WerewolfHabits.__dataclass_fields__)
_GAME: Final = "werewolf_v0"


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
    told = habits_by_players(path, _GAME)
    return WerewolfHabitsFile(
        {n: WerewolfHabits(*(chance_in(rates, name, path) for name in RATES)) for n, rates in told.items()}
    )
