"""LegalRanks: action k is the legal move number k, modulo their count (its docstring); nothing else is changed."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.training.learn import examples
from parlour.wrappers import LegalRanks, ParallelLegalRanks
from pettingzoo.utils.conversions import aec_to_parallel

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

pytestmark = [
    pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros"),
    pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros"),
]


def every_seat(**settings: Any) -> Any:
    return registry[examples.GAME].raw_env(observation="features", **examples.OPTIONS, **settings)


def all_at_once() -> Any:
    return registry[examples.GAME].parallel_env(observation="features", **examples.OPTIONS)


def test_the_contract_of_pettingzoo_is_kept():
    api_test(LegalRanks(examples.learner_env(2), 10), num_cycles=200)
    seed_test(lambda: LegalRanks(every_seat()), num_cycles=20)
    for make in (partial(all_at_once), lambda: aec_to_parallel(examples.learner_env())):
        parallel_api_test(ParallelLegalRanks(make(), 10), num_cycles=50)
        parallel_seed_test(lambda make=make: ParallelLegalRanks(make()), num_cycles=20)


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
            same, paid, ended, _, told = ranked.last()
            assert (ranked.agent_selection, paid, ended) == (agent, reward, over)
            assert np.array_equal(same, seen["observation"])
            assert ranked.observation_space(agent).contains(same)
            assert "action_mask" not in told
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


def test_with_ranks_enough_every_legal_move_can_be_made():
    env = LegalRanks(every_seat(), 10)
    made = set()
    for rank in range(10):
        env.reset(seed=3)
        env.step(rank)
        made.add(env.unwrapped.moves[-1])
    assert len(made) == 10


def test_other_infos_stay():
    env = LegalRanks(examples.learner_env(), 10)
    env.reset(seed=1)
    assert set(env.last()[4]) == {"seat", "replaced", "redeals"}
    for _ in env.agent_iter():
        _, _, over, _, info = env.last()
        assert info["replaced"] == 0  # there is nothing illegal
        env.step(None if over else 7)


def test_who_has_nothing_to_decide_waits_by_any_action():
    """The same seed and the same choices of those who decide, whatever the others send."""

    def course(idle: int) -> list[Any]:
        env, inner = ParallelLegalRanks(all_at_once(), 10), all_at_once()
        env.reset(seed=4)
        _, told = inner.reset(seed=4)
        rng = np.random.default_rng(2)
        while env.agents:
            masks = {agent: info["action_mask"] for agent, info in told.items()}
            drawn = {agent: int(rng.integers(10)) for agent in env.agents}
            ranks = {agent: idle if masks[agent][-1] else drawn[agent] for agent in env.agents}
            legal = {agent: np.flatnonzero(mask) for agent, mask in masks.items()}
            *_, told = inner.step({agent: int(legal[agent][ranks[agent] % len(legal[agent])]) for agent in env.agents})
            _, rewards, _, _, infos = env.step(ranks)
            assert all(set(info) == {"replaced"} and info["replaced"] == 0 for info in infos.values())
            assert env.unwrapped.aec.moves == inner.aec.moves
        return [*inner.aec.moves, *rewards.values()]

    assert course(0) == course(9)


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
def test_settings_outside_what_is_accepted_are_refused(make, message):
    with pytest.raises(ParlourError, match=message):
        make()


@pytest.mark.parametrize("action", [-1, 10])
def test_an_action_that_is_no_rank_is_refused_and_changes_nothing(action):
    env = LegalRanks(every_seat(), 10)
    env.reset(seed=1)
    with pytest.raises(ParlourError, match=rf"action {action} is not accepted; accepted: a whole number 0\.\.9"):
        env.step(action)
    assert env.unwrapped.moves[-1].kind == "deal"


def test_too_few_ranks_are_told_of():
    env = LegalRanks(every_seat(), 5)
    env.reset(seed=1)
    with pytest.raises(ParlourError, match="10 legal moves, but 5 ranks; accepted: ranks=10 or more"):
        env.step(0)
