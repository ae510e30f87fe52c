"""A network trained by another library on our environment is saved with what it was trained on, and sits down by one command."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from parlour.envs import batch
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.adapters.trained_on import OwnFeatures, TrainedOn, beside, describe, read_beside, save_beside
from parlour.policies.trained import ViewReader
from parlour.training.cli import run
from parlour.training.play import rollout
from parlour.wrappers import BatchSeatEnv, LearnerSeats, LegalRanks, MaskInInfo

from tests import ROOT

pytest.importorskip("sb3_contrib", reason="the extra `train`")
from parlour.policies.adapters.sb3 import SB3_ALGORITHMS, algorithm_in
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

PAGES = ROOT / "docs" / "integrations"
TABLE = {"num_players": 5, "rules": "official", "talk": False}
EVALUATE = ["evaluate", "avalon_v0", "--players", "5", "--rules", "official", "--set", "talk=false"]
SMALL = {
    "PPO": {"n_steps": 8, "batch_size": 8},
    "MaskablePPO": {"n_steps": 8, "batch_size": 8},
    "RecurrentPPO": {"n_steps": 8, "batch_size": 8},
    "TRPO": {"n_steps": 8, "batch_size": 8},
    "ARS": {"n_delta": 1},
    "DQN": {"buffer_size": 10},
    "QRDQN": {"buffer_size": 10},
}
POLICIES = {"RecurrentPPO": "MlpLstmPolicy", "ARS": "LinearPolicy"}


def one_seat(features="belief"):
    return gymnasium.make("parlour/avalon-v0", features=features, opponents="random", **TABLE)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A checkpoint of MaskablePPO that learned for a moment on exact beliefs, with what it was trained on beside it."""
    file = tmp_path_factory.mktemp("sb3") / "model.zip"
    env = one_seat()
    model = MaskablePPO("MlpPolicy", env, seed=0, device="cpu", **SMALL["MaskablePPO"])
    model.learn(16)
    model.save(file)
    save_beside(file, env)
    return file


# -- what is beside a network -----------------------------------------------------------------------------------


def test_what_is_beside_a_network_says_game_configuration_features_frame_and_actions(trained):
    data = json.loads(beside(trained).read_text())
    assert set(data) == {"game", "config", "features", "frame", "actions"}
    assert (data["game"], data["features"], data["frame"], data["actions"]) == ("avalon_v0", "belief", "seat", "moves")
    assert data["config"]["num_players"] == 5
    assert read_beside(trained) == describe(one_seat())
    assert read_beside(trained.with_name("another.zip")) is None


def game_env(**more):
    return rollout.lookup("avalon_v0").raw_env(info="full", **TABLE, **more)


@pytest.mark.parametrize(
    ("env", "features", "actions"),
    [
        (lambda: game_env(), "table", "moves"),
        (lambda: MaskInInfo(LearnerSeats(game_env(features="summary"), "random")), "summary", "moves"),
        (lambda: DummyVecEnv([one_seat]), "belief", "moves"),
        (
            lambda: BatchSeatEnv(batch.make("avalon_v0", num_envs=2, features="belief", **TABLE), "random"),
            "belief",
            "moves",
        ),
        (lambda: batch.make("avalon_v0", num_envs=2, features="record", **TABLE), "record", "moves"),
        (lambda: LegalRanks(game_env(observation="features")), "table", "ranks"),
    ],
    ids=["game", "wrappers", "stable-baselines3", "arrays for a seat", "arrays", "ranks"],
)
def test_any_environment_of_ours_is_described_through_its_wrappers(env, features, actions):
    spec = describe(env())
    assert (spec.game, spec.config["talk"], spec.features, spec.actions) == ("avalon_v0", False, features, actions)


def test_other_environments_are_refused_in_one_line():
    with pytest.raises(
        ParlourError, match=r"^env '?\w+'? is not accepted; accepted: an environment or tables of parlour"
    ):
        describe(gymnasium.make("CartPole-v1"))


@pytest.mark.parametrize("spoil", [{"frame": "table"}, {"features": 3}, {"extra": 1}, {"config": []}])
def test_a_spoilt_description_is_refused(trained, tmp_path, spoil):
    data = json.loads(beside(trained).read_text())
    beside(tmp_path / "model").write_text(json.dumps(data | spoil))
    with pytest.raises(ParlourError, match="accepted: what save_beside wrote"):
        read_beside(tmp_path / "model")


# -- sitting down ------------------------------------------------------------------------------------------------


def test_a_checkpoint_of_stable_baselines3_sits_down_by_one_command(trained, output_of):
    words = ["--policy", f"sb3:{trained}", "--against", "random", "--games", "4", "--json"]
    assert f"sb3:{trained}" in output_of([*EVALUATE, *words])


def test_it_plays_in_its_own_features_and_frame_what_it_would_play_where_it_was_trained(trained):
    """At each turn the answer is the move that the model itself gives for the observation of a table with its features."""
    env, model = rollout.table("avalon_v0", **TABLE), MaskablePPO.load(trained, device="cpu")
    seats = [make_policy(f"sb3:{trained}", "avalon_v0", dict(env.unwrapped.game.config)) for _ in range(5)]
    env.reset(seed=4)
    for seat, player in enumerate(seats):
        player.reset(seat, 4)
    compared = 0
    base = env.unwrapped
    while base.outcome is None:
        seat, info = base.seat, env.infos[env.agent_selection]
        observation = env.observe(env.agent_selection)
        action = seats[seat].act(observation, info)
        own, mask = (reader := ViewReader("avalon_v0", base.game.config, "belief")).numbers(info["view"])
        chosen, _ = model.predict(reader.observed(info["view"]), action_masks=mask.astype(bool), deterministic=True)
        assert own[info["legal"].index(action)] == int(chosen)
        compared += len(own) > 1
        env.step(action)
    assert compared > 10


