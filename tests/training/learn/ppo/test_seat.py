"""Training a seat: it learns a game whose answer is known, resumes exactly, and its policy is saved and loaded."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zipfile
from itertools import pairwise

import numpy as np
import pytest
from parlour.envs import batch
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat, make_policy
from parlour.policies.array_files import write_arrays
from parlour.training.learn.ppo.config import SeatConfig, features_of
from parlour.training.play import rollout
from parlour.training.runs.checkpoints import Checkpoint
from parlour.training.runs.folder import CONFIG
from parlour.training.runs.loggers import CURVE
from parlour.training.runs.run import Run

seat = pytest.importorskip("parlour.training.learn.ppo.seat", reason="the extra `train` is not installed")
from parlour.training.learn.batch.networks import trained  # noqa: E402
from parlour.training.learn.ppo import trainer as trainers  # noqa: E402
from parlour.training.learn.ppo.trainer import ArrayTrainer, plays_over_arrays  # noqa: E402

SMALL = {"envs": 8, "processes": 2, "rollout": 256, "phase_steps": 512, "batch": 128, "validation_games": 20}
CHECKPOINT = "checkpoint.npz"
pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SCALAR = {"game": "template_v0", "options": {}, "opponents": "random", "features": "table"}
OVER_ARRAYS = {
    "game": "werewolf_v0",
    "options": {"num_players": 4, "talk": False},
    "opponents": "random",
    "features": "summary",
}
BOTH_WAYS = pytest.mark.parametrize("setting", [SCALAR, OVER_ARRAYS], ids=["scalar games", "over arrays"])


def config(**changes):
    return SeatConfig(**({"steps": 1024, **SMALL, **OVER_ARRAYS} | changes))


@pytest.mark.parametrize(
    ("changes", "over_arrays"),
    [
        ({}, True),
        ({"features": "table"}, False),
        (SCALAR | {"features": "summary"}, False),
        ({"game": "murder_mystery_v0", "options": {}, "features": None}, False),
        ({"game": "avalon_v0", "options": {"num_players": 5}, "opponents": "heuristic", "features": None}, True),
    ],
)
def test_the_learner_is_that_of_self_play_where_everybody_can_sit_over_arrays(changes, over_arrays):
    assert plays_over_arrays(config(**changes)) == over_arrays
    assert (seat.trainer_for(config(**changes)) is ArrayTrainer) == over_arrays


@pytest.mark.parametrize("own", ["random", 1])
def test_the_learner_holds_one_seat_of_each_table_and_all_its_decisions_count(own):
    trainer = ArrayTrainer(config(seat=own, envs=4))
    done = []
    learned = trainer.learn(0, done.append)
    assert learned.steps == done[-1] >= 512
    assert done == sorted(done)
    assert 0 < learned.won < learned.games
    assert not trainer.policy().sample


def small_tables(num_envs):
    return batch.make("werewolf_v0", num_envs=num_envs, features="summary", **OVER_ARRAYS["options"])


def test_a_trained_seat_over_arrays_chooses_what_it_chooses_at_one_table():
    tables = small_tables(32)
    turns = tables.reset(3)
    actions, size = turns.mask.shape[1], turns.observation.shape[1]
    layers = [(np.random.default_rng(0).normal(size=(actions, size)).astype(np.float32), np.zeros(actions, np.float32))]
    policy = TrainedSeat("werewolf_v0", tables.game.config, layers, features="summary")
    player, chosen = trained("trained", policy, tables.names), np.full(32, -5, np.int32)
    player.reset(tables, range(32))
    for _ in range(4):
        rows = np.arange(0, 32, 2, dtype=np.int32)
        player.choose(turns, rows, chosen)
        for b in rows:
            assert chosen[b] == policy.act({"observation": turns.observation[b], "action_mask": turns.mask[b]}, {})
        assert (chosen[1::2] == -5).all()
        turns = tables.play_random()
    with pytest.raises(ParlourError, match=r"trained needs features that these tables do not have: \['smell'\]"):
        trained("trained", policy, (*tables.names[:-1], "smell")).reset(tables, [0])


@pytest.mark.parametrize(
    ("game", "asked", "features"),
    [
        ("avalon_v0", None, "belief"),
        ("werewolf_v0", None, "belief"),
        ("murder_mystery_v0", None, "table"),
        ("werewolf_v0", "record", "record"),
    ],
)
def test_by_default_it_learns_from_beliefs_where_the_game_has_them(game, asked, features):
    assert features_of(game, asked) == features


# -- what a run leaves -------------------------------------------------------------------------------------------


class Trap:
    """Whoever unpickles it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def trapped(kind, trap, path):
    """A checkpoint of stable-baselines3, an array of objects, a bare pickle."""
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as file:
            wrapped = base64.b64encode(pickle.dumps(Trap(trap))).decode()
            file.writestr("data", json.dumps({"policy_class": {":type:": "type", ":serialized:": wrapped}}))
    elif kind == "objects":
        with path.open("wb") as file:
            np.savez(file, parlour_phases=np.array([Trap(trap)], dtype=object))
    else:
        path.write_bytes(pickle.dumps(Trap(trap)))


