"""SealedTurn: what a turn tells, for how long, and which table and game it is of."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from parlour.envs import make
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy
from parlour.training.play import rollout
from parlour.wrappers import SealedTurn

with warnings.catch_warnings():  # PettingZoo's tests import one of its games in a way that it warns of itself
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test

OPTIONS: dict[str, Any] = {"num_players": 5, "rules": "official", "talk": False}


def sealed(observation: Any = "view", seats: Any = None, **settings: Any) -> SealedTurn:
    return SealedTurn(
        make("avalon_v0", **OPTIONS, **{"observation": "features", "info": "full", **settings}), observation, seats
    )


def turn_of(env: SealedTurn) -> Any:
    return env.last()[4]["turn"]


def first_legal(env: SealedTurn) -> int:
    return int(np.flatnonzero(env.last()[4]["action_mask"])[0])


@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
def test_it_passes_pettingzoos_api_test():
    api_test(sealed(), num_cycles=200)


@pytest.mark.parametrize("form", ["view", "features", "text", "both"])
def test_a_turn_tells_what_our_own_loop_tells_and_the_info_has_nothing_else_but_the_mask(form):
    env = sealed(form)
    env.reset(seed=3)
    for _ in range(12):
        info = env.last()[4]
        assert set(info) == {"action_mask", "turn"}
        base = env.game_env
        observation, told = info["turn"].read()
        expected = {} if form == "view" else base.observe_as(base.agent_selection, form)
        assert observation.keys() == expected.keys()
        assert all(np.array_equal(observation[key], expected[key]) for key in expected)
        assert told == base.infos[base.agent_selection]
        assert told["view"] == base.view(base.seat)
        assert info["turn"].seat == base.seat
        assert env.last()[4]["turn"] is info["turn"]
        env.step(first_legal(env))


def test_a_turn_is_empty_once_the_move_is_made_or_the_game_dealt_again():
    env = sealed()
    env.reset(seed=3)
    before = turn_of(env)
    env.step(first_legal(env))
    now = turn_of(env)
    now.read()
    env.reset()
    for gone in (before, now):
        with pytest.raises(ParlourError, match="there is nothing to read for seat"):
            gone.read()


def test_the_turns_of_other_seats_and_of_a_game_that_is_over_are_empty():
    env = sealed(seats=[1, 3])
    env.reset(seed=3)
    told: dict[int, bool] = {}
    while env.game_env.outcome is None:
        told[env.game_env.seat] = turn_of(env)._told is not None
        env.step(first_legal(env))
    assert told == {0: False, 1: True, 2: False, 3: True, 4: False}
    assert turn_of(env)._told is None


def test_it_tells_the_seed_that_deals_the_same_game_and_numbers_the_games():
    env, again = sealed(), sealed()
    env.reset(seed=3)
    again.reset(seed=3)
    seeds = []
    for number in (1, 2, 3):
        turn = turn_of(env)
        seeds.append(turn.seed)
        assert turn.game == number
        assert turn.seed == turn_of(again).seed
        own = make("avalon_v0", **OPTIONS)
        own.reset(seed=turn.seed)
        assert own.unwrapped.moves == env.game_env.moves
        env.reset()
        again.reset()
    assert seeds[0] == 3
    assert len(set(seeds)) == 3


def test_every_environment_is_a_table_of_its_own_also_as_a_copy():
    env = sealed()
    tables = [env, sealed(), copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for one in tables:
        one.reset(seed=1)
    assert len({turn_of(one).table for one in tables}) == 4


def test_a_game_played_by_its_turns_is_that_of_our_own_loop():
    env = sealed()
    env.reset(seed=8)
    players = [HeuristicPolicy() for _ in range(5)]
    for seat, player in enumerate(players):
        player.reset(seat, turn_of(env).seed)
    while env.game_env.outcome is None:
        turn = turn_of(env)
        env.step(players[turn.seat].act(*turn.read()))
    ours = rollout.table("avalon_v0", **OPTIONS)
    rollout.play(ours, [HeuristicPolicy() for _ in range(5)], 8)
    assert ours.game_env.moves == env.game_env.moves


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"info": "numeric"},
            "SealedTurn of an environment with info='numeric' is not accepted, .*; accepted: info='full'",
        ),
        ({"seats": [5]}, r"seats \(5,\) is not accepted; accepted: 0..4"),
    ],
)
def test_other_settings_are_refused(settings, said):
    with pytest.raises(ParlourError, match=said):
        sealed(**settings)
    with pytest.raises(ParlourError, match="observation 'words' is not accepted; accepted: view, features, text, both"):
        sealed("words")
