"""Players of several kinds at one table: in each game each seat is one of them, drawn from the game's seed and the seat.

`mixed:heuristic+expert` on the command line. Unlike a `mixture`, whose seats all draw the same network, seats draw for themselves: whoever
meets them has to find out who is who.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from parlour.policies.base import Policy
from parlour.policies.names import EXPERT, HEURISTIC, MIXED
from parlour.policies.settings import Settings, anything, setting

_STREAM: Final = 0x3D18  # keeps the draw of the player apart from all else that follows from the same seed


@dataclass(frozen=True)
class MixedSettings(Settings):
    """What can be set."""

    players: tuple[str, ...] = setting((HEURISTIC, EXPERT), anything(lambda words: tuple(words.split("+"))))
    """Who may sit in a seat, each as likely as the others, joined by +; none that asks a model."""


class MixedPolicy(Policy):
    """Plays each game as one of several players.

    Args:
        players: Name -> player.
    """

    name: ClassVar[str] = MIXED
    wants: ClassVar[str] = "features"

    def __init__(self, players: Mapping[str, Policy]) -> None:
        super().__init__()
        self.players = dict(players)
        self.playing = next(iter(self.players))
        """The name of the player of this game."""

    @property
    def player(self) -> Policy:
        """The player of this game."""
        return self.players[self.playing]

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        names = list(self.players)
        self.playing = names[int(np.random.default_rng((seed, seat, _STREAM)).integers(len(names)))]
        self.player.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return self.player.act(observation, info)

    def state_belief(self, observation: Any, info: dict[str, Any]) -> Sequence[float] | None:
        return self.player.state_belief(observation, info)

    def notes(self) -> dict[str, Any]:
        """The notes of the player, and its name."""
        return {**self.player.notes(), "plays_as": self.playing}

    def settings(self) -> dict[str, Any]:
        return {"players": list(self.players)}
