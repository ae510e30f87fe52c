"""Cross-play and ratings: both sides of common deals, who wins is rated higher, and what the report says of it."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.training.play import seeds

pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")

from parlour.training.learn.selfplay import crossplay
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.crossplay import Crossplay
from parlour.training.learn.selfplay.pool import Member
from parlour.training.measure.pairs import PairGame
from parlour.training.runs.run import Run

CONFIG = SelfplayConfig(deals=8, test_deals=10)
A, B, C = Member("a", "random"), Member("b", "random"), Member("c", "random")


def between(*won: bool, draw: bool = False) -> tuple[PairGame, ...]:
    """Games of a pair: two for each deal, the first member on one side and then on the other."""
    sides = ("good", "evil")
    return tuple(
        PairGame(k // 2, sides[k % 2], sides[1 - k % 2], good_won, not good_won and not draw)
        for k, good_won in enumerate(won)
    )


def made(games: dict, deals: int = 2) -> Crossplay:
    return Crossplay((A, B, C), games, deals)


def test_a_game_is_seen_from_both_sides_of_the_table():
    result = made({("a", "b"): between(True, True, True, False)})
    assert result.rate("a", "b").value == 0.75
    assert result.rate("b", "a").value == 0.25
    assert (result.rate("a", "b", "good").hits, result.rate("a", "b", "good").n) == (2, 2)
    assert (result.rate("a", "b", "evil").hits, result.rate("b", "a", "evil").hits) == (1, 0)
    assert result.rate("b", "a", "good").hits == 1


def test_a_draw_is_won_by_nobody():
    result = made({("a", "b"): between(False, False, draw=True)})
    assert result.rate("a", "b").value == result.rate("b", "a").value == 0


def test_points_of_two_members_are_paired_by_deal():
    """Deal 0: a wins from both sides, one point; deal 1: good wins both times, none. Half a point in the mean."""
    result = made({("a", "b"): between(True, True, True, False)})
    own = result.difference("a", "b")
    assert (own.n, own.value) == (2, 0.5)
    assert result.difference("b", "a").value == -0.5


def test_a_cycle_is_named_where_each_beats_the_next_beyond_doubt():
    won, lost = between(*[True, True] * 20, *[True, False] * 4), between(*[False, False] * 20, *[True, False] * 4)
    assert made({("a", "b"): won, ("b", "c"): won, ("a", "c"): lost}).cycles() == [("a", "b", "c")]
    assert made({("a", "b"): won, ("b", "c"): won, ("a", "c"): won}).cycles() == []
    even = between(*[True, False] * 20)
    assert made({("a", "b"): won, ("b", "c"): won, ("a", "c"): even}).cycles() == []


def test_who_wins_is_rated_higher_and_the_order_of_the_names_does_not_matter():
    won = between(*[True] * 12)
    lost = between(*[False] * 12)
    ratings = crossplay.rated(made({("a", "b"): won, ("a", "c"): won, ("b", "c"): won}, deals=6), seed=0)
    assert [rating.name for rating in ratings] == ["a", "b", "c"]
    assert ratings[0].mu > 25 > ratings[2].mu
    assert all(rating.sigma < 25 / 3 and rating.games == 24 for rating in ratings)
    assert all(rating.ordinal == pytest.approx(rating.mu - 3 * rating.sigma) for rating in ratings)
    turned = Crossplay((A, B, C), {("b", "a"): lost, ("c", "a"): lost, ("c", "b"): lost}, 6)
    assert [rating.name for rating in crossplay.rated(turned, seed=0)] == ["a", "b", "c"]


def test_games_of_another_cross_play_are_refused_and_broken_ones_too(tmp_path):
    members = [
        Member("random", "random"),
        Member("heuristic", "heuristic"),
        Member("s01", "?", 1),
        Member("s02", "?", 2),
    ]
    path = tmp_path / crossplay.GAMES
    path.write_text('{"members": [], "deals": [1, 1]}\n')
    run = Run(tmp_path)
    with pytest.raises(ParlourError, match="holds another cross-play"), run.opened():
        crossplay.play_pairs(CONFIG, members, run)
    head = {"members": [[member.name, member.steps] for member in members], "deals": [CONFIG.deals, CONFIG.test_deals]}
    path.write_text(json.dumps(head) + "\n[[1, 2]]\n")
    with pytest.raises(ParlourError, match="accepted: what a cross-play left"), run.opened():
        crossplay.play_pairs(CONFIG, members, run)


def test_the_heuristic_beats_random_play_from_both_sides_of_the_same_held_out_deals():
    heuristic, random = Member("heuristic", "heuristic"), Member("random", "random")
    games = crossplay._pair(CONFIG, heuristic, random, seeds.HELD_OUT[:8])
    assert [game.seed for game in games] == [seed for seed in seeds.HELD_OUT[:8] for _ in range(2)]
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.side, first.other) == (second.other, second.side)
        assert {first.side, first.other} == {"good", "evil"}
    assert sum(game.won for game in games) >= 12
    assert all(game.won != game.lost for game in games)
