"""`play` and `evaluate` go on with --resume: only what is missing is played, and the end is that of a run that was not disturbed."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.policies.base import Policy
from parlour.training.cli import run
from parlour.training.play import rollout
from parlour.training.play.failures import Failures
from parlour.training.play.parallel.concurrent_games import play_recorded
from parlour.training.play.rollout import GameUnfinished
from parlour.training.play.stored_games import stored_game

PLAY = ["play", "avalon_v0", "-n", "5", "--games", "4", "--policy", "random"]
EVALUATE = ["evaluate", "avalon_v0", "-n", "5", "--games", "3", "--policy", "random"]
TEAM = [*EVALUATE, "--design", "team"]


def call(words, folder, *more):
    return run([*words, "--out", str(folder), *more])


def left(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def whole(tmp_path, capsys, request):
    """What a run that was not disturbed leaves and prints."""
    words = getattr(request, "param", PLAY)
    assert call(words, tmp_path / "whole", "--json") == 0
    return tmp_path / "whole", capsys.readouterr().out


COMMANDS = pytest.mark.parametrize(("whole", "words"), [(w, w) for w in (PLAY, EVALUATE, TEAM)], indirect=["whole"], ids=["play", "evaluate", "team"])  # fmt: skip


def unmeasured(printed):
    """Without seconds."""

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(part) for key, part in value.items() if key != "seconds"}
        return [plain(part) for part in value] if isinstance(value, list) else value

    return plain(json.loads(printed))


@COMMANDS
@pytest.mark.parametrize("torn", [0, 1, 30, 2000])
def test_a_run_goes_on_with_what_is_missing_and_ends_as_one_that_was_not_disturbed(
    whole, words, torn, tmp_path, capsys
):
    folder, printed = whole
    shutil.copytree(folder, tmp_path / "cut")
    files = sorted((tmp_path / "cut").glob("*.jsonl"))
    files[1].write_bytes(files[1].read_bytes()[:torn])
    files[2].unlink()
    (tmp_path / "cut" / ".12.0123abcd.part-x").write_text("what a kill left")
    before = files[0].stat().st_mtime_ns
    assert call(words, tmp_path / "cut", "--resume", "--json") == 0
    assert left(tmp_path / "cut") == left(folder)
    assert files[0].stat().st_mtime_ns == before
    assert unmeasured(capsys.readouterr().out) == unmeasured(printed)


@COMMANDS
def test_a_finished_run_is_told_again_and_nothing_is_played(whole, words, capsys, monkeypatch):
    folder, printed = whole
    before = left(folder)
    monkeypatch.setattr(rollout, "_turn", None)
    assert call(words, folder, "--resume", "--json") == 0
    assert left(folder) == before
    assert unmeasured(capsys.readouterr().out) == unmeasured(printed)


def test_more_games_may_be_asked_for(whole, tmp_path):
    folder, _ = whole
    more = [*PLAY[:4], "--games", "5", *PLAY[6:]]
    assert call(more, folder, "--resume", "--json") == 0
    assert call(more, tmp_path / "five", "--json") == 0
    assert left(folder) == left(tmp_path / "five")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (["--seed", "1"], "(seed 0)"),
        (["--policy", "heuristic"], "players"),
        (["--on-bad", "forfeit"], '(on_bad "ask_again")'),
        (["--set", "talk=false"], "config"),
    ],
)
def test_a_run_with_other_settings_is_refused_and_left_alone(whole, changed, reason, capsys):
    folder, _ = whole
    before = left(folder)
    words = PLAY[:-2] if "--policy" in changed else PLAY
    assert call([*words, *changed], folder, "--resume") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "another configuration" in err
    assert reason in err
    assert left(folder) == before


def test_without_resume_games_that_are_there_are_refused_and_resume_needs_a_folder(whole, capsys, error_of):
    folder, _ = whole
    before = left(folder)
    assert call(PLAY, folder) == 2
    assert "avalon_v0-1.jsonl' exists; accepted: a new file, or --resume to continue" in capsys.readouterr().err
    assert left(folder) == before
    assert error_of([*PLAY, "--resume"]) == "parlour: --resume goes with --out\n"


def test_a_command_refused_before_its_first_game_leaves_nothing(tmp_path, error_of):
    (tmp_path / "avalon_v0-2.jsonl").write_text("mine")
    assert "avalon_v0-2.jsonl' exists" in error_of(["play", "--games", "3", "--out", str(tmp_path)])
    assert left(tmp_path) == {"avalon_v0-2.jsonl": b"mine"}


def test_a_transcript_of_another_game_or_a_file_that_is_none_is_refused_and_left_alone(whole, capsys):
    folder, _ = whole
    first, second = (folder / f"avalon_v0-{n}.jsonl" for n in (1, 2))
    first.write_bytes(second.read_bytes())
    assert call(PLAY, folder, "--resume") == 2
    assert "avalon_v0-1.jsonl' is of another game (seed)" in capsys.readouterr().err
    first.write_text("my notes\n")
    assert call(PLAY, folder, "--resume") == 2
    assert first.read_text() == "my notes\n"


# -- the game that a transcript tells ----------------------------------------------------------------------------


class Mumbling(Policy):
    """Says now what can be used and now what cannot."""

    name = "mumbling"
    wants = "text"

    def act(self, observation, info):
        self.turns = getattr(self, "turns", 0) + 1
        rng = np.random.default_rng(self.turns)
        return (
            "mumble"
            if self.turns == 1 or rng.random() < 0.4
            else info["options"][int(rng.integers(len(info["options"])))]
        )


@pytest.mark.parametrize("on_bad", ["ask_again", "default", "random", "forfeit"])
@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0", "template_v0"])
def test_a_game_read_back_is_the_game_that_was_played(game, on_bad, tmp_path):
    env = rollout.table(game, on_bad=on_bad)
    players = [Mumbling() for _ in env.possible_agents]
    names = ["mumbling"] * len(players)
    played = play_recorded(env, players, names, 3, tmp_path / "game.jsonl")
    stored = stored_game(tmp_path / "game.jsonl", env.game_env, 3, names, given_up=False)
    assert unmeasured_game(stored) == unmeasured_game(played)
    assert any(sum(of.values()) for of in stored.faults.values())


def unmeasured_game(played):
    from dataclasses import replace

    return replace(played, decisions=tuple(replace(decision, seconds=0.0) for decision in played.decisions))


class Failing(RandomPolicy):
    def act(self, observation, info):
        raise ZeroDivisionError("no such number")


def test_a_game_that_was_given_up_counts_where_such_games_are_skipped_and_is_played_again_where_not(tmp_path):
    env, path = rollout.table("template_v0"), tmp_path / "game.jsonl"
    skipping = Failures(on_failure="skip-game")
    with pytest.raises(GameUnfinished) as given_up:
        play_recorded(env, [HeuristicPolicy(), Failing()], ["a", "b"], 0, path, failures=skipping)
    stored = stored_game(path, env.game_env, 0, ["a", "b"], given_up=True)
    assert unmeasured_game(stored) == unmeasured_game(given_up.value.game)
    assert stored_game(path, env.game_env, 0, ["a", "b"], given_up=False) is None
    assert not path.exists()
    play_recorded(env, [RandomPolicy(), RandomPolicy()], ["a", "b"], 0, path)
    with pytest.raises(ParlourError, match="another game"):
        stored_game(path, env.game_env, 1, ["a", "b"], given_up=False)
