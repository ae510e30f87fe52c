"""Players by heuristic: the embedded default, one module for each game. They are no language models."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from parlour.envs import dotted
from parlour.envs.core import Move, ParlourError, V_contra
from parlour.policies.base import Policy


class GamePlayer(Protocol[V_contra]):
    """One seat of one game, played by heuristic."""

    def act(self, view: V_contra) -> Move: ...


class HeuristicPolicy(Policy):
    """Plays the game it finds itself in, by the player that the game's spec names. Needs `info="full"`."""

    name: ClassVar[str] = "heuristic"
    wants: ClassVar[str] = "view"

    def __init__(self) -> None:
        super().__init__()
        self._player: GamePlayer[Any] | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._player = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        if "view" not in info:
            raise ParlourError("the heuristic goes by info['view']; accepted: an environment with info='full'")
        view = info["view"]
        if self._player is None:
            if not info.get("heuristic"):
                raise ParlourError("this game has no heuristic; accepted: a game whose spec names one")
            self._player = dotted.load(info["heuristic"], "heuristic")(view, self.rng)
        move = self._player.act(view)
        return int(info["legal"][view.legal.index(move)])