def begun(folder, chosen):
    """The folder of a run without a checkpoint."""
    own = seat.trainer_for(chosen)
    with Run(folder).opened(chosen.replace(learning_rate=chosen.learning_rate or own.RATE).plain()):
        return folder


@pytest.mark.parametrize("kind", ["zip", "objects", "pickle"])
def test_no_code_of_a_checkpoint_runs(tmp_path, kind):
    folder = begun(tmp_path / "run", config())
    trapped(kind, tmp_path / "ran", folder / CHECKPOINT)
    with pytest.raises(ParlourError, match=r"accepted: ") as refused:
        seat.train(config(), Run(folder))
    assert not (tmp_path / "ran").exists()
    assert "\n" not in str(refused.value)
    assert (folder / CHECKPOINT).exists()  # left as it is


def test_a_half_finished_run_of_stable_baselines3_is_refused_where_the_game_has_kernels(tmp_path):
    seat.train(config(steps=512), Run(tmp_path))
    write_arrays(tmp_path / CHECKPOINT, "parlour_phases", {"steps": 600, "updates": 1}, {})
    (tmp_path / CONFIG).write_text((tmp_path / CONFIG).read_text().replace('"steps": 512', '"steps": 1024'))
    with pytest.raises(ParlourError, match=r"the checkpoint is of stable-baselines3, with which earlier.*accepted: a"):
        seat.train(config(), Run(tmp_path))


@BOTH_WAYS
def test_a_checkpoint_comes_last_and_holds_numbers_and_a_finished_run_is_left_as_it_is(tmp_path, monkeypatch, setting):
    there, of = [], seat.trainer_for(config(**setting))
    state_dict = of.state_dict
    monkeypatch.setattr(
        of, "state_dict", lambda self: (there.append({p.name for p in tmp_path.iterdir()}), state_dict(self))[1]
    )
    first = seat.train(config(steps=512, **setting), Run(tmp_path))
    assert {CURVE, seat.POLICY} <= there[-1]
    with np.load(tmp_path / CHECKPOINT, allow_pickle=False) as stored:
        assert {stored[name].dtype.kind for name in stored.files} == {"U", "f"}  # plain values; weights and means
    before = (tmp_path / CHECKPOINT).stat().st_mtime_ns
    assert seat.train(config(steps=512, **setting), Run(tmp_path)) == first
    assert (tmp_path / CHECKPOINT).stat().st_mtime_ns == before
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ParlourError, match="another configuration"):
        seat.train(config(steps=512, seed=1, **setting), Run(tmp_path))


@pytest.mark.slow
def test_the_exported_network_is_the_one_that_maskable_ppo_trained(tmp_path):
    import torch

    chosen = config(steps=512, **SCALAR)
    seat.train(chosen, Run(tmp_path))
    trainer = trainers.Sb3Trainer(chosen)
    Checkpoint(tmp_path, "checkpoint").load(trainer.load_state_dict)
    trainer.close()
    policy = TrainedSeat.load(tmp_path / seat.POLICY)
    features = np.random.default_rng(0).normal(size=policy.layers[0][0].shape[1]).astype(np.float32)
    with torch.no_grad():
        expected = trainer.model.policy.get_distribution(torch.as_tensor(features)[None]).distribution.logits[0].numpy()
    logits = policy.logits(features)
    # the distribution holds normalised logits: equal up to one constant
    np.testing.assert_allclose(logits - logits.max(), expected - expected.max(), atol=1e-4)


