"""Conventions at AIWolf's tables: claims by day, those known to be false, and reports; `parlour.training.measure.conventions` has the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parlour.envs.werewolf.vocabulary import CHECKED, WOLVES, WerewolfView
from parlour.training.measure.conventions import Cases, words
from parlour.training.measure.werewolf.conventions import known_false, reports

from parlour_aiwolf.vocabulary import IDENTIFIED

_RESULTS: Final = (CHECKED, IDENTIFIED)
"""What a seer, and a medium, may report."""


def in_aiwolf(views: Sequence[WerewolfView], seat: int) -> Cases:
    """What a seat said in a game, by the last View of every seat."""
    said = list(words(views, seat, views[seat].role_names, WOLVES))
    yield from said
    if said:
        yield from known_false(views[seat], _RESULTS)
        yield from reports(views[seat], _RESULTS)
