"""Wrappers for other people's learners: learner seats, the mask in info, the key `observations`.

What they promise to PettingZoo is tested by PettingZoo's own tests; what they promise about the game, here.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.training.learn import examples
from parlour.wrappers import (
    LearnerSeats,
    MaskInInfo,
    ObservationsKey,
    ParallelMaskInInfo,
    ParallelObservationsKey,
    SeatEnv,
)
from pettingzoo.utils.conversions import aec_to_parallel

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

pytestmark = [
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),
]
TABLES = {
    "avalon_v0": {"num_players": 5, "rules": "official", "talk": False},
    "werewolf_v0": {"num_players": 6, "talk": False},
    "template_v0": {},
}
SEATS = [1, 2, (1, 0)]


def learners(game: str, seats: Any = 1, **settings: Any) -> LearnerSeats:
    env = registry[game].raw_env(info="full", **TABLES[game])
    return LearnerSeats(env, lambda _: RandomPolicy(), seats=seats, **settings)


def play(env: Any, rng: np.random.Generator) -> dict[str, float]:
    """Play the game that was dealt by random legal moves; returns what each agent got in all."""
    got = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, over, _, info = env.last()
        got[agent] += reward
        env.step(None if over else int(rng.choice(np.flatnonzero(info["action_mask"]))))
    return got


@pytest.mark.parametrize("seats", SEATS, ids=str)
@pytest.mark.parametrize("game", TABLES)
def test_learner_seats_keep_the_contract_of_pettingzoo(game, seats):
    api_test(learners(game, seats), num_cycles=200)
    seed_test(partial(learners, game, seats), num_cycles=20)


@pytest.mark.parametrize("wrap", [MaskInInfo, ObservationsKey])
def test_other_shapes_keep_it_too(wrap):
    api_test(wrap(learners("avalon_v0", 2)), num_cycles=200)
    api_test(wrap(registry["avalon_v0"].env(num_players=5, observation="both")), num_cycles=30)


@pytest.mark.parametrize("wrap", [ParallelMaskInInfo, ParallelObservationsKey])
def test_so_do_the_parallel_ones(wrap):
    one = partial(lambda: wrap(aec_to_parallel(learners("avalon_v0"))))
    parallel_api_test(one(), num_cycles=100)
    parallel_seed_test(one, num_cycles=20)
    parallel_api_test(wrap(registry["avalon_v0"].parallel_env(num_players=5, observation="both")), num_cycles=20)


@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0"])
def test_each_learner_gets_the_return_of_the_seat_that_it_held(game):
    env, rng = learners(game, 2), np.random.default_rng(3)
    held = set()
    for seed in range(40):
        env.reset(seed=seed)
        seats = dict(env.seats)
        held.add(tuple(seats.values()))
        got = play(env, rng)
        returns = env.game_env.outcome.returns
        assert got == {agent: returns[seat] for agent, seat in seats.items()}
    assert len(held) > 10  # other seats in other games


def test_what_is_earned_on_the_way_arrives_with_the_next_turn():
    """QuestRewards pays .1 for each quest; a learner's sum is its return plus that, whoever moved when it was paid."""
    from parlour.wrappers import QuestRewards

    env = QuestRewards(registry["avalon_v0"].raw_env(info="full", **TABLES["avalon_v0"]))
    env, rng = LearnerSeats(env, lambda _: RandomPolicy()), np.random.default_rng(1)
    for seed in range(20):
        env.reset(seed=seed)
        seat = env.seats["learner_0"]
        got = play(env, rng)["learner_0"]
        view = env.game_env.view(seat)
        lead = (view.good - view.evil) * (1 if view.side == "good" else -1)
        assert got == pytest.approx(env.game_env.outcome.returns[seat] + 0.1 * lead)


def test_learners_see_what_their_seats_see():
    env = learners("avalon_v0", (3, 1), observation="both")
    env.reset(seed=5)
    for agent, seat in (("learner_0", 3), ("learner_1", 1)):
        seen, own = env.observe(agent), env.game_env.observe_as(f"player_{seat}", "both")
        assert seen["text"] == own["text"]
        assert np.array_equal(seen["observation"], own["observation"])
        assert np.array_equal(seen["action_mask"], own["action_mask"])


def test_one_learner_plays_the_game_of_seat_env():
    """The same seat, opponents, seed and choices give the same moves, nature's included."""
    bare = partial(registry["avalon_v0"].raw_env, info="full", **TABLES["avalon_v0"])
    for seed in range(5):
        seat_env = SeatEnv(bare(), lambda _: HeuristicPolicy(), seat=2)
        env = LearnerSeats(bare(), lambda _: HeuristicPolicy(), seats=(2,))
        _, info = seat_env.reset(seed=seed)
        env.reset(seed=seed)
        over = False
        while not over:
            action = int(np.flatnonzero(info["action_mask"])[0])
            _, _, over, _, info = seat_env.step(action)
            env.step(action)
        assert env.game_env.moves == seat_env.game_env.moves


def test_an_illegal_action_is_replaced_and_counted_or_raised():
    env = learners("avalon_v0")
    env.reset(seed=1)
    illegal = int(np.flatnonzero(env.infos["learner_0"]["action_mask"] == 0)[0])
    env.step(illegal)
    assert env.infos["learner_0"]["replaced"] == 1
    env = learners("avalon_v0", on_illegal="raise")
    env.reset(seed=1)
    with pytest.raises(ParlourError, match=r"is not accepted; accepted: I "):
        env.step(illegal)


@pytest.mark.parametrize("seats", [0, 6, (), (1, 1), (5,)], ids=str)
def test_seats_that_the_table_does_not_have_are_refused(seats):
    with pytest.raises(ParlourError, match=r"accepted: how many \(1..5\), or different seats of 0..4"):
        learners("avalon_v0", seats)


def test_each_shape_is_what_its_name_says():
    env = learners("avalon_v0")
    plain, bare, plural = env, MaskInInfo(env), ObservationsKey(env)
    env.reset(seed=2)
    seen = plain.observe("learner_0")
    assert isinstance(bare.observation_space("learner_0"), spaces.Box)
    assert np.array_equal(bare.observe("learner_0"), seen["observation"])
    assert set(plural.observe("learner_0")) == {"observations", "action_mask"}
    assert np.array_equal(plural.observe("learner_0")["observations"], seen["observation"])
    assert np.array_equal(plural.observe("learner_0")["action_mask"], bare.infos["learner_0"]["action_mask"])


@pytest.mark.parametrize("wrap", [MaskInInfo, ObservationsKey])
def test_an_environment_without_numbers_is_refused(wrap):
    with pytest.raises(ParlourError, match=r"accepted: .*observation='features'"):
        wrap(registry["avalon_v0"].env())


def test_the_measurement_of_the_examples_tells_the_heuristic_from_chance():
    """With 200 deals: about 67 % against 48 %."""
    report = examples.against_random("heuristic", HeuristicPolicy, 200)
    (compared,) = (c for c in report.comparisons if c.side == "all")
    assert compared.result.low > 0
    assert report.rates["random"]["all"].n == 200
