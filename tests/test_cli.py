"""The command line: what each command prints and leaves, and that bad input gets one line and exit code 2."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from parlour.envs import replay
from parlour.training.cli import run


def text_of(capsys) -> str:
    return capsys.readouterr().out


@pytest.fixture
def transcript(tmp_path, capsys):
    assert run(["play", "avalon_v0", "--players", "5", "--seed", "3", "--out", str(tmp_path / "games")]) == 0
    capsys.readouterr()
    return tmp_path / "games" / "avalon_v0-1.jsonl"


def test_list_names_games_options_and_players(capsys):
    assert run(["list"]) == 0
    shown = text_of(capsys)
    for word in ("avalon_v0", "template_v0", "5..10", "reference", "random", "heuristic", "human"):
        assert word in shown
    assert run(["list", "--json"]) == 0
    assert json.loads(text_of(capsys))["games"]["avalon_v0"]["options"]["num_players"] == "5..10"


def test_play_shows_the_public_record_only_and_the_roles_at_the_end(capsys):
    assert run(["play", "--players", "5", "--seed", "3"]) == 0
    shown = text_of(capsys)
    assert "Moderator: Quest 1, proposal 1: " in shown
    assert "player_0 was the Assassin." in shown
    assert "Privately" not in shown


def test_play_json_is_the_same_for_the_same_seed(capsys):
    arguments = ["play", "--players", "5", "--seed", "3", "--games", "2", "--json"]
    assert run(arguments) == 0
    first = text_of(capsys)
    assert run(arguments) == 0
    assert text_of(capsys) == first
    games = json.loads(first)
    assert [game["seed"] for game in games] == [3, 4]
    assert all(sum(r > 0 for r in game["returns"]) in (2, 3) for game in games)


def test_play_with_a_person_at_the_terminal(capsys, monkeypatch):
    answers = iter(["hello everybody", "", *["1"] * 200])
    monkeypatch.setattr("builtins.input", lambda _prompt="": next(answers))
    assert run(["play", "--players", "5", "--policy", "player_0=human"]) == 0
    shown = text_of(capsys)
    assert "You are Ana." in shown
    assert 'Ana says: "hello everybody"' in shown


def test_a_person_who_leaves_ends_the_game_in_one_line(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run(["play", "--players", "5", "--policy", "player_0=human"]) == 130
    assert capsys.readouterr().err.strip() == "parlour: stopped"  # behind the end of the line of the prompt


def test_replay_shows_every_move_and_what_a_seat_observed(transcript, capsys):
    assert run(["replay", str(transcript)]) == 0
    shown = text_of(capsys)
    assert "(secretly) player_0: I" in shown
    assert shown.endswith("Good wins: three quests succeeded and Merlin was not found.\n")
    assert run(["replay", str(transcript), "--seat", "player_1"]) == 0
    assert "# Who you are\nYou are player_1. Your role is Loyal Servant (good)." in text_of(capsys)
    assert run(["replay", str(transcript), "--json"]) == 0
    steps = json.loads(text_of(capsys))["steps"]
    told = [e for e in replay.read(transcript).entries if e.seat >= 0]
    assert [step["agent"] for step in steps] == [f"player_{entry.seat}" for entry in told]


def test_replay_of_a_game_that_was_cut_off(transcript, capsys):
    whole = transcript.read_bytes()
    transcript.write_bytes(whole[: len(whole) // 2])
    assert run(["replay", str(transcript)]) == 0
    assert "(not finished: " in text_of(capsys)


def test_a_transcript_is_never_overwritten(transcript, capsys):
    before = transcript.read_bytes()
    assert run(["play", "avalon_v0", "--players", "5", "--seed", "4", "--out", str(transcript.parent)]) == 2
    assert "exists" in capsys.readouterr().err
    assert transcript.read_bytes() == before


def test_evaluate_prints_rates_and_pairs(tmp_path, capsys):
    arguments = ["evaluate", "--players", "5", "--policy", "heuristic", "--policy", "random", "--games", "10"]
    assert run([*arguments, "--table", str(tmp_path / "games.csv")]) == 0
    shown = text_of(capsys)
    assert "heuristic - random" in shown
    assert "n=10" in shown
    assert len((tmp_path / "games.csv").read_text().splitlines()) == 21
    assert run([*arguments, "--json"]) == 0
    told = json.loads(text_of(capsys))
    assert told["rates"]["heuristic"]["all"]["n"] == 10


def test_evaluate_by_sides(capsys):
    assert run(["evaluate", "--design", "team", "--against", "random", "--games", "4", "--players", "5", "--json"]) == 0
    told = json.loads(text_of(capsys))
    assert (told["design"], told["games"]) == ("team", 16)


@pytest.mark.slow
def test_train_seat_measure_it_and_refuse_it_at_another_table(tmp_path, capsys):
    pytest.importorskip("parlour.training.learn.ppo.seat", reason="the extra `train` is not installed")
    out = tmp_path / "run"
    assert run(["train", "seat", "template_v0", "--out", str(out), "--steps", "4096", "--json"]) == 0
    assert json.loads(text_of(capsys))["steps"] == 4096
    policy = str(out / "policy.npz")
    evaluated = ["evaluate", "template_v0", "--policy", policy, "--against", "random", "--games", "10", "--json"]
    assert run(evaluated) == 0
    capsys.readouterr()
    assert run(["play", "avalon_v0", "--policy", policy]) == 2
    said = capsys.readouterr().err
    assert "was trained for template_v0" in said
    assert said.count("\n") == 1


BAD = [
    (["frob"], "No such command 'frob'"),
    (["play", "--frob"], "No such option"),
    (
        ["play", "chess"],
        "game 'chess' is not accepted; accepted: avalon_v0, mediated_qa_v0, murder_mystery_v0, template_v0, werewolf_v0",
    ),
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
    said = capsys.readouterr()
    assert why in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff", b"[]\n", b'{"game": 1}\n', b'{"parlour": 1, "game": "x", "config": {}}\n']
)
def test_foreign_transcripts_are_refused(content, capsys, tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_bytes(content)
    assert run(["replay", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_words_the_help_is_shown(capsys):
    assert run([]) == 0
    assert "Usage" in text_of(capsys)


def test_every_help_text_has_an_example(capsys):
    for path in ("list", "play", "replay", "evaluate", "metrics", "demo", "train seat", "import avalon"):
        assert run([*path.split(), "--help"]) == 0
        assert f"Example: parlour {path}" in " ".join(text_of(capsys).replace("│", " ").split())


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
def test_a_group_without_a_command_is_refused_in_one_line(words, capsys):
    assert run(words.split()) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"parlour: {words} needs a command; accepted: ")
    assert error.count("\n") == 1


def test_a_limit_in_dollars_for_a_model_without_a_price_names_the_option_in_the_error(capsys):
    words = ["play", "avalon_v0", "--policy", "chat", "--model", "mine", "--base-url", "http://127.0.0.1:9/v1"]
    assert run([*words, "--max-dollars", "1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "--price 0.15,0.6" in said
