"""What a section of the demo is told, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parlour.envs.core import accept


@dataclass(frozen=True)
class DemoConfig:
    """How much the demo does."""

    steps: int = 409_600
    """Number of decisions that the seat is trained with."""
    games: int = 2000
    """Number of held-out deals of each measurement."""
    seed: int = 0
    """The same seed gives the same result."""

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("games", 10), ("seed", 0)):
            if getattr(self, name) < least:
                raise accept(name, getattr(self, name), f"a whole number from {least}")


@dataclass(frozen=True)
class Section:
    """One game's part of the demo."""

    name: str
    markdown: str
    """Its part of the report."""
    summary: str
    """A few lines for the terminal."""
    numbers: dict[str, Any]
