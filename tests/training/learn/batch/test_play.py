"""Play over arrays: draws follow the network's probabilities, advantages equal their definition, matches are fair."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `batch` is not installed")
pytest.importorskip("torch", reason="the extra `train` is not installed")

import torch
from hypothesis import given, settings, strategies as st
from parlour.envs import batch
from parlour.envs.batch.drawing import draw
from parlour.envs.batch.players import RandomSeats
from parlour.envs.batch.streams import started
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat
from parlour.training.learn.batch import kernels, matches
from parlour.training.learn.batch.networks import (
    NetworkPlayer,
    adam_arrays,
    arrays_of,
    layers_of,
    load_adam,
    load_arrays,
    mlp,
    trained,
    weights_of,
)
from torch import nn

OPTIONS = {"num_players": 5, "rules": "official", "talk": False}


# -- drawing -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_actions_are_drawn_as_often_as_the_softmax_of_the_legal_logits_says():
    """Logits log 1, log 2, log 3, log 4 with the third masked: chances 1/7, 2/7, 0, 4/7."""
    n = 20_000
    logits = np.tile(np.log([1, 2, 3, 4]).astype(np.float32), (n, 1))
    mask = np.tile(np.array([1, 1, 0, 1], np.uint8), (n, 1))
    actions, chances = np.zeros(n, np.int32), np.zeros(n, np.float32)
    draw(logits, mask, np.arange(n, dtype=np.int32), started(range(n), 0), actions, chances)
    shares = np.bincount(actions, minlength=4) / n
    assert shares == pytest.approx([1 / 7, 2 / 7, 0, 4 / 7], abs=0.015)  # 4 standard deviations
    assert chances == pytest.approx(np.log([1 / 7, 2 / 7, 1, 4 / 7])[actions], abs=1e-5)


# -- advantages --------------------------------------------------------------------------------------------------


def by_definition(row, actor, rewards, terminated, values, gae_lambda):
    """Seat by seat: A_k = sum over l of lambda^l (r_{k+l} + V_{k+l+1} - V_{k+l}), to the end of the seat's game."""
    totals = {}
    for b in range(row.shape[1]):
        for seat in range(rewards.shape[2]):
            steps, pending = [], []  # of one game: (decision, reward until the next one)
            for t in range(row.shape[0]):
                if row[t, b] >= 0 and actor[t, b] == seat:
                    pending.append([row[t, b], 0.0])
                if pending:
                    pending[-1][1] += rewards[t, b, seat]
                if terminated[t, b]:
                    steps.append((pending, True))
                    pending = []
            steps.append((pending, False))
            for game, ended in steps:
                for i, (k, _) in enumerate(game):
                    last = len(game) if ended else len(game) - 1
                    if i >= last:
                        continue  # the last decision of a game that goes on
                    total, weight = 0.0, 1.0
                    for j in range(i, last):
                        value = values[game[j + 1][0]] if j + 1 < len(game) else 0.0
                        total += weight * (game[j][1] + value - values[game[j][0]])
                        weight *= gae_lambda
                    totals[k] = total
    return totals


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_advantages_of_seats_that_take_turns_equal_their_definition(seed, gae_lambda):
    rng = np.random.default_rng(seed)
    turns, tables, seats = 12, 3, 3
    actor = rng.integers(0, seats, (turns, tables)).astype(np.int32)
    own = rng.random((turns, tables)) < 0.7
    row = np.full((turns, tables), -1, np.int32)
    row[own] = np.arange(own.sum())
    terminated = (rng.random((turns, tables)) < 0.2).astype(np.uint8)
    rewards = (rng.normal(size=(turns, tables, seats)) * terminated[:, :, None]).astype(np.float32)
    values = rng.normal(size=int(own.sum())).astype(np.float32)
    advantage, usable = np.zeros_like(values), np.zeros(len(values), bool)
    kernels.advantages(row, actor, rewards, terminated, values, gae_lambda, advantage, usable)
    expected = by_definition(row, actor, rewards, terminated, values, gae_lambda)
    assert set(np.flatnonzero(usable)) == set(expected)
    assert [advantage[k] for k in expected] == pytest.approx(list(expected.values()), abs=1e-4)


