"""The frame of a seat: actions numbered so that they mean the same from every seat; a trained seat plays the same from its own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.common.frames import Frame
from parlour.envs.core import TABLE, Move, ParlourError
from parlour.envs.registry import kinds_of
from parlour.policies import TrainedSeat, make_policy

from tests.policies.networks import moves_of, untrained


def table(name: str, config: dict):
    spec = registry[name].spec
    game = spec.build(spec.options(**config))
    return spec, game, spec.encoder(game).frame()


def test_in_avalon_a_seat_names_itself_first():
    _, game, frame = table("avalon_v0", {"num_players": 5, "rules": "official", "talk": False})
    pair = game.catalogue.index(Move("propose", (0, 1)))  # oneself and the next seat
    assert game.catalogue[frame.order[4, pair]] == Move("propose", (0, 4))
    approve = game.catalogue.index(Move("vote", (1,)))  # 1 is a yes, no seat
    assert frame.order[4, approve] == approve
    third = game.catalogue.index(Move("guess", (2,)))
    assert game.catalogue[frame.order[4, third]] == Move("guess", (1,))
    assert game.catalogue[frame.order[4, game.catalogue.index(Move("guess"))]] == Move("guess")


def test_speech_turns_with_the_seat_it_is_about():
    _, game, frame = table("werewolf_v0", {"num_players": 8})
    numbers = {move: number for number, move in enumerate(game.catalogue)}
    for own, at_table in [
        (Move("accuse", (3,)), Move("accuse", (1,))),
        (Move("report", (1, 1)), Move("report", (7, 1))),
        (Move("claim_role", (1,)), Move("claim_role", (1,))),  # a role, not a seat
        (Move("vote", (2,)), Move("vote", (0,))),
        (Move("vote"), Move("vote")),
        (Move("save", (1,)), Move("save", (1,))),  # a yes, not a seat
    ]:
        assert game.catalogue[frame.order[6, numbers[own]]] == at_table


def test_a_frame_is_not_written_to():
    frame = Frame.identity(2, 3)
    with pytest.raises(ValueError, match="read-only"):
        frame.order[0, 0] = 1


@pytest.mark.parametrize("name", ["murder_mystery_v0", "mediated_qa_v0"])
def test_a_game_without_an_own_frame_says_so(name):
    spec = registry[name].spec
    with pytest.raises(ParlourError, match="features in the frame of a seat 'belief' is not accepted"):
        spec.encoder(None).of_seat("belief")


# -- environments ----------------------------------------------------------------------------------------------

KINDS = [
    pytest.param(name, config, kind, id=f"{name}-{kind}")
    for name, config in [("avalon_v0", {"num_players": 5}), ("werewolf_v0", {"num_players": 7}), ("template_v0", {})]
    for kind in kinds_of(registry[name].spec, {})[1:]
]


@pytest.mark.parametrize(("name", "config", "kind"), KINDS)
def test_cycles_take_actions_of_the_frame(name, config, kind):
    """A parallel game in which each seat sends the same meaning ends the same in every frame."""
    ends = []
    for features in ("table", kind):
        env = registry[name].parallel_env(observation="features", features=features, **config)
        _, infos = env.reset(seed=5)
        while env.agents:
            actions = {agent: last_legal(env, agent, infos[agent]["action_mask"]) for agent in env.agents}
            _, rewards, _, _, infos = env.step(actions)
        ends.append((env.aec.moves, rewards))
        assert not any(env.replaced.values())
    assert ends[0] == ends[1]


def last_legal(env, agent: str, mask) -> int:
    """The number of the legal move that stands last in the catalogue of the table; `wait` where that is all there is."""
    if mask[-1]:
        return env.wait
    catalogue, own = env.aec.game.catalogue, env.aec.catalogue_of(env.aec.seat_of[agent])
    return max(np.flatnonzero(mask[:-1]).tolist(), key=lambda k: catalogue.index(own[k]))


TRAINED = [("werewolf_v0", {"num_players": 7}), ("avalon_v0", {"num_players": 5}), ("template_v0", {})]
TRAINED_KINDS = [
    pytest.param(*table, kind, id=f"{table[0]}-{kind}")
    for table in TRAINED
    for kind in kinds_of(registry[table[0]].spec, {})
]


def moves_of_policy(name: str, config: dict, kind: str, policy: TrainedSeat, seed: int = 3) -> list:
    """A game in which the policy sits in every seat, in an environment of this kind that tells everything."""
    env = registry[name].raw_env(features=kind, info="full", **config)
    return moves_of(env, [pickle.loads(pickle.dumps(policy)) for _ in range(env.game.seats)], seed)


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize(("name", "config", "kind"), TRAINED_KINDS)
def test_it_plays_the_same_whatever_the_environment_counts_from(name, config, kind, sample):
    policy = untrained(name, config, kind, sample=sample)
    played = [moves_of_policy(name, config, other, policy) for other in kinds_of(registry[name].spec, {})]
    assert all(game == played[0] for game in played)


@pytest.mark.parametrize(("name", "config", "kind"), TRAINED_KINDS)
def test_numbers_alone_are_enough_where_they_are_its_own(name, config, kind):
    policy = untrained(name, config, kind, sample=True)
    env = registry[name].raw_env(observation="features", features=kind, **config)
    env.reset(seed=3)
    policies = [pickle.loads(pickle.dumps(policy)) for _ in env.possible_agents]
    for seat, copied in enumerate(policies):
        copied.reset(seat, 3)
    for agent in env.agent_iter():
        observation, _, over, _, info = env.last()
        assert set(info) == {"action_mask"}
        env.step(None if over else policies[env.seat_of[agent]].act(observation, info))
    assert env.moves == moves_of_policy(name, config, TABLE, policy)


def test_in_its_own_frame_it_does_not_matter_where_it_sits():
    """The first wolf of two deals that are the same but for one place round the table: its victim is one place further."""
    config = {"num_players": 7, "talk": False}
    policy = untrained("werewolf_v0", config, "summary")
    env = registry["werewolf_v0"].raw_env(info="full", **config)
    wolf = env.game.wolf
    others = [role for role in env.game.deck if role != wolf]
    roles = [*others[:2], wolf, others[2], wolf, *others[3:]]  # wolves 2 and 4; wolves are asked in the order of seats
    victims = []
    for by in range(3):
        dealt = [roles[(j - by) % 7] for j in range(7)]
        order = [(j + by) % 7 for j in range(7)]
        env.reset(seed=0, options={"nature": [Move("deal", (*dealt, *order))]})
        assert env.seat == 2 + by
        action = policy.act(env.observe_as(env.agent_selection, "features"), env.infos[env.agent_selection])
        victims.append(env.game.catalogue[action])
    (victim,) = victims[0].args
    assert victims == [Move("hunt", ((victim + by) % 7,)) for by in range(3)]


@pytest.mark.parametrize("stored", ["float32", "float16"])
def test_the_file_keeps_what_decides_its_play(tmp_path, stored):
    policy = untrained("template_v0", {}, "summary", activation="relu", sample=True)
    policy.save(tmp_path / "policy.npz", stored)
    loaded = TrainedSeat.load(tmp_path / "policy.npz")
    assert (loaded.features, loaded.activation, loaded.sample) == ("summary", "relu", True)
    assert all(array.dtype == np.float32 for layer in loaded.layers for array in layer)
    # half precision has 11 bits: a relative error of at most 2^-11
    tolerance = 0.0 if stored == "float32" else 2.0**-11
    for ours, theirs in zip(policy.layers, loaded.layers, strict=True):
        np.testing.assert_allclose(theirs[0], ours[0], rtol=tolerance)
    made = make_policy(str(tmp_path / "policy.npz"), "template_v0", {})
    assert isinstance(made, TrainedSeat)
    assert made.sample


def test_a_file_of_older_versions_is_of_the_kind_table(tmp_path):
    from parlour.policies.array_files import write_arrays

    policy = untrained("template_v0", {}, TABLE)
    arrays = {f"{what}{k}": a for k, layer in enumerate(policy.layers) for what, a in zip("wb", layer, strict=True)}
    meta = {"policy": "trained", "game": "template_v0", "config": {}, "layers": 2}
    write_arrays(tmp_path / "old.npz", "parlour_seat", meta, arrays)
    loaded = TrainedSeat.load(tmp_path / "old.npz")
    assert (loaded.features, loaded.activation, loaded.sample) == (TABLE, "tanh", False)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_many_observations_at_once_have_the_scores_of_each(activation):
    policy = untrained("template_v0", {}, "summary", activation=activation)
    many = np.random.default_rng(1).uniform(-1, 1, (5, 3)).astype(np.float32)
    scores = policy.scores(many)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, [policy.logits(observation) for observation in many], rtol=1e-5, atol=1e-6)


def test_relu_is_computed_as_it_is_defined():
    # hidden = max(0, (1, -2) + (0, 1)) = (1, 0); score = 3 * 1 + 5 * 0 + 0.5
    layers = [(np.array([[1.0], [-2.0]], np.float32), np.array([0, 1], np.float32))]
    layers.append((np.array([[3.0, 5.0]], np.float32), np.array([0.5], np.float32)))
    policy = TrainedSeat("template_v0", {}, layers, activation="relu")
    assert policy.logits(np.ones(1, np.float32)) == [3.5]


def test_settings_that_are_not_accepted():
    policy = untrained("template_v0", {}, TABLE)
    with pytest.raises(ParlourError, match="activation 'gelu' is not accepted; accepted: tanh, relu"):
        TrainedSeat("template_v0", {}, policy.layers, activation="gelu")
    with pytest.raises(ParlourError, match="stored 'int8' is not accepted; accepted: float32, float16"):
        policy.save("policy.npz", "int8")
