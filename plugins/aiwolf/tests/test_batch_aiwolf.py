"""Kernels of AIWolf's Werewolf against the scalar rules: the same turns, masks, features, rewards and ends, move by move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.core import Move, ParlourError
from parlour.envs.werewolf import vocabulary as game

from tests.envs.batch.lockstep import Mirror, random_actions

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
aiwolf = pytest.importorskip("parlour_aiwolf.batch")
pytestmark = pytest.mark.slow  # kernels are compiled


def dealt(tables: Any, b: int) -> Move:
    return Move(game.DEALT, tuple(map(int, tables.games[b].roles[: tables.seats])))


def drawn(tables: Any, b: int) -> Move:
    return Move(game.DRAWN, (int(tables.games[b].drawn),))


TABLES = [{"num_players": players, "talk": talk} for players in (5, 15) for talk in (True, False)]
GAMES = {5: 40, 15: 6}


@pytest.mark.parametrize("features", ["summary", "record"])
@pytest.mark.parametrize("options", TABLES, ids=str)
def test_kernels_play_as_the_scalar_rules_do(options, features):
    tables = batch.make("aiwolf_v0", num_envs=4, features=features, **options)
    assert type(tables) is aiwolf.AIWolfTables
    turns = tables.reset(seed=14)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(14)
    mirror.compare(turns, tolerance=0)
    while mirror.games < GAMES[options["num_players"]]:
        turns = mirror.step(_often_over(tables, turns.mask, rng))
        mirror.compare(turns, tolerance=0, every=1 if mirror.turns < 4000 else 4)


def _often_over(tables: Any, mask: Any, rng: np.random.Generator) -> Any:
    """Random actions; a third of the lines are over or skips, so that talk ends by all of its rules."""
    actions = random_actions(mask, rng)
    ends = int(tables.rules[0].over) if tables.game.talk else 0
    if tables.game.talk:
        actions = np.where((mask[:, ends] == 1) & (rng.random(len(mask)) < 0.3), ends, actions)
        actions = np.where((mask[:, 0] == 1) & (rng.random(len(mask)) < 0.2), 0, actions)  # skip
    return actions


@pytest.mark.parametrize("players", [5, 15])
def test_actions_drawn_inside_the_kernel_are_legal_and_games_end(players):
    tables = batch.make("aiwolf_v0", num_envs=64, num_players=players)
    tables.reset(seed=1)
    ended = 0
    for _ in range(1000):
        turns = tables.play_random()
        ended += int(turns.terminated.sum())
        assert (turns.mask.sum(axis=1) > 1).all()
    assert ended > 30


@pytest.mark.parametrize("options", TABLES, ids=str)
def test_what_the_mask_forbids_is_refused_and_nothing_is_played(options):
    tables = batch.make("aiwolf_v0", num_envs=1, **options)
    turns = tables.reset(seed=0)
    refused = 0
    for _ in range(6):
        before = tables.state()
        for action in [-2, *np.flatnonzero(turns.mask[0] == 0), tables.actions]:
            with pytest.raises(ParlourError, match="is not accepted"):
                tables.step(np.array([action]))
            np.testing.assert_array_equal(before, tables.state())
            refused += 1
        turns = tables.play_random(7)
    assert refused > 6 * 3  # something is forbidden at every turn, beside the two numbers that are none


def test_a_game_does_not_depend_on_the_games_beside_it():
    """Game number 5 of seven is game number 1 of one, turn by turn, through its end and the next deal."""
    many = batch.make("aiwolf_v0", num_envs=7, num_players=5, features="record")
    alone = batch.make("aiwolf_v0", num_envs=1, num_players=5, features="record")
    many.reset([3, 1, 4, 1, 5, 9, 2])
    alone.reset([5])
    ended = 0
    for _ in range(400):
        here, there = many.play_random(), alone.play_random()
        for several, single in zip(here, there, strict=True):
            np.testing.assert_array_equal(several[4], single[0])
        ended += int(there.terminated[0])
    assert ended > 1


def test_a_game_that_is_over_stays_over_without_autoreset():
    tables = batch.make("aiwolf_v0", num_envs=3, num_players=5, talk=False, autoreset=None)
    turns, paid = tables.reset(seed=2), np.zeros((3, 5))
    for _ in range(100):
        paid += tables.play_random().rewards
    assert (turns.actor == -1).all()
    assert not turns.mask.any()
    assert not turns.observation.any()
    # paid once: the wolf and the possessed against the three of the village
    np.testing.assert_array_equal(np.abs(paid), 1)
    for b in range(3):
        assert len(set(paid[b][tables.side[b] == 1])) == len(set(paid[b][tables.side[b] == 0])) == 1
        assert abs(paid[b].sum()) == 1


def test_deals_are_uniform():
    tables = batch.make("aiwolf_v0", num_envs=5000, num_players=5)
    tables.reset(seed=2)
    # the wolf and the seer are as likely on each of five seats: 1,000, standard deviation 28
    for role in (0, 2):
        assert np.abs(np.bincount((tables.roles == role).argmax(axis=1), minlength=5) - 1000).max() < 5 * 28


def test_deals_are_given_and_a_state_continues():
    tables = batch.make("aiwolf_v0", num_envs=2, num_players=5)
    tables.reset(seed=0)
    roles = np.array([[0, 1, 2, 3, 3], [3, 3, 2, 1, 0]])
    tables.deal(roles)
    np.testing.assert_array_equal(tables.roles, roles)
    np.testing.assert_array_equal(
        tables.side, np.array([[1, 1, 0, 0, 0], [0, 0, 0, 1, 1]])
    )  # the possessed wins with wolves
    with pytest.raises(ParlourError, match="some deal is not accepted"):
        tables.deal(np.zeros((2, 5), int))
    state = tables.state()
    first = tables.play_random(5).observation.copy()
    tables.restore(state)
    np.testing.assert_array_equal(first, tables.play_random(5).observation)


@pytest.mark.parametrize("features", ["belief", "record+belief"])
def test_tables_that_show_beliefs_are_played_by_the_scalar_rules(features):
    tables = batch.make("aiwolf_v0", num_envs=1, features=features, num_players=5)
    assert type(tables) is batch.ScalarTables
    assert not batch.have_kernels(tables.spec, {"num_players": 5}, features)


def test_beliefs_that_a_heuristic_would_need_are_accepted_and_cost_nothing():
    tables = batch.make("aiwolf_v0", num_envs=1, num_players=5, beliefs=True)
    assert type(tables) is aiwolf.AIWolfTables
    assert tables.weights.size == 0
