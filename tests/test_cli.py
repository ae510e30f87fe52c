"""The command line: what each command prints and leaves, and that bad input gets one line and exit code 2."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from parlour.envs import replay
from parlour.training.cli import run


@pytest.fixture
def transcript(tmp_path, output_of):
    output_of(["play", "avalon_v0", "--players", "5", "--seed", "3", "--out", str(tmp_path / "games")])
    return tmp_path / "games" / "avalon_v0-1.jsonl"


def test_list_names_games_options_and_players(json_of, output_of):
    output = output_of(["list"])
    for word in ("avalon_v0", "template_v0", "5..10", "reference", "random", "heuristic", "human"):
        assert word in output
    assert json_of(["list", "--json"])["games"]["avalon_v0"]["options"]["num_players"] == "5..10"


def test_play_shows_the_public_record_only_and_the_roles_at_the_end(output_of):
    output = output_of(["play", "--players", "5", "--seed", "3"])
    assert "Moderator: Quest 1, proposal 1: " in output
    assert "player_0 was the Assassin." in output
    assert "Privately" not in output


def test_play_json_is_the_same_for_the_same_seed(capsys, output_of):
    arguments = ["play", "--players", "5", "--seed", "3", "--games", "2", "--json"]
    first = output_of(arguments)
    assert output_of(arguments) == first
    games = json.loads(first)
    assert [game["seed"] for game in games] == [3, 4]
    assert all(sum(r > 0 for r in game["returns"]) in (2, 3) for game in games)


def test_play_with_a_person_at_the_terminal(output_of, monkeypatch):
    answers = iter(["hello everybody", "", *["1"] * 200])
    monkeypatch.setattr("builtins.input", lambda _prompt="": next(answers))
    output = output_of(["play", "--players", "5", "--policy", "player_0=human"])
    assert "You are Ana." in output
    assert 'Ana says: "hello everybody"' in output


def test_a_person_who_leaves_ends_the_game_in_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run(["play", "--players", "5", "--policy", "player_0=human"]) == 130
    assert capsys.readouterr().err.strip() == "parlour: stopped"  # behind the end of the line of the prompt


def test_replay_shows_every_move_and_what_a_seat_observed(transcript, capsys, json_of, output_of):
    output = output_of(["replay", str(transcript)])
    assert "(secretly) player_0: I" in output
    assert output.endswith("Good wins: three quests succeeded and Merlin was not found.\n")
    assert run(["replay", str(transcript), "--seat", "player_1"]) == 0
    assert "# Who you are\nYou are player_1. Your role is Loyal Servant (good)." in capsys.readouterr().out
    steps = json_of(["replay", str(transcript), "--json"])["steps"]
    entries = [e for e in replay.read(transcript).entries if e.seat >= 0]
    assert [step["agent"] for step in steps] == [f"player_{entry.seat}" for entry in entries]


def test_replay_of_a_game_that_was_cut_off(transcript, output_of):
    whole = transcript.read_bytes()
    transcript.write_bytes(whole[: len(whole) // 2])
    assert "(not finished: " in output_of(["replay", str(transcript)])


def test_evaluate_prints_rates_and_pairs(tmp_path, json_of, output_of):
    arguments = ["evaluate", "--players", "5", "--policy", "heuristic", "--policy", "random", "--games", "10"]
    output = output_of([*arguments, "--table", str(tmp_path / "games.csv")])
    assert "heuristic - random" in output
    assert "n=10" in output
    assert len((tmp_path / "games.csv").read_text().splitlines()) == 21
    assert json_of([*arguments, "--json"])["rates"]["heuristic"]["all"]["n"] == 10


@pytest.mark.slow
def test_train_seat_measure_it_and_refuse_it_at_another_table(tmp_path, json_of, output_of, error_of):
    pytest.importorskip("parlour.training.learn.ppo.seat", reason="the extra `train` is not installed")
    out = tmp_path / "run"
    assert json_of(["train", "seat", "template_v0", "--out", str(out), "--steps", "4096", "--json"])["steps"] == 4096
    policy = str(out / "policy.npz")
    evaluated = ["evaluate", "template_v0", "--policy", policy, "--against", "random", "--games", "10", "--json"]
    output_of(evaluated)
    assert "was trained for template_v0" in error_of(["play", "avalon_v0", "--policy", policy])


BAD = [
    (["frob"], "No such command 'frob'"),
    (["play", "--frob"], "No such option"),
    (["play", "--rules", "house"], "rules 'house' is not accepted; accepted: paper, reference, official"),
    (["play", "--players", "4"], "num_players 4 is not accepted; accepted: 5..10"),
    (["play", "--players", "many"], "--players"),
    (["play", "--set", "colour=red"], "'colour' is not accepted; accepted: num_players, rules, roles, talk"),
    (["play", "--set", "colour"], "accepted: KEY=VALUE"),
    (["play", "--set", "roles=[1]"], "role 1 is not accepted; accepted: Merlin"),
    (["play", "--policy", "nobody"], "policy 'nobody' is not accepted; accepted: random, heuristic, human"),
    (["play", "--policy", "player_8=heuristic"], "seat 'player_8' is not accepted; accepted: player_0"),
    (["play", "--policy", "heuristic", "--policy", "heuristic"], "one for all seats, or one for each of 6"),
    (["play", "--on-bad", "shrug"], "on_bad 'shrug' is not accepted; accepted: ask_again"),
    (["play", "template_v0", "--players", "2"], "'num_players' is not accepted"),
    (["evaluate", "--design", "duel"], "design 'duel' is not accepted; accepted: single, team"),
    (["evaluate", "--seat", "6"], "seat 6 is not accepted; accepted: 0..5"),
    (["evaluate", "--games", "0"], "--games"),
    (["evaluate", "--policy", "none.npz"], "no policy file 'none.npz'"),
    (["train", "seat", "--seat", "6"], "seat '6' is not accepted; accepted: random, 0, 1, 2, 3, 4, 5"),
    (["train", "seat", "--opponents", "x"], "policy 'x' is not accepted"),
    (["replay", "none.jsonl"], "cannot be read"),
    (["import", "avalon", "none.jsonl", "--out", "x"], "none.jsonl"),
    (["metrics", "none"], "none"),
]


@pytest.mark.parametrize(("arguments", "why"), BAD, ids=[" ".join(arguments) for arguments, _ in BAD])
def test_bad_input_gets_one_line_and_exit_code_2(arguments, why, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert why in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


def test_without_words_the_help_is_shown(output_of):
    assert "Usage" in output_of([])


def test_the_console_script_ends_with_the_exit_code():
    done = subprocess.run(
        [sys.executable, "-m", "parlour.training.cli", "play", "chess"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert (
        done.stderr
        == "parlour: game 'chess' is not accepted; accepted: avalon_v0, mediated_qa_v0, murder_mystery_v0, template_v0, werewolf_v0, "
        "module:ATTRIBUTE\n"
    )


@pytest.mark.parametrize("words", ["train", "murder-mystery", "murder-mystery cases", "cache"])
def test_a_group_without_a_command_is_refused_in_one_line(words, error_of):
    assert error_of(words.split()).startswith(f"parlour: {words} needs a command; accepted: ")


def test_a_limit_in_dollars_for_a_model_without_a_price_names_the_option_in_the_error(error_of):
    words = ["play", "avalon_v0", "--policy", "chat", "--model", "mine", "--base-url", "http://127.0.0.1:9/v1"]
    assert "--price 0.15,0.6" in error_of([*words, "--max-dollars", "1"])
