"""Avalon by the thousand: kernels of `parlour.envs.avalon`, for 5-10 players, all role sets, talk or not.

They cover all presets except `multi_round`, which has a discussion once a quest, a consultation and a last team without a vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.avalon.belief import AvalonHabits, LearnedHabits
from parlour.envs.avalon.presets import AvalonRules
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import ASSASSIN
from parlour.envs.batch.avalon import belief, features
from parlour.envs.batch.avalon.layout import Array, game_record, numbers_of, rules_of, tables_of
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.core import Game, ParlourError, accept
from parlour.envs.hidden_roles import FEATURES

_POINTS: Final = {
    "fifth_rejection": ("evil_wins", "team_goes"),
    "discussion": ("proposal",),
    "speaks_first": ("leader",),
    "consult": (False,),
}
"""What kernels have of the points on which rules differ, where that is not all."""


def _points(rules: AvalonRules) -> Mapping[str, tuple[Any, ...]]:
    """`_POINTS`; and where the game goes on after a wrong guess, beliefs take the Assassin for the one who made it."""
    return _POINTS if rules.hunt == "end" else {**_POINTS, "guesser": (ASSASSIN,)}


class AvalonTables(KernelTables):
    """See `KernelTables`. Habits are fixed rates; the options of Avalon except for points of the rules that the kernels lack."""

    kinds: ClassVar[tuple[str, ...]] = FEATURES
    deal_holds = "the role number of each seat, then the first leader"
    game: Avalon

    def _prepare(self, habits: AvalonHabits | None, *, believes: bool) -> None:
        for point, known in _points(self.game.rules).items():
            if (value := getattr(self.game.rules, point)) not in known:
                raise accept(f"{point} of kernels of Avalon", value, known)
        if isinstance(habits, LearnedHabits):
            raise ParlourError("batch tables of Avalon do not know habits learned from records; accepted: AvalonHabits")
        self.deal_size = self.seats + 1
        self.tables = tables_of(self.game)
        self.numbers = numbers_of(self.tables.acts, self.seats)
        self.rules: Any = rules_of(self.game)
        self.rules.record, self.rules.belief = "record" in self.features, "belief" in self.features
        self.rules.believes, self.rules.reset = believes, self.autoreset
        belief.fill(self.rules, self.seats, habits or AvalonHabits())
        self.games = np.zeros(self.num_envs, game_record(self.seats)).view(np.recarray)

    @classmethod
    def plays(cls, game: Game[Any]) -> bool:
        rules: AvalonRules = game.rules  # type: ignore[attr-defined]
        return all(getattr(rules, point) in known for point, known in _points(rules).items())

    def _take_deal(self, dealt: Array) -> bool:
        roles, leaders = dealt[:, :-1], dealt[:, -1]
        if (np.sort(roles) != np.sort(self.game.deck)).any() or not np.isin(leaders, range(self.seats)).all():
            return False
        self.games.roles, self.games.leader = roles, leaders
        return True

    def _show_all(self, begins: int) -> None:
        features.show_all(self.games, self.rules, self.tables.masks, begins, self._turns)

    def _play_all(self, actions: Array, *, at_random: bool) -> None:
        features.play_all(self.games, self.rules, self.tables, actions, at_random, self._turns, self.winner)

    @property
    def side(self) -> Array:
        side: Array = self.games.side
        return side
