"""Ratings of the players of a suite at its tables with an expert: the arena's model of Bradley and Terry, the expert at zero.

Players of a benchmark meet the table's opponents, not each other. All of them meet the heuristic and the expert on the same deals
from both sides, so the model (`parlour.training.measure.arena.strengths`) can put them on one scale. The player
`trained`, which comes with parlour, has played the games of expert against heuristic. Games of a player with itself do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from parlour.training.measure.arena.strengths import strengths
from parlour.training.play import seeds
from parlour.training.statistics import Estimate

from parlour_bench.played import WON
from parlour_bench.result import Points
from parlour_bench.results_file import references
from parlour_bench.suite import BenchmarkTable, Suite

EXPERT: Final = "expert"

TRAINED: Final = "trained"
"""The player that comes with parlour and is the expert at every table that has one."""
RESAMPLES: Final = 2000
_DRAWN: Final = 12  # what the seed of the resamples is derived for

Ratings = Mapping[str, Mapping[str, Estimate]]
"""Table -> player -> rating, in Elo points above the expert."""


def ratings(suite: Suite, players: Mapping[str, Points], resamples: int = RESAMPLES) -> Ratings:
    """Rate players at the tables where everybody met the expert.

    Args:
        suite: The suite that all of them played.
        players: Name -> points.
        resamples: How often the deals are resampled for the intervals.

    Returns:
        Empty if the suite has no table with an expert, or if no games of expert against heuristic are known: deals of a day, and
        earlier versions.
    """
    shipped = {reference.name: reference.points for reference in references(suite)}
    return {
        table.name: {
            name: _rated(suite, table, points, shipped[TRAINED], resamples) for name, points in players.items()
        }
        for table in suite.tables
        if EXPERT in table.opponents and TRAINED in shipped
    }


def _rated(suite: Suite, table: BenchmarkTable, own: Points, trained: Points, resamples: int) -> Estimate:
    """One player's rating: it does not depend on which others are rated beside it."""
    sides = sorted(next(iter(own[table.name].values())))
    players = (EXPERT, *(name for name in table.opponents if name != EXPERT), "")  # the player is the last one
    games = np.full((table.deals, len(players), len(players)), np.nan)
    for row, points in ((len(players) - 1, own), (0, trained)):
        for column, opponent in enumerate(players[:-1]):
            if row != column:
                of = points[table.name][opponent]
                games[:, row, column] = np.array(of[sides[0]]) / WON
                games[:, column, row] = 1 - np.array(of[sides[1]]) / WON
    rng = np.random.default_rng(seeds.derive(suite.version, _DRAWN))
    rating = strengths(games, resamples, rng, anchor=0).players[-1].rating
    return Estimate(rating.value, *rating.ends, n=table.deals)
