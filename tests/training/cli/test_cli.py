"""The command line: what each command prints and leaves, and that bad input gets one line and exit code 2."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from parlour.envs import replay
from parlour.training.cli import COMMANDS, run


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


def test_play_with_a_person_at_the_terminal(output_of, monkeypatch):
    answers = iter(["hello everybody", "", *["1"] * 200])
    monkeypatch.setattr("builtins.input", lambda _prompt="": next(answers))
    output = output_of(["play", "--players", "5", "--policy", "player_0=human"])
    assert "You are Ana." in output
    assert 'Ana says: "hello everybody"' in output


@pytest.mark.parametrize("command", [name for name in COMMANDS if name.startswith("train ")])
def test_a_trainer_that_is_stopped_or_whose_report_fails_says_what_resumes_it(command, capsys, monkeypatch):
    """The same command line, quoted for a shell."""
    raised = [KeyboardInterrupt(), ZeroDivisionError("of the report")]
    line = [*command.split(), "--out", "runs/my run"]

    failing = typer.Typer()

    @failing.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def fail():
        raise raised.pop(0)

    monkeypatch.setattr("parlour.training.cli.app", lambda _words: failing)
    assert run(line) == 130
    assert f"parlour {command} --out 'runs/my run'" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError) as failure:
        run(line)
    assert any(f"parlour {command} --out 'runs/my run'" in note for note in failure.value.__notes__)


def test_replay_shows_every_move_and_what_a_seat_observed(transcript, capsys, json_of, output_of):
    output = output_of(["replay", str(transcript)])
    assert "(secretly) player_0: I" in output
    votes = [e for e in replay.Transcript.read(transcript).entries if e.move is not None and e.move.kind == "vote"]
    assert output.count("(secretly)") == len(votes) > 0  # each, also the last, before the count
    assert output.endswith("Good wins: three quests succeeded and Merlin was not found.\n")
    assert run(["replay", str(transcript), "--seat", "player_1"]) == 0
    assert "# Who you are\nYou are player_1. Your role is Loyal Servant (good)." in capsys.readouterr().out
    steps = json_of(["replay", str(transcript), "--json"])["steps"]
    entries = [e for e in replay.Transcript.read(transcript).entries if e.seat >= 0]
    assert [step["agent"] for step in steps] == [f"player_{entry.seat}" for entry in entries]


BAD = [
    (["frob"], "command 'frob' is not accepted; accepted: list, "),
    (["list", "frob"], "command 'list frob' is not accepted; accepted: experts, questions, replies"),
    (["serve", "frob"], "command 'serve frob' is not accepted; accepted: endpoint, mcp, openenv"),
    (["play", "--frob"], "No such option"),
    (["play", "--rules", "house"], "rules 'house' is not accepted; accepted: paper, reference, official"),
    (["play", "--players", "4"], "num_players 4 is not accepted; accepted: 5..10"),
    (["play", "--players", "many"], "players"),
    (["play", "--set", "colour=red"], "'colour' is not accepted; accepted: num_players, rules, roles, talk"),
    (["play", "--set", "colour"], "accepted: KEY=VALUE"),
    (["play", "--set", "roles=[1]"], "roles 1 is not accepted; accepted: None, deeprole, or a list of: Merlin"),
    (["play", "--policy", "nobody"], "policy 'nobody' is not accepted; accepted: random, heuristic, human"),
    (["play", "--policy", "player_8=heuristic"], "seat 'player_8' is not accepted; accepted: player_0"),
    (["play", "--policy", "heuristic", "--policy", "heuristic"], "one for all seats, or one for each of 6"),
    (["play", "--on-bad", "shrug"], "on_bad 'shrug' is not accepted; accepted: ask_again"),
    (["play", "template_v0", "--players", "2"], "'num_players' is not accepted"),
    (["evaluate", "--design", "duel"], "design 'duel' is not accepted; accepted: single, team"),
    (["evaluate", "--seat", "6"], "seat 6 is not accepted; accepted: 0..5"),
    (["evaluate", "--games", "0"], "games 0 is not accepted; accepted: a whole number from 1"),
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


@pytest.mark.parametrize("words", ["train", "show", "serve", "import"])
def test_a_group_without_a_command_is_refused_in_one_line(words, error_of):
    assert error_of(words.split()).startswith(f"parlour: {words} needs a command; accepted: ")
