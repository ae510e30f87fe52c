"""The heuristic of AIWolf's Werewolf over arrays against the scalar one: the same choices in the same states, as often; the same wins."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from parlour_aiwolf.heuristic import AIWolfPlayer, AIWolfStyle
from test_batch_aiwolf import dealt, drawn

from tests.envs.batch.lockstep import Mirror
from tests.policies.heuristic.batch.test_werewolf import (
    assert_chosen_as_often,
    assert_villages_win,
    assert_writes_only_where_it_acts,
)

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
heuristic = pytest.importorskip("parlour_aiwolf.batch.heuristic")
pytestmark = pytest.mark.slow  # kernels are compiled


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize(
    ("options", "turns_played", "opens"),
    [
        ({"num_players": 5}, 600, 0.0),
        ({"num_players": 15}, 1200, 0.0),
        ({"num_players": 15}, 600, 0.3),
        ({"num_players": 15, "talk": False}, 400, 0.0),
    ],
    ids=str,
)
def test_it_does_what_the_scalar_heuristic_does_as_often(options, turns_played, opens, share):
    """Games of the heuristic itself (share 0), and with some of the actions at random."""
    style = AIWolfStyle(open=opens)
    tables = batch.make("aiwolf_v0", num_envs=4, features="summary", **options)
    turns = tables.reset(seed=2)
    mirror, choose = Mirror(tables, dealt, drawn), partial(heuristic.choose, style=style)
    player = partial(AIWolfPlayer, style=style)
    assert_chosen_as_often(mirror, turns, player, choose, share, lambda: mirror.turns >= turns_played)


@pytest.mark.parametrize(("players", "village"), [(5, 0.72), (15, 0.16)])
def test_sides_win_as_often_as_with_the_scalar_heuristic(players, village):
    """The scalar heuristic on all seats: 2,000 games of 5 players, 300 of 15, see the numbers in the parameters."""
    tables = batch.make("aiwolf_v0", num_envs=1000, features="summary", num_players=players)
    assert_villages_win(tables, village, heuristic.choose)


def test_it_needs_no_beliefs_and_writes_only_where_it_has_to_act():
    assert_writes_only_where_it_acts(batch.make("aiwolf_v0", num_envs=3, num_players=5), heuristic.choose)


def test_a_player_that_is_open_says_at_once_that_it_is_a_villager_unless_it_has_another_role_to_tell():
    tables = batch.make("aiwolf_v0", num_envs=200, num_players=15)
    turns, actions, everywhere = tables.reset(seed=0), np.zeros(200, np.int64), np.ones(200, bool)
    while not (tables.games.day == 2).all():
        heuristic.choose(tables, everywhere & (tables.games.day < 2), actions, AIWolfStyle(open=1.0))
        turns = tables.step(np.where(tables.games.day < 2, actions, -1))
    names = tables.game.role_names
    said, roles = tables.games.claimed, tables.roles
    for role in ("Villager", "Bodyguard", "Werewolf"):
        assert (said[roles == names.index(role)] == names.index("Villager")).all()
    assert (said[roles == names.index("Possessed")] == names.index("Seer")).all()
    assert (said[roles == names.index("Medium")] != names.index("Villager")).all()
    assert turns.actor.min() >= 0
