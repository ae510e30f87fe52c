"""Habits of Werewolf learned from records: `WerewolfHabits` by number of players, and the file they come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.hidden_roles.habit_files import HabitsByPlayers
from parlour.envs.werewolf.belief import WerewolfHabits

RATES: Final = tuple(WerewolfHabits.__dataclass_fields__)


class WerewolfHabitsFile(HabitsByPlayers[WerewolfHabits]):
    """Rates by number of players."""

    game = "werewolf_v0"

    @staticmethod
    def _as_json(habits: WerewolfHabits) -> dict[str, Any]:
        return asdict(habits)

    @staticmethod
    def _from_json(values: Mapping[str, Any]) -> WerewolfHabits:
        for name in RATES:
            rate = values.get(name)
            if not isinstance(rate, int | float) or not 0 < rate < 1:
                raise ParlourError(f"{name}; accepted: a number between 0 and 1")
        return WerewolfHabits(*(float(values[name]) for name in RATES))


read_werewolf_habits = WerewolfHabitsFile.read
