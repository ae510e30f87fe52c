"""Which table a command plays at: its options, else what a policy file was trained for, else the game's own default."""

from __future__ import annotations

import json

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat
from parlour.training.cli import run
from parlour.training.learn.ppo.config import SeatConfig
from parlour.training.learn.practice import PracticeConfig
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.play.named_table import DEFAULT_GAME, named_table

SILENT = {"num_players": 5, "rules": "official", "talk": False}


def file_for(path, game="avalon_v0", **options):
    """A network without knowledge, for a table; returns its path."""
    env = registry[game].raw_env(**options, observation="features", features="belief")
    agent = env.possible_agents[0]
    inputs, outputs = env.observation_space(agent)["observation"].shape[0], int(env.action_space(agent).n)
    layers = [(np.zeros((outputs, inputs), np.float32), np.zeros(outputs, np.float32))]
    path.parent.mkdir(exist_ok=True)
    TrainedSeat(game, env.game.config, layers, features="belief", sample=True).save(path)
    return str(path)


# -- the default -----------------------------------------------------------------------------------------------


def test_without_names_and_files_it_is_the_game_s_own_default():
    assert named_table(None, {}, ["heuristic", "random", "expert"]) == (DEFAULT_GAME, {})
    assert named_table("werewolf_v0", {"rules": "official"}, []) == ("werewolf_v0", {"rules": "official"})


def test_no_trainer_has_a_table_of_its_own():
    assert SeatConfig().options == SelfplayConfig().options == {}
    default = registry["avalon_v0"].raw_env().game.config
    practice = PracticeConfig()
    assert {"num_players": practice.num_players, "rules": practice.rules}.items() <= default.items()


# -- files -----------------------------------------------------------------------------------------------------


def test_a_policy_file_knows_its_table(tmp_path):
    file = file_for(tmp_path / "policy.npz", **SILENT)
    game, options = named_table(None, {}, ["heuristic", file, "expert"])
    assert game == "avalon_v0"
    assert options == registry["avalon_v0"].raw_env(**SILENT).game.config
    assert named_table("avalon_v0", {"num_players": 5, "talk": False}, [file]) == (game, options)  # some of them again


def test_a_mixture_knows_the_table_of_its_members(tmp_path):
    file_for(tmp_path / "mixed" / "one.npz", "werewolf_v0", num_players=6)
    game, options = named_table(None, {}, [f"mixture:{tmp_path / 'mixed'}"])
    assert (game, options["num_players"]) == ("werewolf_v0", 6)


@pytest.mark.parametrize(
    ("game", "options", "line"),
    [
        (None, {"num_players": 6}, "not with num_players=6; accepted: its options, or none"),
        ("avalon_v0", {"rules": "paper"}, 'not with rules="paper"; accepted: its options, or none'),
        ("werewolf_v0", {}, "not for werewolf_v0; accepted: avalon_v0, or no game"),
    ],
)
def test_another_table_than_the_file_s_is_one_line(tmp_path, game, options, line):
    file = file_for(tmp_path / "policy.npz", **SILENT)
    with pytest.raises(ParlourError, match="was trained for avalon_v0 with num_players=5") as caught:
        named_table(game, options, [file])
    assert str(caught.value).endswith(line)
    assert "\n" not in str(caught.value)


def test_files_of_two_tables_are_one_line(tmp_path):
    silent, talking = file_for(tmp_path / "a.npz", **SILENT), file_for(tmp_path / "b.npz", num_players=5)
    line = r"a.npz was trained for .*, .*b.npz for .*; accepted: policies of one table$"
    with pytest.raises(ParlourError, match=line):
        named_table(None, {}, [silent, talking])


def test_a_file_cannot_have_a_module_imported_or_a_file_opened(tmp_path):
    layers = [(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))]
    TrainedSeat("mine:GAME", {}, layers).save(tmp_path / "module.npz")
    with pytest.raises(ParlourError, match="is not imported for it"):
        named_table(None, {}, [str(tmp_path / "module.npz")])
    TrainedSeat("murder_mystery_v0", {"case": "/tmp/case.json"}, layers).save(tmp_path / "case.npz")
    with pytest.raises(ParlourError, match="a table that opens a file"):
        named_table(None, {}, [str(tmp_path / "case.npz")])


# -- commands --------------------------------------------------------------------------------------------------


def test_commands_play_at_the_table_of_the_file(tmp_path, capsys, error_of, json_of, monkeypatch):
    file = file_for(tmp_path / "policy.npz", **SILENT)
    (game,) = json_of(["play", "--policy", "heuristic", "--policy", f"player_2={file}", "--json"])
    assert len(game["players"]) == 5
    assert run(["evaluate", "--policy", file, "--policy", "expert", "--games", "2", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["rates"]) == {file, "expert"}
    assert run(["arena", "--policy", file, "--policy", "random", "--games", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["options"]["talk"] is False
    assert "not with num_players=6" in error_of(["evaluate", "-n", "6", "--policy", file, "--games", "2"])
