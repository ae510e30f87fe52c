"""AIWolf's Werewolf by the thousand: kernels of `parlour_aiwolf`, for both tables, with talk or without.

They show `summary` and `record`. Tables that show beliefs are played by the scalar rules (`parlour.envs.batch.make` chooses).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from parlour.envs.batch.kernel_tables import KernelTables

from parlour_aiwolf.batch import features
from parlour_aiwolf.batch.layout import GAME, Array, rules_of
from parlour_aiwolf.rules import AIWolf


class AIWolfTables(KernelTables):
    """See `KernelTables`. The heuristic needs no beliefs."""

    kinds: ClassVar[tuple[str, ...]] = ("summary", "record")
    heuristic = "parlour_aiwolf.batch.heuristic:choose"
    heuristic_believes: ClassVar[bool] = False
    deal_holds = "the role number of each seat"
    game: AIWolf

    @classmethod
    def plays(cls, game: Any) -> bool:
        return type(game) is AIWolf

    def dealt(self, b: int) -> tuple[int, ...]:
        return tuple(map(int, self.games[b].roles[: self.seats]))

    def drawn(self, b: int) -> tuple[int, ...]:
        return (int(self.games[b].drawn),)

    def judged(self) -> Mapping[str, str]:
        return {"false_claim": "parlour_aiwolf.batch.claims:known_false"} if self.game.talk else {}

    def _prepare(self, habits: Any, *, believes: bool) -> None:
        self.deal_size = self.seats
        self.rules: Any = rules_of(self.game)
        self.rules.record, self.rules.reset = "record" in self.features, self.resets
        self.games = np.zeros(self.num_envs, GAME).view(np.recarray)

    def _take_deal(self, dealt: Array) -> bool:
        if (np.sort(dealt) != np.sort(self.game.deck)).any():
            return False
        self.games.roles[:, : self.seats] = dealt
        return True

    def _run(self, task: int) -> None:
        features.run_all(self.games, self.rules, task, self._chosen, self._turns, self.winner)

    @property
    def side(self) -> Array:
        r = self.rules[0]
        return ((self.roles == r.wolf) | (self.roles == r.possessed)).astype(np.int8)
