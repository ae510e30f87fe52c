"""`conduct:FILE`: the heuristic of Avalon that believes by what `train habits` wrote, conduct and words as well as evidence."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from parlour.envs.core import check_one_of
from parlour.envs.registry import lookup
from parlour.envs.settings import Accepts, Settings
from parlour.policies.heuristic.policy import HeuristicPolicy

from parlour_people.habits.model import PeopleHabitsFile, read_people_habits
from parlour_people.multi_round import GAME as MULTI_ROUND
from parlour_people.multi_round.player import MultiRoundPlayer


class ConductSettings(Settings):
    """What `conduct` takes."""

    file: Annotated[str, Accepts("a habits.json of `train habits`")]
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
    def settings_for(cls, game: str) -> type[Settings]:
        return ConductSettings

    @classmethod
    def make(cls, settings: ConductSettings, at: Any) -> Self:  # type: ignore[override]  # a file, and no style
        check_one_of("game of conduct", at.game, (lookup("avalon_v0").spec.id, MULTI_ROUND.id))
        habits = read_people_habits(settings.file)
        if "num_players" in at.config:
            habits.of(at.config["num_players"])
        return cls(habits)

    def _seated(self, player: Any, view: Any) -> Any:
        return MultiRoundPlayer(view, self.rng, self.by_players.of(len(view.roles)))