def test_it_does_not_sit_at_another_table_than_it_was_trained_at(trained, error_of):
    words = ["evaluate", "avalon_v0", "--players", "6", "--policy", f"sb3:{trained}", "--games", "1"]
    assert "the policy was trained on" in error_of(words)


# -- what is not known is asked for ------------------------------------------------------------------------------


@pytest.fixture
def alone(trained, tmp_path):
    """The checkpoint without anything beside it."""
    (tmp_path / "model.zip").write_bytes(trained.read_bytes())
    return tmp_path / "model.zip"


def test_without_a_description_the_error_names_the_settings(alone, error_of):
    error = error_of([*EVALUATE, "--policy", f"sb3:{alone}", "--games", "1"])
    assert f"accepted: sb3:file={alone},features=KIND" in error
    assert "save_beside(path, env)" in error


def test_named_settings_do_in_its_place(alone):
    player = make_policy(f"sb3:{alone},features=belief", "avalon_v0", dict(describe(one_seat()).config))
    assert isinstance(player, OwnFeatures)
    assert player.trained_on == describe(one_seat())


@pytest.mark.parametrize(
    ("named", "why"),
    [("features=summary", "features of"), ("actions=ranks", "actions of"), ("algorithm=DQN", "algorithm of")],
)
def test_a_setting_that_contradicts_the_file_is_refused(trained, named, why):
    with pytest.raises(ParlourError, match=rf"^{why} .* is not accepted; accepted: "):
        make_policy(f"sb3:{trained},{named}", "avalon_v0", dict(describe(one_seat()).config))


# -- the algorithm -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SB3_ALGORITHMS)
def test_the_algorithm_is_found_in_the_file(name, tmp_path):
    env, file = one_seat("summary"), tmp_path / "model.zip"
    model = SB3_ALGORITHMS[name](POLICIES.get(name, "MlpPolicy"), env, device="cpu", **SMALL.get(name, {}))
    model.save(file)
    save_beside(file, env)
    assert algorithm_in(file) == name
    player = make_policy(f"sb3:{file}", "avalon_v0", dict(describe(env).config))
    assert player.player.algorithm == name


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive"])
def test_a_file_that_is_no_checkpoint_is_one_line(tmp_path, content):
    (tmp_path / "model.zip").write_bytes(content)
    with pytest.raises(
        ParlourError, match=r"is not a checkpoint of stable-baselines3; accepted: a file of model\.save\(path\)$"
    ):
        make_policy(f"sb3:{tmp_path / 'model.zip'},features=belief", "avalon_v0", {})


# -- networks of one's own ---------------------------------------------------------------------------------------


def test_any_callable_plays_in_the_features_it_was_trained_on():
    """As a PyTorch network of one's own would: what it sees is in its frame, and its number is the table's move."""
    seen: list[tuple[int, tuple[int, ...]]] = []

    def network(observation, info):
        seen.append((observation["observation"].size, tuple(np.flatnonzero(observation["action_mask"]))))
        return seen[-1][1][-1]

    env = rollout.table("avalon_v0", **TABLE)
    seats = [OwnFeatures(network, describe(one_seat())) for _ in range(5)]
    assert rollout.play(env, seats, seed=3).outcome is not None
    size = gymnasium.make("parlour/avalon-v0", features="belief", **TABLE).observation_space.shape[0]
    assert {features for features, _ in seen} == {size}


def test_an_illegal_answer_of_a_network_is_refused():
    env = rollout.table("avalon_v0", **TABLE)
    seats = [OwnFeatures(lambda observation, info: 10_000, describe(one_seat())) for _ in range(5)]
    with pytest.raises(ParlourError, match=r"^action 10000 is not accepted"):
        rollout.play(env, seats, seed=3)


def test_actions_of_other_kinds_are_refused():
    with pytest.raises(ParlourError, match=re.escape("actions 'words' is not accepted; accepted: moves, ranks")):
        TrainedOn("avalon_v0", {}, actions="words")


# -- the pages ---------------------------------------------------------------------------------------------------


def block_of(page):
    (block,) = re.findall(r"```python\n(.*?)```", (PAGES / page).read_text("utf-8"), re.DOTALL)
    return block


@pytest.mark.slow
def test_the_page_of_stable_baselines3_trains_and_its_command_seats_the_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block, smaller = (
        block_of("sb3.md"),
        {"50_000": "32", "n_steps=1024": "n_steps=32", "batch_size=256": "batch_size=16"},
    )
    for number, other in smaller.items():
        assert block.count(number) == 1
        block = block.replace(number, other)
    exec(compile(block, "sb3.md", "exec"), {})
    (command,) = re.findall(r"^    parlour (evaluate .*)$", (PAGES / "sb3.md").read_text("utf-8"), re.MULTILINE)
    assert run([*command.split(), "--games", "1"]) == 0


@pytest.mark.slow
def test_the_page_of_pytorch_seats_a_network_of_one_s_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("mine.py").write_text(block_of("pytorch.md"), "utf-8")
    mine = importlib.import_module("mine")
    monkeypatch.delitem(sys.modules, "mine")
    mine.save(mine.network())
    assert run(["evaluate", "avalon_v0", "--policy", "mine:agent", "--games", "1"]) == 0
    monkeypatch.delitem(sys.modules, "mine")
