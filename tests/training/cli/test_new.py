"""`parlour new`: each kind of package is installed as a stranger would, is listed, works, and passes its own tests.

The plugin of docs/howto/make_plugin.md is made, installed and used as printed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parlour.training.cli.new import KINDS, new_package

from tests import ROOT

NAMES = {kind: f"our_my{kind}" for kind in KINDS}
"""Kind -> name of a package, which contains the name in its templates."""


PAGE = (ROOT / "docs" / "howto" / "make_plugin.md").read_text("utf-8")


def install(folder: Path, *names: str) -> None:
    """Install packages that lie in a folder into its subfolder `site`."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    place = ["--no-build-isolation", "--target", "site", *(f"./{name}" for name in names)]
    subprocess.run([*pip, *place], check=True, cwd=folder)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of each kind, and `site`, where they are installed."""
    path = tmp_path_factory.mktemp("packages")
    for kind, name in NAMES.items():
        new_package(kind, name, path)
    install(path, *NAMES.values())
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


@pytest.mark.slow
def test_the_plugin_of_the_page_is_made_and_used(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (points,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(code.splitlines()) <= 40
    assert "pip install ./silent\nparlour play avalon_v0 --policy silent\nparlour silence --games 100\n" in PAGE
    folder = new_package("policy", "silent", tmp_path)
    (folder / "src" / "silent.py").write_text(code)
    with (folder / "pyproject.toml").open("a") as file:
        file.write(f"\n{points}")
    install(tmp_path, "silent")
    assert "wins" in parlour(tmp_path, "play", "avalon_v0", "--policy", "silent")
    wins = json.loads(parlour(tmp_path, "silence", "--games", "2", "--json"))
    assert wins.keys() == {"heuristic", "silent", "verdict"}


def test_the_page_is_short():
    assert len(PAGE.split()) <= 500


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
