"""Our players in other people's loops: what a player reads has to be there, and what it answers has to be a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.base import Policy

_READS: Final = {"view": (), "features": ("observation",), "text": ("text",), "both": ("observation", "text")}


def check_reads(player: Policy, observation: Mapping[str, Any], wrapper: str) -> None:
    """Raise `ParlourError` unless an observation holds what the player reads; `wrapper` is to put it there."""
    missing = [part for part in _READS[player.wants] if part not in observation]
    if missing:
        raise ParlourError(f"{player.name!r} reads {', '.join(missing)}; accepted: {wrapper}(env, {player.wants!r})")


def number_of(player: Policy, answer: Any, info: Mapping[str, Any]) -> int:
    """An answer as a number. Raises `ParlourError` for words that are not those of an option, which have no number."""
    if not isinstance(answer, str):
        return int(answer)
    if answer not in info["options"]:
        raise ParlourError(
            f"{player.name!r} answers {answer!r:.60}; accepted here: a number, or the words of an option"
        )
    return int(info["legal"][info["options"].index(answer)])
