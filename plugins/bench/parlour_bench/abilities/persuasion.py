"""Persuasion: the mean effect of a player's claims on the belief of good listeners (`parlour.training.measure.avalon.persuasion`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.measure.avalon.persuasion import claim_effects
from parlour.training.statistics import Estimate

from parlour_bench.abilities.doubt import mean_by_game


class Persuasion(NamedTuple):
    """Mean effects of a player's claims, by its side; None where it made none."""

    good: Estimate | None
    evil: Estimate | None


def persuasion(games: Sequence[AnalysedGame], rng: np.random.Generator) -> Persuasion:
    """The effects of the player's claims in some games.

    Args:
        games: Games of a benchmark.
        rng: Draws games for the intervals.
    """
    claims = [list(claim_effects(game)) for game in games]
    good, evil = (
        [[effect for claim in of if claim.evil == side for effect in claim.effects] for of in claims]
        for side in (False, True)
    )
    return Persuasion(mean_by_game(good, rng), mean_by_game(evil, rng))