@pytest.mark.slow
def test_the_keeper_cannot_be_guessed_but_the_guesser_learns_to_follow_an_honest_keeper(tmp_path, monkeypatch):
    # A keeper who tells the truth: the best guess is what he says, and wins every game.
    from parlour.envs.core import Move
    from parlour.envs.language import speech
    from parlour.policies.heuristic import template

    class Honest:
        def __init__(self, view, rng):
            pass

        def act(self, view):
            return Move(speech.PROMISE, (view.coin,)) if view.coin >= 0 else view.legal[0]

    monkeypatch.setattr(template, "CoinPlayer", Honest)
    monkeypatch.setattr(trainers, "SeatVecEnv", InProcess)
    chosen = SCALAR | {"opponents": "heuristic", "seat": 1, "phase_steps": 2048, "learning_rate": 3e-3}
    assert seat.train(config(steps=4096, **chosen), Run(tmp_path)).last.win_rate == 1.0


class InProcess(trainers.SeatVecEnv):
    """Plays in this process, where the test has put its own keeper."""

    def __init__(self, make, seeds_, processes):
        from parlour.training.learn.ppo import env_process as tables
        from stable_baselines3.common.vec_env.base_vec_env import VecEnv

        self._envs = [make() for _ in seeds_]
        self._seeds, self._tables = seeds_, tables
        probe = make()
        VecEnv.__init__(self, len(seeds_), probe.observation_space, probe.action_space)

    def reset(self):
        seen = np.stack([env.reset(seed=s)[0] for env, s in zip(self._envs, self._seeds, strict=True)])
        self._masks = self._tables.masks_of(self._envs)
        return seen

    def step_async(self, actions):
        self._steps = [self._tables.step(env, int(a)) for env, a in zip(self._envs, actions, strict=True)]

    def step_wait(self):
        seen, rewards, dones, infos = (list(column) for column in zip(*self._steps, strict=True))
        self._masks = self._tables.masks_of(self._envs)
        return np.stack(seen), np.array(rewards, np.float32), np.array(dones), infos

    def close(self):
        pass


# -- the policy ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def five():
    return rollout.table("avalon_v0", num_players=5, rules="official")


@pytest.fixture(scope="module")
def untrained(five):
    env, rng = five.game_env, np.random.default_rng(0)
    sizes = (env.encoder.size, 8, len(env.game.catalogue))
    layers = [(rng.normal(size=(b, a)).astype(np.float32), np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    return TrainedSeat("avalon_v0", env.game.config, layers)


def test_a_policy_is_refused_at_another_table(tmp_path, untrained):
    path = tmp_path / "policy.npz"
    untrained.save(path)
    config_of_six = rollout.table("avalon_v0", num_players=6).game_env.game.config
    with pytest.raises(ParlourError, match="was trained on avalon_v0"):
        make_policy(str(path), "avalon_v0", config_of_six)
    with pytest.raises(ParlourError, match="cannot play template_v0"):
        make_policy(str(path), "template_v0", {})
    observation = {"observation": np.zeros(3, np.float32), "action_mask": np.ones(2, np.int8)}
    with pytest.raises(ParlourError, match="99 inputs and 51 outputs, and this table 3 features and 2 actions"):
        untrained.act(observation, {})


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b'{"policy": "heuristic"}'])
def test_a_file_that_is_no_policy_is_refused(tmp_path, content):
    path = tmp_path / "policy.npz"
    path.write_bytes(content)
    with pytest.raises(ParlourError, match="not a trained seat"):
        make_policy(str(path), "avalon_v0", {})
    with pytest.raises(ParlourError, match="no policy file"):
        make_policy(str(tmp_path / "none.npz"), "avalon_v0", {})
    with pytest.raises(ParlourError, match="accepted: random, heuristic, human"):
        make_policy("nobody", "avalon_v0", {})


@pytest.mark.parametrize(
    ("changes", "message"), [({"envs": 0}, "envs 0 is not accepted"), ({"rollout": 100}, "a multiple of")]
)
def test_unusable_configurations_are_refused(changes, message):
    with pytest.raises(ParlourError, match=message):
        config(**changes)
