"""Kernels of AIWolf's Werewolf against the scalar rules: the same turns, masks, features, rewards and ends, move by move."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lockstep import Mirror, random_actions
from parlour.envs.core import Move, ParlourError
from parlour.envs.werewolf import vocabulary as game

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
aiwolf = pytest.importorskip("parlour.envs.batch.aiwolf")
pytestmark = pytest.mark.slow  # kernels are compiled


def dealt(tables: Any, b: int) -> Move:
    return Move(game.DEALT, tuple(map(int, tables.games[b].roles[: tables.seats])))


def drawn(tables: Any, b: int) -> Move:
    return Move(game.DRAWN, (int(tables.games[b].drawn),))


@pytest.mark.parametrize("features", ["summary", "record"])
@pytest.mark.parametrize(
    ("options", "games"),
    [
        ({"rules": "aiwolf-5"}, 40),
        ({"rules": "aiwolf-5", "talk": False}, 200),
        ({"rules": "aiwolf-15"}, 4),
        ({"rules": "aiwolf-15", "talk": False}, 30),
    ],
    ids=str,
)
def test_kernels_play_as_the_scalar_rules_do(options, games, features):
    tables = batch.make("werewolf_v0", num_envs=4, features=features, **options)
    assert type(tables) is aiwolf.AIWolfTables
    turns = tables.reset(seed=14)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(14)
    mirror.compare(turns)
    while mirror.games < games:
        turns = mirror.step(_often_over(tables, turns.mask, rng))
        mirror.compare(turns, every=1 if mirror.turns < 4000 else 4)


def _often_over(tables: Any, mask: Any, rng: np.random.Generator) -> Any:
    """Random actions; a third of the lines are over or skips, so that talk ends by all of its rules."""
    actions = random_actions(mask, rng)
    ends = int(tables.rules[0].over) if tables.game.talk else 0
    if tables.game.talk:
        actions = np.where((mask[:, ends] == 1) & (rng.random(len(mask)) < 0.3), ends, actions)
        actions = np.where((mask[:, 0] == 1) & (rng.random(len(mask)) < 0.2), 0, actions)  # skip
    return actions


@pytest.mark.parametrize("rules", ["aiwolf-5", "aiwolf-15"])
def test_actions_drawn_inside_the_kernel_are_legal_and_games_end(rules):
    tables = batch.make("werewolf_v0", num_envs=64, rules=rules)
    tables.reset(seed=1)
    ended = 0
    for _ in range(1000):
        turns = tables.play_random()
        ended += int(turns.terminated.sum())
        assert (turns.mask.sum(axis=1) > 1).all()
    assert ended > 30


def test_illegal_actions_are_refused_and_nothing_is_played():
    tables = batch.make("werewolf_v0", num_envs=2, rules="aiwolf-15")
    turns = tables.reset(seed=0)
    for action in range(-2, tables.actions + 2):
        before = tables.state()
        if 0 <= action < tables.actions and turns.mask[0, action]:
            continue
        if action == -1:
            continue  # HOLD
        with pytest.raises(ParlourError, match="is not accepted"):
            tables.step(np.array([action, action]))
        np.testing.assert_array_equal(before, tables.state())


def test_deals_are_given_and_a_state_continues():
    tables = batch.make("werewolf_v0", num_envs=2, rules="aiwolf-5")
    tables.reset(seed=0)
    roles = np.array([[0, 1, 2, 3, 3], [3, 3, 2, 1, 0]])
    tables.deal(roles)
    np.testing.assert_array_equal(tables.roles, roles)
    np.testing.assert_array_equal(tables.side, np.array([[1, 1, 0, 0, 0], [0, 0, 0, 1, 1]]))  # the possessed wins with wolves
    with pytest.raises(ParlourError, match="some deal is not accepted"):
        tables.deal(np.zeros((2, 5), int))
    state = tables.state()
    first = tables.play_random(5).observation.copy()
    tables.restore(state)
    np.testing.assert_array_equal(first, tables.play_random(5).observation)


def test_tables_with_beliefs_are_played_by_the_scalar_rules():
    assert isinstance(batch.make("werewolf_v0", num_envs=1, features="belief", rules="aiwolf-5"), batch.ScalarTables)
