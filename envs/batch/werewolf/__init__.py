"""Werewolf by the thousand: kernels of `parlour.envs.werewolf`, for 4-15 players, all role sets, talk or not.

Tables with bids have none: they are played by their rules.

Beliefs are exact at every size; what they cost grows with the sets of werewolves that there may be (`belief.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.batch.kernel_tables import KernelTables
from parlour.envs.batch.werewolf import features
from parlour.envs.batch.werewolf.belief import hypotheses_of, weights_of
from parlour.envs.batch.werewolf.layout import GAME, Array, rules_of
from parlour.envs.core import Game
from parlour.envs.hidden_roles.rules import FEATURES
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.rules import Werewolf

_OPTIONS: Final = frozenset({"num_players", "rules", "votes", "roles", "talk", "max_days", "seer"})
"""Options that the kernels know: a table with another one is played by its scalar rules."""


class WerewolfTables(KernelTables):
    """See `KernelTables`."""

    kinds: ClassVar[tuple[str, ...]] = FEATURES
    heuristic = "parlour.policies.heuristic.batch.werewolf:choose"
    deal_holds = "the role number of each seat, then the order of talk"
    game: Werewolf

    @classmethod
    def plays(cls, game: Game[Any]) -> bool:
        return type(game) is Werewolf and game.config.keys() <= _OPTIONS  # and not with bids for the floor

    def _prepare(self, habits: WerewolfHabits | None, *, believes: bool) -> None:
        self.deal_size = 2 * self.seats
        self.rules: Any = rules_of(self.game, habits or WerewolfHabits())
        self.rules.record, self.rules.belief = "record" in self.features, "belief" in self.features
        self.rules.believes, self.rules.reset = believes, self.resets
        self.hypotheses = hypotheses_of(self.game)
        self.games = np.zeros(self.num_envs, GAME).view(np.recarray)
        self.weights = weights_of(self.game, self.num_envs, believes=believes)

    def _take_deal(self, dealt: Array) -> bool:
        n = self.seats
        roles, order = dealt[:, :n], dealt[:, n:]
        if (np.sort(roles) != np.sort(self.game.deck)).any() or (np.sort(order) != np.arange(n)).any():
            return False
        self.games.roles[:, :n], self.games.order[:, :n] = roles, order
        return True

    def dealt(self, b: int) -> tuple[int, ...]:
        record, n = self.games[b], self.seats
        return (*map(int, record.roles[:n]), *map(int, record.order[:n]))

    def judged(self) -> Mapping[str, str]:
        return {"false_claim": "parlour.envs.batch.werewolf.claims:known_false"} if self.game.config["talk"] else {}

    def drawn(self, b: int) -> tuple[int, ...]:
        target = int(self.games[b].drawn)
        return () if target < 0 else (target,)

    def _run(self, task: int) -> None:
        inputs = self.games, self.rules, self.weights, self.hypotheses
        features.run_all(*inputs, task, self._chosen, self._turns, self.winner)

    @property
    def side(self) -> Array:
        return (self.roles == self.game.wolf).astype(np.int8)
