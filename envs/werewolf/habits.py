"""Habits of Werewolf learned from records: `WerewolfHabits` by number of players, and the file they come in."""

from __future__ import annotations

from typing import Annotated, Any, Final

from parlour.envs.hidden_roles.habit_files import HabitsByPlayers
from parlour.envs.settings import Settings
from parlour.envs.werewolf.belief import WerewolfHabits
from pydantic import Field, create_model

RATES: Final = tuple(WerewolfHabits.__dataclass_fields__)
_IN_FILES: dict[str, Any] = dict.fromkeys(RATES, (Annotated[float, Field(gt=0, lt=1, description="A share.")], ...))


class WerewolfHabitsFile(HabitsByPlayers[WerewolfHabits]):
    """Rates by number of players."""

    game, kind = "werewolf_v0", WerewolfHabits
    form = create_model("WerewolfRates", __base__=Settings, **_IN_FILES)


read_werewolf_habits = WerewolfHabitsFile.read
