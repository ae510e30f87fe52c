"""A game in a package outside the repository, with sides of its own: everything works, and no line of parlour changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.testing import CHECKS
from parlour.training.cli import run
from parlour.training.cli.new import new_package

GAME = "mygame_v0"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package that `parlour new` wrote, and what an installer writes beside it."""
    path = tmp_path_factory.mktemp("site")
    assert run(["new", "mygame", "--out", str(path / "source")]) == 0
    (path / "mygame").symlink_to(path / "source" / "mygame" / "mygame")
    info = path / "mygame-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mygame\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[parlour.games]\nmygame_v0 = mygame:GAME\n")
    return path


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same package without entry point, under another name."""
    path = tmp_path_factory.mktemp("unnamed")
    new_package("game", "ourgame", path)
    return path / "ourgame"


def parlour(path: Path, *words: str, code: int = 0) -> str:
    """Run a command in a process that has the folder on its path; returns what it printed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "parlour.training.cli", *words]
    done = subprocess.run(command, env=environment, cwd=path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr[-2000:] + done.stdout[-2000:]
    return done.stdout if code == 0 else done.stderr


def output_of(path: Path, *words: str) -> Any:
    return json.loads(parlour(path, *words, "--json"))


@pytest.mark.slow
def test_it_is_listed_and_checked(site):
    assert output_of(site, "list")["games"][GAME]["title"].startswith("Mygame")
    report = output_of(site, "check", GAME)
    assert report["passed"]
    assert list(report["failures"]) == [check.__name__ for check in CHECKS]


@pytest.mark.slow
def test_it_is_played_written_down_and_played_again(site, tmp_path):
    (game,) = output_of(site, "play", GAME, "--policy", "heuristic", "--seed", "3", "--out", str(tmp_path))
    assert game["winner"] in ("keeper", "guesser")
    path = tmp_path / f"{GAME}-1.jsonl"
    assert json.loads(path.read_text().splitlines()[0])["game"] == GAME
    assert "guesses" in parlour(site, "replay", str(path))
    assert "has no metrics; accepted: avalon_v0, werewolf_v0" in parlour(site, "metrics", str(tmp_path), code=2)


def test_its_sides_are_measured_as_teams(site):
    report = output_of(site, "evaluate", GAME, "--design", "team", "--against", "random", "--games", "20")
    assert set(report["rates"]["heuristic"]) == {"all", "keeper", "guesser"}
    assert report["games"] == 80


@pytest.mark.nightly
def test_a_seat_of_it_is_trained_and_plays(site, tmp_path):
    out = tmp_path / "seat"
    little = ("--steps", "512", "--rollout", "64", "--envs", "4", "--validation-games", "2", "--processes", "1")
    output_of(site, "train", "seat", GAME, *little, "--out", str(out))
    policy = str(out / "policy.npz")
    (game,) = output_of(site, "play", GAME, "--policy", "heuristic", "--policy", f"player_1={policy}")
    assert game["winner"] in ("keeper", "guesser")


@pytest.mark.slow
def test_a_game_without_entry_point_is_named_by_its_place(unnamed, tmp_path):
    name = "ourgame:GAME"
    assert output_of(unnamed, "check", name)["game"] == "ourgame_v0"
    output_of(unnamed, "play", name, "--policy", "heuristic", "--out", str(tmp_path))
    path = tmp_path / "ourgame_v0-1.jsonl"
    assert json.loads(path.read_text().splitlines()[0])["game"] == name
    assert "guesses" in parlour(unnamed, "replay", str(path), "--game", name)  # no file has a module imported
    assert output_of(unnamed, "evaluate", name, "--design", "team", "--against", "random", "--games", "2")["games"] == 8


def test_a_leak_fails_the_check_in_its_own_line(unnamed):
    rules = unnamed / "ourgame" / "rules.py"
    honest = rules.read_text()
    rules.write_text(honest.replace("s.coin if seat == KEEPER else -1", "s.coin"))
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "parlour.training.cli", "check", "ourgame:GAME"]
    done = subprocess.run(command, env=environment, cwd=unnamed, capture_output=True, text=True)
    rules.write_text(honest)
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if not line.startswith("passed  ")]
    assert [line.split(":")[0] for line in failed] == ["FAILED  hidden_information"]
    assert "seat 1 is shown hidden information" in failed[0]