def test_returns_are_the_rewards_to_the_end_and_games_that_go_on_have_none():
    """One table, two seats in turn; the game ends at the third turn with +1 and -1; then a new one begins."""
    row = np.arange(5, dtype=np.int32)[:, None]
    actor = np.array([[0], [1], [0], [1], [0]], np.int32)
    terminated = np.array([[0], [0], [1], [0], [0]], np.uint8)
    rewards = np.zeros((5, 1, 2), np.float32)
    rewards[2, 0] = 1, -1
    values, usable = np.zeros(5, np.float32), np.zeros(5, bool)
    kernels.returns(row, actor, rewards, terminated, values, usable)
    assert usable.tolist() == [True, True, True, False, False]
    assert values[:3].tolist() == [1, -1, 1]


# -- networks ----------------------------------------------------------------------------------------------------


def test_weights_and_optimiser_put_back_go_on_as_if_nothing_had_happened():
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(32, 6, generator=generator)
    network = mlp((6, 8, 3), "relu", generator)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)

    def learn(network, optimiser):
        for _ in range(3):
            optimiser.zero_grad()
            network(inputs).square().mean().backward()
            optimiser.step()

    learn(network, optimiser)
    stored = arrays_of("x", network) | adam_arrays(optimiser)
    other = mlp((6, 8, 3), "relu", torch.Generator().manual_seed(2))
    resumed = torch.optim.Adam(other.parameters(), lr=1e-2)
    load_arrays("x", other, stored)
    load_adam(resumed, stored)
    learn(network, optimiser)
    learn(other, resumed)
    for first, second in zip(weights_of(network), weights_of(other), strict=True):
        assert np.array_equal(first[0], second[0])
        assert np.array_equal(first[1], second[1])


def test_a_trained_seat_over_arrays_has_the_logits_of_its_file():
    rng = np.random.default_rng(0)
    layers = [
        (rng.normal(size=(4, 5)).astype(np.float32), rng.normal(size=4).astype(np.float32)),
        (rng.normal(size=(3, 4)).astype(np.float32), rng.normal(size=3).astype(np.float32)),
    ]
    seat = TrainedSeat("avalon_v0", {}, layers, activation="relu", features="belief")
    player = trained("x", seat, [])
    assert len(layers_of(player.network)) == 2
    seen = rng.normal(size=(7, 5)).astype(np.float32)
    with torch.no_grad():
        assert player.network(torch.from_numpy(seen)).numpy() == pytest.approx(seat.scores(seen), abs=1e-5)


# -- matches -----------------------------------------------------------------------------------------------------


def tables(count, **options):
    return batch.make("avalon_v0", num_envs=count, features="summary", autoreset=None, **{**OPTIONS, **options})


class First(nn.Module):
    """Prefers the first action."""

    def forward(self, seen):
        return torch.arange(30, 0, -1).float().repeat(len(seen), 1)


def test_a_match_is_the_same_whatever_else_is_played_beside_it():
    """Ten deals at a table of ten and the same ten at a table of sixteen: the same winners."""
    seeds = list(range(2**31, 2**31 + 10))
    seating = np.zeros((10, 5), np.int8)
    seating[:, 2:] = 1
    results = [
        matches.play(made, (RandomSeats(), NetworkPlayer("first", First(), made.names)), seating, seeds).tolist()
        for made in (tables(10), tables(16))
    ]
    assert results[0] == results[1]
    assert set(results[0]) <= {0, 1}


def test_a_network_whose_features_the_tables_do_not_have_is_refused():
    made = tables(2)
    with pytest.raises(ParlourError, match="needs features that these tables do not have"):
        NetworkPlayer("x", First(), ["moon"]).reset(made, [1, 2], 0)


def test_a_network_finds_its_features_among_more():
    more = batch.make("avalon_v0", num_envs=3, features="belief", **OPTIONS)
    seen = []

    class Look(nn.Module):
        def forward(self, features):
            seen.append(features.numpy().copy())
            return torch.zeros(len(features), 30)

    turns = more.reset([1, 2, 3])
    player = NetworkPlayer("x", Look(), tables(1).names)
    player.reset(more, [1, 2, 3], 0)
    player.choose(turns, np.arange(3, dtype=np.int32), np.zeros(3, np.int32))
    assert np.array_equal(seen[0], tables(3).reset([1, 2, 3]).observation)


@pytest.mark.parametrize("name", ["avalon_v0", "werewolf_v0"])
def test_a_table_with_an_option_that_the_kernels_do_not_know_is_left_to_its_rules(name):
    module = lookup(name)
    known = module.raw_env(talk=False).game
    further = copy(known)
    further.config = {**further.config, "further": True}
    tables = batch.kernels_of(module.spec)
    assert tables.plays(known)
    assert not tables.plays(further)
