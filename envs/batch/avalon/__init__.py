"""Avalon by the thousand: kernels of `parlour.envs.avalon`, for 5-10 players, all role sets, talk or not.

They cover all presets except `multi_round`, which has a discussion once a quest, a consultation and a last team without a vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.avalon.belief import AvalonHabits, LearnedHabits
from parlour.envs.avalon.habits import PublicEvidence
from parlour.envs.avalon.presets import AvalonRules
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import ASSASSIN, MORDRED, OBERON
from parlour.envs.batch.avalon import belief, evidence, features
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
    """See `KernelTables`. Habits are fixed rates, or evidence learned from records at tables without Mordred and Oberon; the options
    of Avalon except for points of the rules that the kernels lack.
    """

    kinds: ClassVar[tuple[str, ...]] = FEATURES
    deal_holds = "the role number of each seat, then the first leader"
    game: Avalon

    def _prepare(self, habits: AvalonHabits | None, *, believes: bool) -> None:
        for point, known in _points(self.game.rules).items():
            if (value := getattr(self.game.rules, point)) not in known:
                raise accept(f"{point} of kernels of Avalon", value, known)
        if habits is None:
            habits = self.game_habits()
        learned = self._learned(habits)
        self.deal_size = self.seats + 1
        self.tables = tables_of(self.game)
        self.numbers = numbers_of(self.tables.acts, self.seats)
        self.rules: Any = rules_of(self.game)
        self.rules.record, self.rules.belief = "record" in self.features, "belief" in self.features
        self.rules.believes, self.rules.reset = believes, self.autoreset
        belief.fill(self.rules, self.seats, habits)
        if learned is not None:
            evidence.fill_scores(self.rules, self.seats, learned)
        self.games = np.zeros(self.num_envs, game_record(self.seats)).view(np.recarray)

    def game_habits(self) -> AvalonHabits:
        """The habits of the features, `belief:habits=FILE`, or fixed rates."""
        encoder: Any = self.spec.seat_encoder(self.game, self.features)
        return encoder.habits or AvalonHabits()

    def _learned(self, habits: AvalonHabits) -> PublicEvidence | None:
        """The evidence among learned habits. Raises `ParlourError` where the kernels cannot keep it."""
        if not isinstance(habits, LearnedHabits) or (habits.evidence is None and habits.conduct is None):
            return None
        if habits.evidence is None:
            raise ParlourError("batch tables do not know learned conduct; accepted: habits of train habits --reader")
        unknown = sorted({MORDRED, OBERON} & set(self.game.roles)) + ["short teams"] * self.game.rules.short_teams
        if unknown:
            raise ParlourError(
                f"batch tables with {', '.join(unknown)} do not know learned habits; accepted: tables without"
            )
        return habits.evidence

    @classmethod
    def plays(cls, game: Game[Any]) -> bool:
        rules: AvalonRules = game.rules  # type: ignore[attr-defined]
        return type(game) is Avalon and all(getattr(rules, point) in known for point, known in _points(rules).items())

    def _take_deal(self, dealt: Array) -> bool:
        roles, leaders = dealt[:, :-1], dealt[:, -1]
        if (np.sort(roles) != np.sort(self.game.deck)).any() or not np.isin(leaders, range(self.seats)).all():
            return False
        self.games.roles, self.games.leader = roles, leaders
        return True

    def _run(self, task: int) -> None:
        features.run_all(self.games, self.rules, *self.tables, task, self._chosen, *self._turns, self.winner)

    @property
    def side(self) -> Array:
        return self.games.side
