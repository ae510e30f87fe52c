"""`parlour new`: an installable package with a game, a policy or a command, made from the files in `templates`."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.registry import registry
from parlour.policies import REGISTRY
from parlour.policies.files import atomic_write, remove_parts_of, replacing

Kind = Literal["game", "policy", "command"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_NAME: Final = re.compile(r"[a-z]([a-z0-9_]*[a-z0-9])?")
_TRY: Final = {
    "game": "parlour check {}_v0",
    "policy": "parlour play avalon_v0 --policy {}",
    "command": "parlour {}",
}
"""Kind -> a first command with the installed package."""


def new(
    name: Annotated[str, typer.Argument(help="Name of the package and of what it brings, such as mygame.")],
    kind: Annotated[str, typer.Option(metavar="|".join(KINDS), help="What the package brings.")] = "game",
    out: Annotated[Path, typer.Option(help="Parent of the package's folder.")] = Path(),
) -> None:
    """Make an installable package with a small game, policy or command, its tests and a README, to start from.

    Example: [bold]parlour new --kind policy mypolicy[/bold]
    """
    check_one_of("kind", kind, KINDS)
    folder = new_package(kind, name, out)
    tell(f"{folder}: pip install -e {folder}, then {_TRY[kind].format(name)}; pytest {folder}")


def new_package(kind: str, name: str, out: str | Path = ".") -> Path:
    """Write a package into a new folder.

    Args:
        kind: What the package brings, one of `KINDS`.
        name: Name of the package, the policy or the command; a game's id is the name followed by `_v0`.
        out: Parent of the folder.

    Returns:
        The folder, with pyproject.toml, README.md, the code and its tests.

    Raises:
        ParlourError: The name cannot be that of a package or is taken, or the folder exists.
    """
    folder = Path(out) / name
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise accept("name", name, "small letters, digits and _, such as mygame")
    if folder.exists():
        raise ParlourError(f"folder {str(folder)!r} exists; accepted: a new one")
    if _taken(kind, name):
        raise ParlourError(f"name {name!r} is taken by a {kind} or a module; accepted: another name")
    sources = {}
    for template in files(__package__).joinpath("templates", kind).iterdir():
        file = template.name.removesuffix(".txt").replace(f"my{kind}", name)
        within = "tests" if file.startswith("test_") else "src" if file.endswith(".py") else ""
        sources[folder / within / file] = template
    if kind == "game":  # its code is the game `template_v0`
        game = files("parlour.envs._template")
        sources |= {folder / name / file.name: file for file in game.iterdir() if file.name.endswith(".py")}
        sources[folder / name / "heuristic.py"] = files("parlour.policies.heuristic") / "template.py"
    remove_parts_of(folder)
    with replacing(folder) as made:  # the whole folder, or none
        for path, source in sources.items():
            atomic_write(made / path.relative_to(folder), _renamed(source.read_text(encoding="utf-8"), kind, name))
    return folder


def _taken(kind: str, name: str) -> bool:
    """Whether a module, or something of this kind, has the name."""
    from parlour.training.cli import commands, groups

    names = {"game": registry, "policy": REGISTRY, "command": {*commands(), *groups()}}[kind]
    return (f"{name}_v0" if kind == "game" else name) in names or find_spec(name) is not None


def _renamed(source: str, kind: str, name: str) -> str:
    """A template with the new names."""
    title = "".join(part.capitalize() for part in name.split("_"))
    names = {f"my{kind}": name, f"My{kind}": title}
    if kind == "game":
        module = {"parlour.policies.heuristic.template": f"{name}.heuristic", "parlour.envs._template": name}
        names |= {**module, "template_v0": f"{name}_v0", "Coin": title}
    known = "|".join(map(re.escape, names))
    return re.sub(rf"{known}", lambda match: names[match[0]], source)
