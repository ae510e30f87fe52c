"""A package for a game of one's own, made from the template: `parlour new`."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, accept
from parlour.envs.registry import registry

_PYPROJECT: Final = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0.1.0"
description = "A game for parlour."
dependencies = ["parlour"]

[project.entry-points."parlour.games"]
{name}_v0 = "{name}:GAME"

[tool.setuptools]
packages = ["{name}"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""
_README: Final = """\
# {name}

A game for parlour, as yet the one of the template: one player sees a coin and speaks; the other guesses.

    pip install -e .
    parlour list
    parlour check {name}_v0
    parlour play {name}_v0 --policy heuristic
    pytest

| file | what is in it |
|---|---|
| `{name}/__init__.py` | the game's card, and what it tells about itself: name, options, sides, heuristic |
| `{name}/vocabulary.py` | kinds of moves, sides, and the View: all that one seat may know |
| `{name}/rules.py` | who moves, what is legal, what a move does, how it ends |
| `{name}/text.py` | the game in words: what a seat reads, and how its words are read |
| `{name}/encode.py` | a View in numbers |
| `{name}/heuristic.py` | a scripted player, `--policy heuristic` |
"""
_TEST: Final = """\
from {name} import GAME

from parlour.envs.testing import check_game


def test_the_game_keeps_the_contract() -> None:
    check_game(GAME)
"""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def new_game(name: str, out: str | Path = ".") -> Path:
    """Write the package `name` into a folder of that name.

    Args:
        name: Of the package, and of the game with `_v0` behind it.
        out: Where the folder is made.

    Returns:
        The folder, with pyproject.toml, README.md, the package and its test.

    Raises:
        ParlourError: The name cannot be that of a package or is taken, or the folder exists.
    """
    folder = Path(out) / name
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise accept("name", name, "small letters, digits and _, such as mygame")
    if f"{name}_v0" in registry or find_spec(name) is not None:
        raise ParlourError(f"name {name!r} is taken by a game or a module; accepted: another name")
    if folder.exists():
        raise ParlourError(f"folder {str(folder)!r} exists; accepted: a new one")
    (folder / name).mkdir(parents=True)
    (folder / "tests").mkdir()
    for file, text in {"pyproject.toml": _PYPROJECT, "README.md": _README, f"tests/test_{name}.py": _TEST}.items():
        (folder / file).write_text(text.format(name=name), encoding="utf-8")
    sources = {one.name: one for one in files("parlour.envs._template").iterdir() if one.name.endswith(".py")}
    sources["heuristic.py"] = files("parlour.policies.heuristic") / "template.py"
    for file, source in sources.items():
        (folder / name / file).write_text(_renamed(source.read_text(encoding="utf-8"), name), encoding="utf-8")
    return folder


def _renamed(source: str, name: str) -> str:
    """A file of the template with the names of the new game."""
    title = "".join(part.capitalize() for part in name.split("_"))
    source = source.replace("parlour.policies.heuristic.template", f"{name}.heuristic")
    source = source.replace("parlour.envs._template", name).replace("template_v0", f"{name}_v0")
    return re.sub(r"\bCoin(?=[A-Z]|\b)", title, source)
