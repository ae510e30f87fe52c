"""Ratings of all members from their cross-play, by openskill: the Plackett-Luce model of Weng and Lin.

"A Bayesian approximation method for online ranking", Journal of Machine Learning Research 12, 2011. A game is a match of two
teams, its sides; a member that plays a whole side has one rating there. The method goes through the games once, so their
order is drawn from the run's seed. Members are frozen: their skill does not drift (tau = 0). All pairs have the same number
of games here, and both members of a pair have played both sides of each deal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from openskill.models import PlackettLuce
from parlour.training.learn.selfplay.crossplay import Crossplay
from parlour.training.play import seeds

_ORDER = 2  # what the seed is derived for


@dataclass(frozen=True)
class Rated:
    """A member's rating; before the first game 25 with deviation 25/3."""

    name: str
    mu: float
    sigma: float
    ordinal: float
    """mu - 3 sigma: the skill is hardly below it."""
    games: int


def rated(crossplay: Crossplay, seed: int) -> list[Rated]:
    """The ratings, the highest first."""
    games = [
        (pair, game)
        for pair, played in crossplay.games.items()
        for game in played[: 2 * crossplay.deals]
        if game.won or game.lost
    ]
    model = PlackettLuce(tau=0.0)
    ratings = {one.name: model.rating(name=one.name) for one in crossplay.members}
    counts = dict.fromkeys(ratings, 0)
    for k in np.random.default_rng(seeds.derive(seed, _ORDER)).permutation(len(games)):
        (a, b), game = games[k]
        winner, loser = (a, b) if game.won else (b, a)
        (ratings[winner],), (ratings[loser],) = model.rate([[ratings[winner]], [ratings[loser]]])
        counts[a] += 1
        counts[b] += 1
    found = [Rated(name, one.mu, one.sigma, one.ordinal(), counts[name]) for name, one in ratings.items()]
    return sorted(found, key=lambda one: -one.mu)
