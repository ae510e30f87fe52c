"""What decides an arena: the table, who plays, which deals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Self

from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.settings import Settings
from parlour.training.play import seeds
from parlour.training.play.failures import RULE, Failures
from pydantic import Field, model_validator

FEWEST: Final = 2
"""Players of an arena, at least."""


class ArenaConfig(Settings):
    """An arena.

    Raises:
        ParlourError: A value is not accepted.
    """

    players: tuple[str, ...]
    """By name, as tables call them."""
    game: str = "avalon_v0"
    """Name of the game."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game, as in its configuration."""
    games: int = Field(default=100, ge=1, le=len(seeds.HELD_OUT))
    """Number of deals; each is played by every player against every other and against itself, on both sides. A run in a directory
    continues with more."""
    seed: int = Field(default=0, ge=0)
    """Number of the first deal among the held-out ones."""
    resamples: int = Field(default=2000, ge=100)
    """How often the deals are resampled for the intervals of the ratings."""
    failures: Failures = RULE
    """What follows when a player fails."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_one_of("seed", self.seed, range(len(seeds.HELD_OUT) - self.games + 1))
        if len(self.players) < FEWEST:
            raise ParlourError(f"{len(self.players)} player in the arena; accepted: two or more")
        if twice := [name for name, times in Counter(self.players).items() if times > 1]:
            raise ParlourError(f"{twice[0]!r} is in the arena twice; accepted: each player once")
        if self.failures.skips:
            raise ParlourError(
                "on_failure 'skip-game' is not accepted in an arena of common deals; accepted: rule, stop"
            )
        return self

    @property
    def stored(self) -> dict[str, Any]:
        """What the directory of a run has to agree with, `games` and `resamples` aside."""
        stored = {name: getattr(self, name) for name in ("players", "game", "options", "games", "seed", "resamples")}
        return {**stored, "on_failure": self.failures.on_failure}
