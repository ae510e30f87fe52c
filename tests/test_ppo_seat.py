"""Training a seat: it learns a game whose answer is known, resumes exactly, and its policy is saved and loaded."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zipfile
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest
from parlour.envs import batch
from parlour.envs.core import ParlourError
from parlour.policies import RandomPolicy, TrainedSeat, make_policy
from parlour.training.learn.ppo.phase_config import SeatConfig, features_of
from parlour.training.measure import evaluate
from parlour.training.play import rollout, seeds
from parlour.training.results.runs import CONFIG, run_directory

seat = pytest.importorskip("parlour.training.learn.ppo.seat", reason="the extra `train` is not installed")
from parlour.training.learn.batch.players import trained  # noqa: E402
from parlour.training.learn.ppo.phases import CHECKPOINT, load_model, new_model  # noqa: E402

SMALL = {"envs": 8, "processes": 2, "rollout": 256, "phase_steps": 512, "batch": 128, "validation_games": 20}
pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


BEFORE = "checkpoint.before.npz"
OVER_ARRAYS = {"game": "template_v0", "options": {}, "opponents": "random", "features": "summary"}
BOTH_WAYS = pytest.mark.parametrize("setting", [{}, OVER_ARRAYS], ids=["scalar games", "over arrays"])


def config(**changes):
    return SeatConfig(**({"steps": 1024, **SMALL} | changes))


class KilledError(Exception):
    """Stands for the end of the process in the middle of a phase."""


@BOTH_WAYS
def test_a_run_taken_up_after_a_kill_equals_one_that_was_not(tmp_path, setting):
    seat.train(config(**setting), tmp_path / "whole")
    done = 0

    def kill_in_second_phase(steps, _note):
        nonlocal done
        done += steps
        if done > 700:
            raise KilledError

    with pytest.raises(KilledError):
        seat.train(config(**setting), tmp_path / "cut", kill_in_second_phase)
    assert len((tmp_path / "cut" / seat.CURVE).read_text().splitlines()) == 2  # heading and the first phase
    seat.train(config(**setting), tmp_path / "cut")
    for name in (seat.POLICY, seat.CURVE, CONFIG, CHECKPOINT, BEFORE, seat.PICTURE):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@BOTH_WAYS
def test_the_result_does_not_depend_on_the_number_of_processes(tmp_path, setting):
    for processes in (1, 3):
        seat.train(config(steps=512, processes=processes, **setting), tmp_path / str(processes))
    assert (tmp_path / "1" / seat.POLICY).read_bytes() == (tmp_path / "3" / seat.POLICY).read_bytes()


def test_tables_over_arrays_are_taken_where_everybody_can_sit_there():
    for changes, over_arrays in [
        (OVER_ARRAYS, True),
        ({**OVER_ARRAYS, "opponents": "heuristic"}, False),  # Coin's heuristic plays scalar games only
        ({**OVER_ARRAYS, "features": "table"}, False),
        ({"game": "murder_mystery_v0", "options": {}, "opponents": "random"}, False),
    ]:
        env = seat._tables(config(**changes), 0)
        assert isinstance(env, seat.BatchSeatVecEnv) == over_arrays
        env.close()


def test_the_file_says_of_which_kind_its_features_are(tmp_path):
    seat.train(config(steps=512, **OVER_ARRAYS), tmp_path)
    assert TrainedSeat.load(tmp_path / seat.POLICY).features == "summary"


def test_a_trained_seat_over_arrays_chooses_what_it_chooses_at_one_table():
    layers = [(np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32), np.zeros(5, np.float32))]
    policy = TrainedSeat("template_v0", {}, layers, features="summary")
    tables = batch.make("template_v0", num_envs=32)
    player, actions = trained("trained", policy, tables.names), np.full(32, -5, np.int32)
    turns = tables.reset(3)
    player.reset(tables, range(32))
    for _ in range(4):
        rows = np.arange(0, 32, 2, dtype=np.int32)
        player.choose(turns, rows, actions)
        for b in rows:
            assert actions[b] == policy.act({"observation": turns.observation[b], "action_mask": turns.mask[b]}, {})
        assert (actions[1::2] == -5).all()
        turns = tables.play_random()


def test_a_trained_seat_over_arrays_draws_as_often_as_its_softmax_says():
    layers = [(np.zeros((5, 3), np.float32), np.log(np.array([1, 2, 5, 1, 1], np.float32)))]
    policy = TrainedSeat("template_v0", {}, layers, features="summary", sample=True)
    tables = batch.make("template_v0", num_envs=4000)
    player, actions = trained("trained", policy, tables.names), np.zeros(4000, np.int32)
    turns = tables.reset(3)
    player.reset(tables, range(4000))
    player.choose(turns, np.arange(4000, dtype=np.int32), actions)
    # the keeper may do 0, 1 and 2: in 1, 2 and 5 of 8 games; standard deviation at most 32 of 4,000
    assert (abs(np.bincount(actions, minlength=5) - np.array([500, 1000, 2500, 0, 0])) < 160).all()


def test_a_trained_seat_does_not_sit_where_its_features_are_not_shown():
    policy = TrainedSeat("template_v0", {}, [(np.zeros((5, 3), np.float32), np.zeros(5, np.float32))])
    tables = batch.make("template_v0", num_envs=1)
    with pytest.raises(ParlourError, match=r"trained needs features that these tables do not have: \['smell'\]"):
        trained("trained", policy, (*tables.names[:2], "smell")).reset(tables, [0])


def test_by_default_it_learns_from_beliefs_where_the_game_has_them():
    assert features_of("avalon_v0", None) == "belief"
    assert features_of("werewolf_v0", None) == "belief"
    assert features_of("murder_mystery_v0", None) == "table"
    assert features_of("werewolf_v0", "record") == "record"


def test_a_finished_run_is_left_as_it_is_and_another_configuration_is_refused(tmp_path):
    first = seat.train(config(steps=512), tmp_path)
    before = (tmp_path / CHECKPOINT).stat().st_mtime_ns
    assert seat.train(config(steps=512), tmp_path) == first
    assert (tmp_path / CHECKPOINT).stat().st_mtime_ns == before
    assert (tmp_path / seat.PICTURE).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ParlourError, match="another configuration"):
        seat.train(config(steps=512, seed=1), tmp_path)


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


@pytest.mark.parametrize("kind", ["zip", "objects", "pickle"])
@pytest.mark.parametrize("name", ["checkpoint.zip", CHECKPOINT])
def test_no_code_of_a_checkpoint_runs(tmp_path, kind, name):
    with run_directory(tmp_path / "run", asdict(config())):
        pass
    trapped(kind, tmp_path / "ran", tmp_path / "run" / name)
    with pytest.raises(ParlourError, match=r"accepted: ") as refused:
        seat.train(config(), tmp_path / "run")
    assert not (tmp_path / "ran").exists()
    assert "\n" not in str(refused.value)
    assert (tmp_path / "run" / name).exists()  # left as it is


def test_the_checkpoint_comes_last_so_that_a_kill_before_the_picture_draws_it_again(tmp_path, monkeypatch):
    there = []
    monkeypatch.setattr(seat, "save_model", lambda _, folder: there.append({path.name for path in folder.iterdir()}))
    seat.train(config(steps=512, **OVER_ARRAYS), tmp_path)
    assert {seat.PICTURE, seat.CURVE, seat.POLICY} <= there[-1]


def test_a_checkpoint_holds_numbers_and_plain_values(tmp_path):
    seat.train(config(steps=512, **OVER_ARRAYS), tmp_path)
    with np.load(tmp_path / CHECKPOINT, allow_pickle=False) as stored:
        kinds = {name.split(".")[0]: stored[name].dtype.kind for name in stored.files}
    assert kinds == {"parlour_phases": "U", "policy": "f", "adam": "f"}  # weights, and the optimiser's means


def test_a_checkpoint_that_was_cut_off_is_passed_over_for_the_one_before_it_and_both_cut_off_are_refused(
    tmp_path, caplog
):
    seat.train(config(**OVER_ARRAYS), tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / CHECKPOINT).write_bytes(files[CHECKPOINT][:-100])
    seat.train(config(**OVER_ARRAYS), tmp_path)
    assert [record.getMessage() for record in caplog.records] == [
        f"{str(tmp_path / CHECKPOINT)!r} is not a checkpoint of this run; accepted: what `train seat` left. The one before "
        f"it is used: {str(tmp_path / BEFORE)!r}"
    ]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    for name in (CHECKPOINT, BEFORE):
        (tmp_path / name).write_bytes(files[name][:-100])
    with pytest.raises(
        ParlourError, match=r"checkpoint.npz' is not a checkpoint of this run; accepted: what `train seat`"
    ):
        seat.train(config(**OVER_ARRAYS), tmp_path)
    assert (tmp_path / CHECKPOINT).read_bytes() == files[CHECKPOINT][:-100]


def test_the_exported_network_is_the_one_that_was_trained(tmp_path):
    import torch

    chosen = config(steps=512)
    seat.train(chosen, tmp_path)
    env = seat._tables(chosen, 0)
    model = load_model(tmp_path).put_into(new_model(chosen, env))
    env.close()
    policy = TrainedSeat.load(tmp_path / seat.POLICY)
    features = np.random.default_rng(0).normal(size=policy.layers[0][0].shape[1]).astype(np.float32)
    with torch.no_grad():
        expected = model.policy.get_distribution(torch.as_tensor(features)[None]).distribution.logits[0].numpy()
    found = policy.logits(features)
    # the distribution holds normalised logits: equal up to one constant
    np.testing.assert_allclose(found - found.max(), expected - expected.max(), atol=1e-4)


def test_the_keeper_cannot_be_guessed_but_the_guesser_learns_to_follow_an_honest_keeper(tmp_path, monkeypatch):
    # A keeper who tells the truth: the best guess is what he says, and wins every game.
    from parlour.envs import speech
    from parlour.envs.core import Move
    from parlour.policies.heuristic import template

    class Honest:
        def __init__(self, view, rng):
            pass

        def act(self, view):
            return Move(speech.PROMISE, (view.coin,)) if view.coin >= 0 else view.legal[0]

    monkeypatch.setattr(template, "CoinPlayer", Honest)
    monkeypatch.setattr(seat, "SeatVecEnv", InProcess)
    chosen = config(game="template_v0", options={}, seat=1, steps=4096, phase_steps=2048, learning_rate=3e-3)
    assert seat.train(chosen, tmp_path).win_rate == 1.0


class InProcess(seat.SeatVecEnv):
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


def test_a_trained_seat_is_saved_loaded_pickled_and_called(tmp_path):
    policy = untrained()
    policy.save(tmp_path / "policy.npz")
    loaded = TrainedSeat.load(tmp_path / "policy.npz")
    copied = pickle.loads(pickle.dumps(policy))
    env = rollout.table("avalon_v0", num_players=5, rules="official")
    for one in (policy, loaded, copied):
        report = evaluate.single(env, {"x": lambda one=one: one}, ("random", RandomPolicy), seeds.VALIDATION[:5])
        assert [game.moves for game in report.games] == [
            game.moves
            for game in evaluate.single(
                env, {"x": lambda: policy}, ("random", RandomPolicy), seeds.VALIDATION[:5]
            ).games
        ]


def untrained():
    env = rollout.table("avalon_v0", num_players=5, rules="official").game_env
    rng = np.random.default_rng(0)
    sizes = (env.encoder.size, 8, len(env.game.catalogue))
    layers = [(rng.normal(size=(b, a)).astype(np.float32), np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    return TrainedSeat("avalon_v0", env.game.config, layers)


def test_a_model_file_of_another_table_is_refused(tmp_path):
    path = tmp_path / "policy.npz"
    untrained().save(path)
    config_of_six = rollout.table("avalon_v0", num_players=6).game_env.game.config
    with pytest.raises(ParlourError, match="was trained on avalon_v0"):
        make_policy(str(path), "avalon_v0", config_of_six)
    with pytest.raises(ParlourError, match="cannot play template_v0"):
        make_policy(str(path), "template_v0", {})
    observation = {"observation": np.zeros(3, np.float32), "action_mask": np.ones(2, np.int8)}
    with pytest.raises(ParlourError, match="accepted: 99 and 51"):
        untrained().act(observation, {})


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


def test_unusable_configurations_are_refused():
    with pytest.raises(ParlourError, match="envs 0 is not accepted"):
        config(envs=0)
    with pytest.raises(ParlourError, match="a multiple of"):
        config(rollout=100)
