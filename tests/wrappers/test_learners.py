"""Wrappers for other people's learners: learner seats, the mask in info, the key `observations`, ranks of legal moves.

What they promise to PettingZoo is tested by PettingZoo's own tests; what they promise about the game, here.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.policies import RandomPolicy
from parlour.training.learn import examples
from parlour.wrappers import (
    LearnerSeats,
    LegalRanks,
    MaskInInfo,
    ObservationsKey,
    ParallelLegalRanks,
    ParallelMaskInInfo,
    ParallelObservationsKey,
)
from pettingzoo.utils.conversions import aec_to_parallel

from tests.envs.adapters.pettingzoo_suites import api_test, by_design, parallel_api_test, parallel_seed_test, seed_test

pytestmark = by_design
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


def every_seat(**settings: Any) -> Any:
    return registry[examples.GAME].raw_env(observation="features", **examples.OPTIONS, **settings)


def all_at_once() -> Any:
    return registry[examples.GAME].parallel_env(observation="features", **examples.OPTIONS)


@pytest.mark.parametrize(
    "make",
    [
        *(partial(learners, game, seats) for game in TABLES for seats in SEATS),
        *(lambda wrap=wrap: wrap(learners("avalon_v0", 2)) for wrap in (MaskInInfo, ObservationsKey)),
        lambda: LegalRanks(examples.learner_env(2), 10),
        lambda: LegalRanks(every_seat()),
    ],
)
def test_the_contract_of_pettingzoo_is_kept(make):
    api_test(make(), num_cycles=200)
    seed_test(make, num_cycles=20)


@pytest.mark.parametrize("wrap", [ParallelMaskInInfo, ParallelObservationsKey, ParallelLegalRanks])
@pytest.mark.parametrize("make", [all_at_once, lambda: aec_to_parallel(learners("avalon_v0"))], ids=["table", "seat"])
def test_the_contract_of_its_parallel_form_too(wrap, make):
    parallel_api_test(wrap(make()), num_cycles=50)
    parallel_seed_test(lambda: wrap(make()), num_cycles=20)


@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0"])
def test_each_learner_gets_the_return_of_the_seat_that_it_held(game):
    env, rng = learners(game, 2), np.random.default_rng(3)
    seatings = set()
    for seed in range(40):
        env.reset(seed=seed)
        seats = dict(env.seats)
        seatings.add(tuple(seats.values()))
        got = play(env, rng)
        returns = env.game_env.outcome.returns
        assert got == {agent: returns[seat] for agent, seat in seats.items()}
    assert len(seatings) > 10  # other seats in other games


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


@pytest.mark.parametrize("ranks", [10, None])
def test_a_rank_is_a_legal_move_in_the_order_of_the_catalogue(ranks):
    """The same game twice: by ranks, and by the numbers of the moves that they stand for."""
    plain, ranked = every_seat(), LegalRanks(every_seat(), ranks)
    rng = np.random.default_rng(1)
    counts = set()
    for seed in range(5):
        plain.reset(seed=seed)
        ranked.reset(seed=seed)
        for agent in plain.agent_iter():
            seen, reward, over, _, info = plain.last()
            same, paid, ended, _, ranked_info = ranked.last()
            assert (ranked.agent_selection, paid, ended) == (agent, reward, over)
            assert np.array_equal(same, seen["observation"])
            assert ranked.observation_space(agent).contains(same)
            assert "action_mask" not in ranked_info
            if over:
                plain.step(None)
                ranked.step(None)
                continue
            legal = np.flatnonzero(info["action_mask"])
            counts.add(len(legal))
            rank = int(rng.integers(ranked.action_space(agent).n))
            ranked.step(rank)
            plain.step(int(legal[rank % len(legal)]))
            assert ranked.unwrapped.moves == plain.moves
    assert {2, 10} <= counts


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LegalRanks(every_seat(), 0), "ranks 0 is not accepted; accepted: 1..30"),
        (lambda: ParallelLegalRanks(all_at_once(), 32), "ranks 32 is not accepted; accepted: 1..31"),
        (lambda: LegalRanks(registry["template_v0"].env()), "accepted: environments with observation='features'"),
        (
            lambda: LegalRanks(registry["template_v0"].env(observation="features", action="text")),
            "LegalRanks needs numbers as actions",
        ),
    ],
)
def test_ranks_outside_what_is_accepted_are_refused(make, message):
    with pytest.raises(ParlourError, match=message):
        make()


def test_too_few_ranks_are_told_of():
    env = LegalRanks(every_seat(), 5)
    env.reset(seed=1)
    with pytest.raises(ParlourError, match="10 legal moves, but 5 ranks; accepted: ranks=10 or more"):
        env.step(0)
