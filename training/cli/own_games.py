"""`parlour new`, an installable package with a copy of the template's game, and `parlour check`, for games outside of parlour."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError, accept
from parlour.envs.registry import lookup, registry
from parlour.policies.files import atomic_write, remove_parts_of, replacing
from parlour.training.cli.common import GameOptions
from parlour.training.report import display
from parlour.training.report.report import Report


def new(
    name: Annotated[str, typer.Argument(help="Name of the game and of its package, such as mygame.")],
    out: Annotated[Path, typer.Option(help="Where the package's folder is made.")] = Path(),
) -> None:
    """Make an installable package with a small game as a starting point: rules, text, features, heuristic, test.

    Example: [bold]parlour new mygame[/bold]
    """
    folder = new_game(name, out)
    tell(f"{folder}: pip install -e {folder}, then parlour play {name}_v0; pytest {folder}")


def check(
    game: Annotated[str, typer.Argument(help="Game: its name, or the module:ATTRIBUTE of its spec.")],
    options: GameOptions,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Check a game: rules, text, features, hidden information, replay, and the tests of PettingZoo and Gymnasium.

    The exit code is 1 if a check fails. PettingZoo's tests need pygame.

    Example: [bold]parlour check template_v0[/bold]
    """
    from parlour.envs.testing import run_checks

    failures = {}
    spec, config = lookup(game).spec, options.chosen
    lookup(game).raw_env(**config)
    with display.progress_line(f"Checking {spec.id}", redraw=False):
        for name, failure in run_checks(spec, [config]):
            failures[name] = failure
            if not json:
                tell(f"{'FAILED' if failure else 'passed'}  {name}{failure and ': '}{failure}")
    values = {"game": spec.id, "passed": not any(failures.values()), "failures": failures}
    Report("", values=values).print(as_json=json)
    if any(failures.values()):
        raise typer.Exit(1)


_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def new_game(name: str, out: str | Path = ".") -> Path:
    """Write the package `name` into a new folder of that name.

    Args:
        name: Name of the package; the game's id is the name followed by `_v0`.
        out: Parent of the folder.

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
    template = files("parlour.envs._template")
    sources = {folder / name / source.name: source for source in template.iterdir() if source.name.endswith(".py")}
    sources[folder / name / "heuristic.py"] = files("parlour.policies.heuristic") / "template.py"
    for text in (template / "data").iterdir():
        file = text.name.removesuffix(".txt").replace("mygame", name)
        sources[folder / "tests" / file if file.startswith("test_") else folder / file] = text
    remove_parts_of(folder)
    with replacing(folder) as new:  # the whole folder, or none
        for path, source in sources.items():
            atomic_write(new / path.relative_to(folder), _renamed(source.read_text(encoding="utf-8"), name))
    return folder


def _renamed(source: str, name: str) -> str:
    """A file of the template with the names of the new game."""
    title = "".join(part.capitalize() for part in name.split("_"))
    source = source.replace("parlour.policies.heuristic.template", f"{name}.heuristic").replace("mygame", name)
    source = source.replace("parlour.envs._template", name).replace("template_v0", f"{name}_v0")
    return re.sub(r"\bCoin(?=[A-Z]|\b)", title, source)
