"""How strong players of whole sides are: a logistic model with a strength on each side, by maximum likelihood.

For a game of two sides, where player i holds the first and player j the second,

    log odds that the first side wins = advantage + first_i - second_j

with strengths that add up to zero on each side. A player's rating is the mean of its two strengths; with one strength a player
this is the model of Bradley and Terry (Biometrika 39, 1952) with an order effect (Davidson and Beaver, Biometrics 33, 1977).
A draw is half a win for each. The likelihood has Jeffreys' prior (Firth, Biometrika 80, 1993), which takes out the bias of
first order and keeps a player that won or lost all its games finite.

Intervals: the deals are resampled with all their games (percentiles at 95 %), as a deal that favours a side favours it in
every game that is played on it. Not chosen: openskill's ratings (`selfplay.ratings`), which see a side's advantage as
noise, depend on the order of the games, and have deviations that know nothing of common deals.

Numbers are in points as Elo counts them: 400 points are odds of ten to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError
from parlour.training.statistics import Estimate
from scipy.special import expit

POINTS: Final = 400 / log(10)
"""Points in one unit of log odds."""
_LEVELS: Final = (0.025, 0.975)
_ROUNDS: Final = 200
_STEP: Final = 4.0
"""The longest step in log odds."""
_CLOSE: Final = 1e-9
_DIGITS: Final = 6
"""Digits of points; closer values are equal, and minus zero is zero."""
_AT_ONCE: Final = 250
"""Samples that are fitted together."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Strength:
    """What is estimated of one player, in points; the mean of all players is zero on each side, and in the rating."""

    rating: Estimate
    first: Estimate
    """On the first side."""
    second: Estimate
    ranks: tuple[int, int]
    """The least and the greatest place by rating that the drawn deals leave, 1 for the strongest."""


@dataclass(frozen=True)
class Strengths:
    """Strengths of all players."""

    players: tuple[Strength, ...]
    """In the order of the rows of the games."""
    advantage: Estimate
    """Advantage of the first side between players of mean strength."""
    expected: tuple[tuple[float, ...], ...]
    """Chance that the first side wins, by who holds it and who holds the second."""
    miss: float
    """Root mean square over the cells: share won less chance, in shares."""
    noise: float
    """What `miss` would be if the model held and nothing but chance were at work."""


def strengths(games: Floats, resamples: int, rng: np.random.Generator, anchor: int | None = None) -> Strengths:
    """Estimate all strengths.

    Args:
        games: deals x players x players: by who holds the first side and who the second, 1 if the first side won, 0.5 for
            a draw, else 0; NaN in all deals of a cell that was not played.
        resamples: How often the deals are resampled for the intervals.
        rng: Draws the deals.
        anchor: The row of the player whose strengths and rating are zero; None: the mean of all players is.

    Raises:
        ParlourError: There are fewer than two players, a cell was played in some deals only, or too few cells were.
    """
    deals, players, _ = games.shape
    if players < 2:
        raise ParlourError(f"{players} player in the arena; accepted: two or more")
    cells = games.reshape(deals, -1)
    played = ~np.isnan(cells).any(0)
    if np.isnan(cells).sum() != deals * (~played).sum():
        raise ParlourError("a cell of some deals only is not accepted; accepted: cells of all deals, or of none")
    if np.linalg.matrix_rank(_design(players)[played]) < 2 * players - 1:
        raise ParlourError("the cells that were played leave strengths open; accepted: more pairs of players")
    cells = np.where(played, cells, 0.0)
    counts = deals * played
    fitted = fit(cells.sum(0)[None], counts, players)
    drawn = rng.multinomial(deals, np.full(deals, 1 / deals), size=resamples) @ cells
    parts = (drawn[k : k + _AT_ONCE] for k in range(0, resamples, _AT_ONCE))
    samples = np.concatenate([fit(part, counts, players) for part in parts])
    advantage, first, second, rating = _apart(fitted, players, anchor)
    apart = _apart(samples, players, anchor)
    low, high = np.quantile(np.concatenate(apart, axis=1), _LEVELS, axis=0, method="linear")
    value = np.concatenate([advantage, first, second, rating], axis=1)[0]
    estimates = [Estimate(*ends) for ends in zip(value.tolist(), low.tolist(), high.tolist(), strict=True)]
    ranks = _ranks(apart[3])
    expected = expit(fitted[0] @ _design(players).T)
    off = (cells.mean(0) - expected)[played]
    chance = expected * (1 - expected) / deals * (1 - (2 * players - 1) / played.sum())
    return Strengths(
        tuple(
            Strength(estimates[1 + 2 * players + k], estimates[1 + k], estimates[1 + players + k], ranks[k])
            for k in range(players)
        ),
        estimates[0],
        tuple(tuple(map(float, row)) for row in expected.reshape(players, players)),
        sqrt(float((off**2).mean())),
        sqrt(max(0.0, float(chance[played].mean()))),
    )


def _design(players: int) -> Floats:
    """The advantage and the strengths in each cell; the last strength of a side is minus the sum of the others."""
    own = np.vstack([np.eye(players - 1), -np.ones((1, players - 1))])
    rows = [np.concatenate([[1.0], own[i], -own[j]]) for i in range(players) for j in range(players)]
    return np.array(rows)


def fit(won: Floats, games: int | NDArray[np.int64], players: int) -> Floats:
    """The parameters that fit best, by Newton's method: samples x (1 + 2 (players - 1)).

    Args:
        won: samples x cells: games won by the first side.
        games: Played in each cell, or cell by cell.
        players: How many; there are players x players cells.
    """
    design = _design(players)
    at = np.zeros((len(won), design.shape[1]))
    for _ in range(_ROUNDS):
        chance = expit(at @ design.T)
        weight = games * chance * (1 - chance)
        information = np.einsum("cp,sc,cq->spq", design, weight, design, optimize=True)
        spread = np.linalg.inv(information)
        pull = weight * np.einsum("cp,spq,cq->sc", design, spread, design, optimize=True)
        score = (won - games * chance + pull * (0.5 - chance)) @ design
        step = np.einsum("spq,sq->sp", spread, score)
        longest = np.abs(step).max(1, keepdims=True)
        at = at + step * np.minimum(1.0, _STEP / np.maximum(longest, _STEP))
        if longest.max() < _CLOSE:
            break
    return at


def _apart(fitted: Floats, players: int, anchor: int | None = None) -> tuple[Floats, Floats, Floats, Floats]:
    """The advantage, strengths on the first and on the second side, and ratings, in points; a row a sample.

    With an anchor, its strengths are zero, and the advantage is that between two players as strong as the anchor.
    """
    first, second = fitted[:, 1:players], fitted[:, players:]
    sides = [np.hstack([side, -side.sum(1, keepdims=True)]) for side in (first, second)]
    advantage = fitted[:, :1]
    if anchor is not None:
        own = [side[:, anchor : anchor + 1] for side in sides]
        advantage = advantage + own[0] - own[1]
        sides = [side - zero for side, zero in zip(sides, own, strict=True)]
    points = [np.round(POINTS * side, _DIGITS) + 0.0 for side in (advantage, *sides, (sides[0] + sides[1]) / 2)]
    return points[0], points[1], points[2], points[3]


def _ranks(ratings: Floats) -> list[tuple[int, int]]:
    """The places of each player in the middle 95 % of the samples."""
    places = 1 + (ratings[:, None, :] > ratings[:, :, None]).sum(2)
    low, high = np.quantile(places, _LEVELS, axis=0, method="inverted_cdf").astype(int)
    return list(zip(low.tolist(), high.tolist(), strict=True))
