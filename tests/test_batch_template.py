"""Coin's kernels against Coin's scalar rules: the tosses, the turns, what is seen, who wins."""

from __future__ import annotations

import numpy as np
import pytest
from lockstep import Mirror, random_actions
from parlour.envs.core import Move, ParlourError

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")


def tossed(tables, b: int) -> Move:
    return Move("toss", (int(tables.games.coin[b]),))


def test_kernels_play_as_the_scalar_rules_do():
    tables = batch.make("template_v0", num_envs=16)
    turns = tables.reset(seed=1)
    mirror, rng = Mirror(tables, tossed), np.random.default_rng(1)
    for _ in range(200):
        mirror.compare(turns)
        turns = mirror.step(random_actions(turns.mask, rng))
    assert mirror.games == 16 * 100


def test_both_faces_are_as_likely_and_random_play_wins_half():
    tables = batch.make("template_v0", num_envs=1000)
    tables.reset(seed=2)
    heads, won = 0, 0
    for _ in range(10):
        heads += int((tables.games.coin == 0).sum())
        tables.play_random(2)
        won += int((tables.winner == 1).sum())
    # 10,000 tosses: standard deviation 50
    assert abs(heads - 5000) < 250
    assert abs(won - 5000) < 250


def test_the_guesser_who_follows_a_truthful_keeper_wins_each_game():
    tables = batch.make("template_v0", num_envs=64)
    turns = tables.reset(seed=3)
    for _ in range(10):
        turns = tables.step(
            1 + (turns.observation[:, 1] > 0)
        )  # speeches: 1 heads, 2 tails; the coin: -1 heads, 1 tails
        turns = tables.step(3 + (turns.observation[:, 2] > 0))
        assert turns.terminated.all()
        assert (tables.winner == 1).all()
        assert turns.rewards.tolist() == [[-1.0, 1.0]] * 64


def test_the_same_seed_is_the_same_game_and_a_given_toss_is_kept():
    one, two = batch.make("template_v0", num_envs=3), batch.make("template_v0", num_envs=5)
    one.reset([4, 5, 6])
    two.reset([6, 6, 5, 4, 4])
    assert one.games.coin.tolist() == [two.games.coin[k] for k in (3, 2, 0)]
    assert one.deal(np.array([[0], [1], [1]])).observation[:, 1].tolist() == [-1.0, 1.0, 1.0]


def test_a_game_that_is_over_stays_over_without_autoreset():
    tables = batch.make("template_v0", num_envs=2, autoreset=False)
    tables.reset(0)
    turns = tables.play_random(2)
    assert turns.terminated.all()
    turns = tables.step(np.array([99, 99]))
    assert turns.actor.tolist() == [-1, -1]
    assert not turns.mask.any()
    assert not turns.terminated.any()


def test_a_copy_of_the_state_goes_on_byte_for_byte():
    one, two = (batch.make("template_v0", num_envs=8) for _ in range(2))
    one.reset(1)
    one.play_random(3)
    two.reset(2)
    two.restore(one.state())
    for _ in range(10):
        theirs = [array.copy() for array in two.play_random()]
        assert all(np.array_equal(a, b) for a, b in zip(one.play_random(), theirs, strict=True))


def test_illegal_actions_are_refused():
    tables = batch.make("template_v0", num_envs=2)
    tables.reset(0)
    with pytest.raises(ParlourError, match="action 3 of seat 0 at table 1 is not accepted; accepted: 0, 1, 2"):
        tables.step(np.array([0, 3]))
