"""Players that go by heuristics: the embedded default, one module for each game. They are no language models."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
from parlour.envs.avalon.belief import AvalonHabits
from parlour.envs.core import Move, ParlourError
from parlour.policies.base import Policy
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.heuristic.mediated_qa import MediatedPlayer
from parlour.policies.heuristic.murder_mystery import MysteryPlayer
from parlour.policies.heuristic.template import CoinPlayer
from parlour.policies.heuristic.werewolf import WerewolfPlayer


class GamePlayer(Protocol):
    """One seat of one game, played by heuristic."""

    def act(self, view: Any) -> Move: ...


class HeuristicPolicy(Policy):
    """Plays the game it finds itself in, by the heuristics for that game. Needs `info="full"`.

    Args:
        habits: How seats of Avalon behave, as its inference supposes.
    """

    name: ClassVar[str] = "heuristic"
    wants: ClassVar[str] = "view"

    def __init__(self, habits: AvalonHabits | None = None) -> None:
        super().__init__()
        self.habits = habits or AvalonHabits()
        self._player: GamePlayer | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._player = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        if "view" not in info:
            raise ParlourError("the heuristic goes by info['view']; accepted: an environment with info='full'")
        view = info["view"]
        if self._player is None:
            self._player = _sit_down(view, self.rng, self.habits)
        move = self._player.act(view)
        return int(info["legal"][view.legal.index(move)])


def _sit_down(view: Any, rng: np.random.Generator, habits: AvalonHabits) -> GamePlayer:
    kind = type(view).__name__
    if kind == "AvalonView":
        return AvalonPlayer(view, rng, habits)
    if kind == "CoinView":
        return CoinPlayer(view, rng)
    if kind == "MediatedView":
        return MediatedPlayer(view, rng)
    if kind == "MysteryView":
        return MysteryPlayer(view, rng)
    if kind == "WerewolfView":
        return WerewolfPlayer(view, rng)
    accepted = "AvalonView, CoinView, MediatedView, MysteryView, WerewolfView"
    raise ParlourError(f"there is no heuristic for a {kind}; accepted: {accepted}")
