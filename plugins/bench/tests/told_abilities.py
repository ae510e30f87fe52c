"""An abilities.json as `parlour benchmark abilities` writes it, with figures of our own choice."""

from __future__ import annotations

from typing import Any


def estimate(value: float) -> dict[str, Any]:
    return {"n": 40, "mean": value, "low": value - 0.05, "high": value + 0.05, "p": None}


def told_abilities(*, own: int = 90, asked: int = 100) -> dict[str, Any]:
    """Of a player called `me`, which answered `own` of `asked` questions itself."""
    false = {"me": {"claims": 9, "saw": estimate(0.21)}}
    return {
        "player": "me",
        "deduction": {"me": {"skill": estimate(0.62)}},
        "village": {"me": {"skill": estimate(0.13)}},
        "deception": {"onlooker": estimate(0.44)},
        "consistency": {"avalon_v0": false},
        "names_merlin": {"hits": 14, "n": 40, "rate": 0.35, "low": 0.2, "high": 0.5},
        "hides_merlin": None,
        "asked": {"questions": {"belief.state": {"asked": asked, "heuristic": {"invalid": asked - own}}}},
    }
