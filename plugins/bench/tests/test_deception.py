"""Deception in Avalon: what an evil side leaves to an onlooker who knows how it plays.

Worked numbers: two games with losses (before, after) of (1, .5) and (3, .7): doubt left = 1.2 / 4 = .3. Unheard they leave .9 and 1.1,
2 / 4 = .5: the words changed the doubt by -.2.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from evil_words import Honest, Liar, Silent
from parlour.envs.avalon.belief import AvalonHabits
from parlour.envs.core import Event, Move
from parlour.training.measure.avalon.games import AnalysedGame
from parlour_bench.abilities.doubt import DoubtLosses, doubt_change, doubt_left
from parlour_bench.abilities.onlooker import (
    Counts,
    OnlookerDoubt,
    counted_habits,
    onlooker_doubt,
    rate_counts,
)
from parlour_bench.abilities.run import avalon_games
from parlour_bench.played import Candidate, play_suite
from parlour_bench.suite import BenchmarkTable, Suite

AVALON_6 = {"num_players": 6, "rules": "paper"}


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def games_of(player: type[Liar], folder: Path, deals: int) -> list[AnalysedGame]:
    """Games of a player against the heuristic, both sides of each deal."""
    suite = Suite("test", (BenchmarkTable("avalon-6", "avalon_v0", AVALON_6, deals, ("heuristic",)),))
    play_suite(suite, Candidate(f"evil_words:{player.__name__}"), folder)
    return avalon_games(folder)


@pytest.fixture(scope="module")
def liars(tmp_path_factory: pytest.TempPathFactory) -> list[AnalysedGame]:
    return games_of(Liar, tmp_path_factory.mktemp("liar"), 2)


def test_doubt_is_a_ratio_of_sums_and_words_change_it_by_a_difference():
    heard, unheard = [DoubtLosses(1, 0.5), DoubtLosses(3, 0.7)], [DoubtLosses(1, 0.9), DoubtLosses(3, 1.1)]
    left, change = doubt_left(heard, rng()), doubt_change(heard, unheard, rng())
    assert left is not None
    assert change is not None
    assert (left.value, left.n) == (pytest.approx(0.3), 2)
    assert change.value == pytest.approx(-0.2)
    assert doubt_left([], rng()) is None


def test_a_rate_is_the_counted_share_with_the_fixed_rate_for_two_cases():
    habits = counted_habits([Counts({("fail", True): 3}), Counts({("fail", False): 3})])
    assert habits.fail == pytest.approx((3 + 2 * 0.8) / 8)  # the fixed rate is .8
    assert replace(habits, fail=AvalonHabits().fail) == AvalonHabits()


def test_statements_count_by_the_side_of_the_speaker_and_of_the_target(liars):
    game = liars[0]
    evil, good = sorted(game.evil), [seat for seat in range(game.seats) if seat not in game.evil]
    said = [
        Event(evil[0], Move("accuse", (evil[1],)), None),
        Event(good[0], Move("accuse", (evil[1],)), None),
        Event(evil[0], Move("recommend", (good[1],)), None),
        Event(evil[0], Move("recommend", (evil[0],)), None),  # of oneself: no case
        Event(good[0], Move("defend", (good[1],)), None),
    ]
    game = replace(game, states=(game.states[-1]._replace(log=tuple(said)),))
    assert rate_counts(game) == {
        ("evil_accuses_evil", True): 1,
        ("accuse_evil", True): 1,
        ("evil_defends_evil", False): 1,
        ("defend_evil", False): 1,
    }


def test_an_onlooker_is_measured_in_the_games_in_which_the_player_is_evil(liars):
    doubt = onlooker_doubt(liars, rng())
    assert doubt.left is not None
    assert doubt.left.n == 2  # of two deals from both sides
    assert onlooker_doubt([], rng()) == OnlookerDoubt(None, None)


def test_words_of_a_silent_evil_side_change_nothing(tmp_path):
    doubt = onlooker_doubt(games_of(Silent, tmp_path, 2), rng())
    assert doubt.by_words is not None
    assert doubt.by_words.value == 0


@pytest.mark.slow
def test_a_heuristic_that_never_lies_deceives_less_than_one_that_does_intervals_apart(tmp_path):
    """200 deals: with 30 the half width is .2, as much as the difference."""
    honest, liar = (
        onlooker_doubt(games_of(player, tmp_path / player.__name__, 200), rng()).left for player in (Honest, Liar)
    )
    assert honest is not None
    assert liar is not None
    assert honest.ends[1] < liar.ends[0]
