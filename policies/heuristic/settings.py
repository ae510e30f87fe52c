"""What may be set for the heuristic in any game; the style of a game's own player adds to it."""

from __future__ import annotations

from parlour.envs.settings import Settings
from pydantic import Field


class HeuristicSettings(Settings):
    """What can be set."""

    habits: str | None = None
    """A file of habits learned from games, by which it believes; None: the fixed rates."""
    deceit: float = Field(default=0.0, ge=0, le=1)
    """How often a werewolf's words and votes are lies, over the lies that all of them tell; other games have none."""
