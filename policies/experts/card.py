"""The card of an expert: where its network comes from, what it was trained for, how strong and how exploitable it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from parlour.policies.files import read_json, reading, write_json


@dataclass(frozen=True)
class Points:
    """Points of win rate (1 is one game in a hundred) on held-out deals, with the interval at 95 %."""

    mean: float
    low: float
    high: float
    n: int
    """Deals."""


@dataclass(frozen=True)
class Exploit:
    """What a best response learned to gain over the expert's own play, as one side against the expert on the other."""

    side: str
    """Of the best response."""
    decisions: int
    """From which it learned."""
    gain: Points
    """A lower bound: another learner, or more decisions, may gain more."""


@dataclass(frozen=True)
class ExpertCard:
    """What is known of one expert; beside its network as JSON."""

    name: str
    """Of both files."""
    game: str
    config: Mapping[str, Any]
    """With `game`: the table that it was trained for, and the only one that it plays."""
    sha256: str
    """Of the network's file."""
    features: str
    """What the network sees."""
    command: str
    """Trains it again."""
    seed: int
    decisions: int
    """From which it learned, imitation left aside."""
    seconds: float
    """Processor time of the training."""
    date: str
    """When it was measured."""
    whole_sides: Points
    """Against the heuristic, both sides of the same deals: win rate of the expert less that of the heuristic."""
    one_seat: Points
    """In one seat among heuristics, less the heuristic in that seat."""
    exploits: tuple[Exploit, ...] = ()
    """By side; empty where it was not measured."""

    def write(self, path: Path) -> None:
        """Write the card as JSON."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a card. Raises `ParlourError` for a file that is none."""
        with reading(path, "card", "is not the card of an expert; accepted: one that scripts/make-expert wrote"):
            told = read_json(path)
            told |= {key: Points(**told[key]) for key in ("whole_sides", "one_seat")}
            told["exploits"] = tuple(Exploit(**one | {"gain": Points(**one["gain"])}) for one in told["exploits"])
            return cls(**told)
