"""Ratings of a benchmark's players: the arena's model, with cells that nobody played, and the expert at zero."""

from __future__ import annotations

from math import log10

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.training.measure.arena.strengths import strengths
from parlour_bench.ratings import TRAINED, ratings
from parlour_bench.results_file import references
from parlour_bench.suite import FULL, QUICK, STRANGERS

RATED = ("avalon-6", "werewolf-8")
"""The tables with an expert among the opponents."""


def known(suite):
    return {reference.name: reference.points for reference in references(suite)}


@pytest.mark.parametrize("suite", [FULL, QUICK], ids=str)
def test_the_expert_is_at_zero_and_the_others_below_it_in_their_order(suite):
    rated = ratings(suite, known(suite), resamples=200)
    assert tuple(rated) == RATED
    for of in rated.values():
        assert (of[TRAINED].value, of[TRAINED].ends) == (0.0, (0.0, 0.0))
        assert of["random"].high < of["heuristic"].value < 0
        assert of["heuristic"].high < 0


def test_a_rating_does_not_depend_on_who_else_is_rated():
    every = known(FULL)
    alone = ratings(FULL, {"heuristic": every["heuristic"]}, resamples=100)
    together = ratings(FULL, every, resamples=100)
    for name in RATED:
        assert alone[name]["heuristic"] == together[name]["heuristic"]


def test_there_are_no_ratings_without_a_table_of_the_expert_or_without_its_games():
    for suite in (QUICK.only(["werewolf-4"]), QUICK.fresh("2026-11-27")):
        assert ratings(suite, {"random": known(QUICK)["random"]}) == {}
    assert ratings(STRANGERS, known(STRANGERS)) == {}


def played(wins: int, deals: int) -> np.ndarray:
    """Player 0 wins so many deals on either side against players 1 and 2, who win half of theirs; nobody plays itself."""
    games = np.full((deals, 3, 3), np.nan)
    number = np.arange(deals)
    games[:, 0, 1:] = (number < wins)[:, None]
    games[:, 1:, 0] = (number >= wins)[:, None]
    games[:, 1, 2] = games[:, 2, 1] = number % 2
    return games


def test_a_share_of_wins_is_a_difference_of_ratings_in_points_of_elo():
    estimate = strengths(played(150, 200), 100, np.random.default_rng(0), anchor=1)
    # three wins of four: odds of 3, which is 400 log10(3) = 190.8 points; the prior takes less than a hundredth
    assert estimate.players[0].rating.value == pytest.approx(400 * log10(3), rel=0.01)
    assert estimate.players[1].rating.value == estimate.players[1].rating.high == 0.0
    assert estimate.advantage.value == pytest.approx(0.0, abs=1e-6)
    assert estimate.miss == pytest.approx(0.0, abs=0.005)  # over the cells that were played


def test_an_anchor_shifts_all_ratings_alike():
    rng = np.random.default_rng(3)
    games = (rng.random((60, 3, 3)) < 0.6).astype(float)
    free = strengths(games, 100, np.random.default_rng(1))
    estimate = strengths(games, 100, np.random.default_rng(1), anchor=2)
    shift = free.players[2].rating.value
    for player, other in zip(free.players, estimate.players, strict=True):
        assert other.rating.value == pytest.approx(player.rating.value - shift, abs=1e-5)


def test_two_players_that_never_play_themselves_leave_their_strengths_open():
    with pytest.raises(ParlourError, match="leave strengths open"):  # two cells for three strengths
        strengths(played(5, 10)[:, :2, :2], 100, np.random.default_rng(0))


def test_cells_of_some_deals_only_are_refused():
    games = played(5, 10)
    games[3, 0, 1] = np.nan
    with pytest.raises(ParlourError, match="accepted: cells of all deals, or of none"):
        strengths(games, 100, np.random.default_rng(0))
