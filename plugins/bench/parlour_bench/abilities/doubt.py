"""Means over games and the doubt that good seats have left, with the bootstrap over games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from parlour.training.measure.avalon.stated import loss
from parlour.training.statistics import Estimate

from parlour_bench.abilities.stated import BeliefMoment, estimate


class DoubtLosses(NamedTuple):
    """Losses of a game, in sums over its moments."""

    prior: float
    left: float


def doubt(
    moments: Sequence[BeliefMoment], stated: Sequence[Sequence[float]], rng: np.random.Generator
) -> Estimate | None:
    """How much of their doubt after the night good seats still have, loss(stated) / loss(prior): above 1 if they believe what is false.

    None without a moment, or where nobody doubted.
    """
    games: dict[str, DoubtLosses] = {}
    for moment, chances in zip(moments, stated, strict=True):
        prior, left = games.get(moment.game, DoubtLosses(0, 0))
        games[moment.game] = DoubtLosses(prior + loss(moment.prior, moment.truth), left + loss(chances, moment.truth))
    return doubt_left(list(games.values()), rng)


def doubt_left(games: Sequence[DoubtLosses], rng: np.random.Generator) -> Estimate | None:
    """A ratio of sums, with the bootstrap over games; None without a game, or where nobody doubted."""
    return _of_games(_left, games, rng)


def doubt_change(
    after: Sequence[DoubtLosses], before: Sequence[DoubtLosses], rng: np.random.Generator
) -> Estimate | None:
    """The doubt left in some games minus the doubt left in the same games seen otherwise; None as in `doubt_left`."""
    rows = [(*row, *other) for row, other in zip(after, before, strict=True)]
    return _of_games(lambda sums: _left(sums[..., :2]) - _left(sums[..., 2:]), rows, rng)


def mean_by_game(values: Sequence[Sequence[float]], rng: np.random.Generator) -> Estimate | None:
    """The mean of all values, with the bootstrap over games; None without a value.

    Args:
        values: A list for each game; empty ones do not count.
        rng: Draws games for the interval.
    """
    return _of_games(_mean, [[sum(of), len(of)] for of in values if of], rng)


def _left(sums: Any) -> Any:
    share: Any = sums[..., 1] / np.where(sums[..., 0] > 0, sums[..., 0], np.nan)
    return share


def _of_games(
    figure: Callable[[Any], Any], rows: Sequence[Sequence[float]], rng: np.random.Generator
) -> Estimate | None:
    if not rows:
        return None
    sums = np.array(rows, float)
    return estimate(figure, sums, rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=2000) @ sums)


def _mean(sums: Any) -> Any:
    mean: Any = sums[..., 0] / sums[..., 1]
    return mean
