"""AIWolf's Werewolf on a replay page: as Werewolf there, with the exact posterior of this game."""

from __future__ import annotations

from typing import Any, Final

from parlour.training.replay.werewolf import matter_with

from parlour_aiwolf.belief import AIWolfBeliefs

_BY: Final = "The exact posterior over all deals, by usual habits (most are counted from games of the heuristic), from what {} was shown."


def aiwolf_matter(played: Any) -> Any:
    """All that a page shows of a game beside its record."""
    return matter_with(played, AIWolfBeliefs, _BY)
