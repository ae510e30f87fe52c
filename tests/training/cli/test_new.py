"""`parlour new`: each kind of package is installed as a stranger would, is listed, works, and passes its own tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from parlour.training.cli.new import KINDS, new_package

NAMES = {kind: f"our_my{kind}" for kind in KINDS}
"""Kind -> name of a package, which contains the name in its templates."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of each kind, and `site`, where they are installed."""
    path = tmp_path_factory.mktemp("packages")
    made = [str(new_package(kind, name, path)) for kind, name in NAMES.items()]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--target", str(path / "site"), *made], check=True, cwd=path)
    return path


def output(packages: Path, module: str, *words: str, at: str = ".", code: int = 0) -> str:
    """What a module prints that runs beside the installed packages; a refusal's one line otherwise."""
    parts = (str(packages / "site"), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, parts))}
    command = [sys.executable, "-m", module, *words]
    done = subprocess.run(command, env=environment, cwd=packages / at, capture_output=True, text=True)
    assert done.returncode == code, done.stderr[-2000:] + done.stdout[-2000:]
    assert code == 0 or done.stderr.count("\n") == 1
    return done.stdout if code == 0 else done.stderr


def parlour(packages: Path, *words: str, code: int = 0) -> str:
    return output(packages, "parlour.training.cli", *words, code=code)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_its_own_tests_pass_and_it_is_formatted(packages, kind):
    assert " passed" in output(packages, "pytest", "-q", "-p", "no:cacheprovider", at=NAMES[kind])
    for check in (("format", "--check"), ("check", "--select", "E4,E7,E9,F,B,UP,N")):
        output(packages, "ruff", *check, "--isolated", "--line-length", "120", ".", at=NAMES[kind])


@pytest.mark.slow
def test_all_are_listed(packages):
    listed = json.loads(parlour(packages, "list", "--json"))
    assert listed["games"][f"{NAMES['game']}_v0"]["title"].startswith("OurMygame")
    assert NAMES["policy"] in listed["policies"]
    assert f" {NAMES['command']} " in parlour(packages, "--help")


@pytest.mark.slow
def test_a_game_passes_the_check(packages):
    assert json.loads(parlour(packages, "check", f"{NAMES['game']}_v0", "--json"))["passed"]


@pytest.mark.slow
def test_a_policy_takes_a_seat_with_its_settings(packages):
    policy = f"{NAMES['policy']}:first=0.9"
    seats = ("--policy", "heuristic", "--policy", f"player_0={policy}", "--seed", "3")
    (game,) = json.loads(parlour(packages, "play", "avalon_v0", *seats, "--json"))
    assert game["winner"] in ("good", "evil")
    measured = ("evaluate", "avalon_v0", "--policy", policy, "--against", "random", "--games", "2", "--json")
    assert json.loads(parlour(packages, *measured))["rates"][policy]["all"]["n"] == 2


@pytest.mark.slow
def test_a_command_runs_and_refuses(packages):
    command = NAMES["command"]
    assert "3.0 moves a game on average" in parlour(packages, command, "template_v0")
    assert "game 'nothing_v0' is not accepted" in parlour(packages, command, "nothing_v0", code=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["My Game", "json", "class", "2nd", "../up", "a_", "", "x" * 300, "there"])
def test_names_that_cannot_be_used_are_refused_in_one_line(name, kind, tmp_path, error_of):
    (tmp_path / "there").mkdir()
    error_of(["new", "--kind", kind, name, "--out", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize(("kind", "name"), [("game", "avalon"), ("policy", "random"), ("command", "train")])
def test_names_of_the_core_are_taken(kind, name, tmp_path, error_of):
    assert f"name '{name}' is taken" in error_of(["new", "--kind", kind, name, "--out", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []


def test_another_kind_is_refused(tmp_path, error_of):
    assert "accepted: game, policy, command" in error_of(["new", "--kind", "plugin", "mine", "--out", str(tmp_path)])
