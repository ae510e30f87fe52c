"""`conduct:FILE`: the heuristic of Avalon that believes by what `train habits` wrote, conduct and words as well as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from parlour.envs.avalon import GAME
from parlour.envs.core import check_one_of
from parlour.policies.heuristic import GamePlayer, HeuristicPolicy
from parlour.policies.settings import Settings, read_settings

from parlour_people.habits.model import PeopleHabitsFile, read_people_habits
from parlour_people.multi_round import GAME as MULTI_ROUND
from parlour_people.multi_round.player import MultiRoundPlayer


@dataclass(frozen=True)
class ConductSettings(Settings):
    """What `conduct` takes."""

    file: str
    """A habits.json of `train habits`."""


class ConductPlayer(HeuristicPolicy):
    """The heuristic of Avalon by habits of people.

    Args:
        habits: The habits, by number of players.
    """

    name: ClassVar[str] = "conduct"

    def __init__(self, habits: PeopleHabitsFile) -> None:
        super().__init__()
        self.by_players = habits

    @classmethod
    def from_settings(cls, settings: Mapping[str, str], game: str, config: Mapping[str, Any]) -> Self:  # type: ignore[override]
        """The player for a table. Raises `ParlourError` for another game, or a file without habits of so many players."""
        check_one_of("game of conduct", game, (GAME.id, MULTI_ROUND.id))
        habits = read_people_habits(read_settings(ConductSettings, settings, cls.name).file)
        if "num_players" in config:
            habits.of(config["num_players"])
        return cls(habits)

    def _seated(self, player: Any, view: Any) -> GamePlayer[Any]:
        return MultiRoundPlayer(view, self.rng, self.by_players.of(len(view.roles)))
