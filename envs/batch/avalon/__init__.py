"""Avalon by the thousand: kernels of `parlour.envs.avalon`, for 5-10 players, all role sets and presets, talk or not."""

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
from parlour.envs.hidden_roles.rules import FEATURES


def _know(rules: AvalonRules) -> bool:
    """Where the game goes on after a wrong guess, beliefs take the Assassin for the one who made it."""
    return rules.hunt == "end" or rules.guesser == ASSASSIN


_OPTIONS: Final = frozenset({"num_players", "rules", "roles", "talk", "two_fails", "sizes", "guesser"})
"""Options that the kernels know: a table with another one is played by its scalar rules."""


class AvalonTables(KernelTables):
    """See `KernelTables`. Habits are fixed rates, or evidence learned from records at tables without Mordred and Oberon; the options
    of Avalon except for bids and, with a guess after each quest, another `guesser` than the Assassin.
    """

    kinds: ClassVar[tuple[str, ...]] = FEATURES
    heuristic = "parlour.policies.heuristic.batch.avalon:choose"
    deal_holds = "the role number of each seat, then the first leader"
    game: Avalon

    def _prepare(self, habits: AvalonHabits | None, *, believes: bool) -> None:
        if not _know(self.game.rules):
            raise accept("guesser of kernels of Avalon", self.game.rules.guesser, ASSASSIN)
        if habits is None:
            habits = self.game_habits()
        learned = self._learned(habits)
        self.deal_size = self.seats + 1
        self.tables = tables_of(self.game)
        self.numbers = numbers_of(self.tables.acts, self.seats)
        self.rules: Any = rules_of(self.game)
        self.rules.record, self.rules.belief = "record" in self.features, "belief" in self.features
        self.rules.believes, self.rules.reset = believes, self.resets
        belief.fill(self.rules, self.seats, habits)
        if learned is not None:
            evidence.fill_scores(self.rules, self.seats, learned)
        self.games = np.zeros(self.num_envs, game_record(self.seats)).view(np.recarray)

    def game_habits(self) -> AvalonHabits:
        """The habits of the features, `belief:habits=FILE`, or fixed rates."""
        encoder: Any = self.encoders.of_seat(self.features)
        return encoder.habits or AvalonHabits()

    def _learned(self, habits: AvalonHabits) -> PublicEvidence | None:
        """The evidence among learned habits. Raises `ParlourError` where the kernels cannot keep it."""
        if not isinstance(habits, LearnedHabits) or not habits.learned:
            return None
        if habits.evidence is None:
            raise ParlourError("batch tables score events by evidence alone; accepted: habits with evidence")
        unknown = sorted({MORDRED, OBERON} & set(self.game.roles)) + ["short teams"] * self.game.rules.short_teams
        if unknown:
            raise ParlourError(
                f"batch tables with {', '.join(unknown)} do not know learned habits; accepted: tables without"
            )
        return habits.evidence

    @classmethod
    def plays(cls, game: Game[Any]) -> bool:
        return type(game) is Avalon and game.config.keys() <= _OPTIONS and _know(game.rules)

    def _take_deal(self, dealt: Array) -> bool:
        roles, leaders = dealt[:, :-1], dealt[:, -1]
        if (np.sort(roles) != np.sort(self.game.deck)).any() or not np.isin(leaders, range(self.seats)).all():
            return False
        self.games.roles, self.games.leader = roles, leaders
        return True

    def dealt(self, b: int) -> tuple[int, ...]:
        """Read at the start of a game: the leader changes."""
        return (*map(int, self.games.roles[b]), int(self.games.leader[b]))

    def drawn(self, b: int) -> tuple[int, ...]:
        team = int(self.games.team[b])
        return tuple(j for j in range(self.seats) if team >> j & 1)

    def judged(self) -> Mapping[str, str]:
        return {"bad_approval": "parlour.envs.batch.avalon.votes:bad_approvals"}

    def _run(self, task: int) -> None:
        features.run_all(self.games, self.rules, *self.tables, task, self._chosen, *self._turns, self.winner)

    @property
    def side(self) -> Array:
        return self.games.side
