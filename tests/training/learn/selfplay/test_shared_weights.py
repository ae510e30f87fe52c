"""Layers that share their weights among the other seats: whoever sits elsewhere takes the logits of its aims along."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from parlour.envs import batch
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat

pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")
pytest.importorskip("numba")

from parlour.training.learn.batch.networks import (
    action_units,
    feature_units,
    hidden_units,
    mlp,
    put_weights,
    shared_mlp,
    taken_over,
    weights_of,
)
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.learner import SelfplayLearner
from parlour.training.runs.run import Run

pytestmark = pytest.mark.slow  # kernels are compiled


@pytest.fixture(params=[5, 15], scope="module")
def tables(request):
    return batch.make("werewolf_v0", num_envs=1, features="summary", num_players=request.param)


def network_of(tables, hidden=(64, 64)):
    """With a bias of each unit, which is 0 before it has learned."""
    network = shared_mlp(tables, hidden, "relu", torch.Generator().manual_seed(3))
    with torch.no_grad():
        for layer in network[::2]:
            for bias in (layer.own_bias, layer.other_bias):
                bias.copy_(torch.arange(len(bias)) / 10)
    return network


def exchanged(units, first, other):
    """The numbers of all features or actions after two other seats changed places."""
    numbers = np.arange(units.size)
    rows = units.others.numpy()
    numbers[rows[first - 1]], numbers[rows[other - 1]] = rows[other - 1], rows[first - 1]
    return numbers


def test_logits_move_with_the_other_seats(tables):
    """Seats +1 and +3 change places, and with them all that is said about them and what is aimed at them."""
    network = network_of(tables)
    features = exchanged(feature_units(tables.names, tables.seats), 1, 3)
    actions = exchanged(action_units(tables), 1, 3)
    seen = torch.rand(20, tables.size, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits, turned = network(seen), network(seen[:, features])
    assert not torch.allclose(logits, turned, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(turned, logits[:, actions], atol=1e-5, rtol=1e-5)


def test_the_own_seat_is_like_no_other(tables):
    """What is said about oneself moves the logits of all, not of one aim."""
    network, seen = network_of(tables), torch.zeros(2, tables.size)
    seen[1, tables.names.index("seat +0: times accused / 10")] = 1
    with torch.no_grad():
        before, after = network(seen)
    assert (before != after).all()


def test_a_trained_seat_has_the_same_logits_from_plain_layers(tables):
    network = network_of(tables)
    shape = {"features": tables.features, "activation": "relu"}
    seat = TrainedSeat(tables.spec.id, tables.game.config, weights_of(network), **shape)
    seen = np.random.default_rng(2).random((5, tables.size), dtype=np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(seen)).numpy()
    np.testing.assert_allclose(seat.scores(seen), expected, atol=1e-5)


def test_features_and_actions_are_about_the_seats_that_their_names_and_arguments_tell():
    tables = batch.make("werewolf_v0", num_envs=1, features="summary", num_players=5)
    features, actions = feature_units(tables.names, 5), action_units(tables)
    own = [tables.names[k] for k in features.own]
    assert "I am Seer" in own
    assert "seat +0: is alive" in own
    assert "seat +3: is alive" in {tables.names[k] for k in features.others[2]}
    aims = {(move.kind, move.args) for move in (tables.game.catalogue[k] for k in actions.others[1])}
    assert aims >= {("vote", (2,)), ("report", (2, 0)), ("report", (2, 1))}
    assert ("claim_role", (2,)) not in aims  # a role, no seat


def test_hidden_units_are_divided_among_the_seats():
    """Of 64 units at 5 seats a quarter is about no other seat, and 12 are about each other one."""
    units = hidden_units(64, 5)
    assert (len(units.own), tuple(units.others.shape)) == (16, (4, 12))
    with pytest.raises(ParlourError, match="hidden 18 is not accepted; accepted: from 19 at a table of 15"):
        hidden_units(18, 15)
    assert hidden_units(19, 15).others.shape == (14, 1)


@pytest.mark.parametrize(
    ("game", "options", "what"),
    [
        ("werewolf_v0", {"num_players": 5, "features": "record"}, "features"),  # pairs of seats
        ("avalon_v0", {"num_players": 5, "rules": "official", "features": "summary"}, "actions"),  # teams
    ],
)
def test_what_is_about_several_seats_is_refused(game, options, what):
    tables = batch.make(game, num_envs=1, **options)
    with pytest.raises(
        ParlourError, match=f"^{what} that cannot share weights are not accepted; accepted with shared: "
    ):
        (feature_units(tables.names, tables.seats), action_units(tables))


def test_a_learner_shares_the_weights_of_its_policy_and_stores_them(tmp_path):
    def learner(seed):
        config = SelfplayConfig(
            game="werewolf_v0", options={"num_players": 5}, features="summary", shared=True, hidden=(32,), seed=seed
        )
        return SelfplayLearner(config, batch.make("werewolf_v0", num_envs=1, features="summary", num_players=5))

    first, other = learner(0), learner(1)
    run = Run(tmp_path)
    with run.opened():
        run.checkpoint(first.state_dict({}))
        run.restore(other.load_state_dict)
    for mine, its in zip(weights_of(first.policy), weights_of(other.policy), strict=True):
        np.testing.assert_array_equal(mine[0], its[0])


def test_shared_layers_take_over_those_of_a_file_which_holds_them_in_full(tables):
    network = network_of(tables)
    sizes = (tables.size, 64, 64, len(tables.game.catalogue))
    in_full, fresh = mlp(sizes, "relu"), shared_mlp(tables, (64, 64), "relu", torch.Generator().manual_seed(4))
    put_weights(in_full, weights_of(network))
    taken, seen = taken_over(fresh, in_full), torch.rand(20, tables.size, generator=torch.Generator().manual_seed(1))
    assert taken
    torch.testing.assert_close(taken(seen), network(seen), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("hidden", "activation"), [((64, 64), "relu"), ((64, 32), "relu"), ((64, 64), "tanh")])
def test_other_layers_are_not_taken_over(tables, hidden, activation):
    """With weights that no two seats share, of other sizes, or with another activation."""
    other = mlp((tables.size, *hidden, len(tables.game.catalogue)), activation)
    assert taken_over(shared_mlp(tables, (64, 64), "relu"), other) is None
