"""What plugins may import of the core: the names of `docs/reference/plugin_names.md`, and no others."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from parlour.envs.plugins import GROUPS

from tests import ROOT

PAGE = (ROOT / "docs" / "reference" / "plugin_names.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(parlour(?:\.\w+)+)` \| (all|`\w+`(?:, `\w+`)*) \|$", PAGE, re.MULTILINE)
LISTED = [
    module if names == "all" else f"{module}.{name}"
    for module, names in ROWS
    for name in ([""] if names == "all" else re.findall(r"`(\w+)`", names))
]
COPIED = ("parlour.envs._template.", "parlour.policies.heuristic.template.")
"""Names that belong to a new package of `parlour new`, which copies them."""
TEMPLATES = sorted(
    [
        *ROOT.glob("envs/_template/*.py"),
        ROOT / "policies" / "heuristic" / "template.py",
        *ROOT.glob("training/cli/templates/*/my*.py.txt"),
    ]
)
"""What a new package begins with."""
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))
MOST = 240
PLACE = re.compile(r"parlour(?:\.\w+)+:\w+")
VOCABULARY = re.compile(r"(parlour\.envs\.(?:\w+\.vocabulary|language\.speech))\.\w+")
"""A name of a game's vocabulary, or of the speech acts: with all its names, the module is one entry of the list."""


def is_module(name: str) -> bool:
    """Whether a dotted name of the core is a module or a package."""
    parts = name.split(".")[1:]
    path = ROOT.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


def imported(source: str) -> set[str]:
    """The entries of the list that a module needs: its names of the core, those of a vocabulary as their module."""
    return {VOCABULARY.sub(r"\1", name) for name in names(source)}


def names(source: str) -> Iterator[str]:
    """The names of the core that a module imports, uses as attributes of imported modules, or writes as `module:NAME`.

    A module itself is a name where it is used in any other way.
    """
    tree = ast.parse(source)
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "parlour")
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "parlour":
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if is_module(name):
                    modules[alias.asname or alias.name] = name
                else:
                    yield name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (place.replace(":", ".") for place in PLACE.findall(node.value))
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):  # an outer attribute comes before what it is an attribute of
        if isinstance(node, ast.Attribute) and node not in inner:
            chain, below = [node.attr], node.value
            inner.add(below)
            while isinstance(below, ast.Attribute):
                chain.append(below.attr)
                below = below.value
                inner.add(below)
            if isinstance(below, ast.Name) and below.id in modules:
                name = modules[below.id]
                while chain and is_module(name):
                    name = f"{name}.{chain.pop()}"
                yield name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in modules and node not in inner:
            yield modules[node.id]


def names_of(plugin: Path) -> set[str]:
    """The names of the core that a plugin's packages and entry points use."""
    used = {
        name
        for path in plugin.glob(f"parlour_{plugin.name}/**/*.py")
        for name in imported(path.read_text(encoding="utf-8"))
    }
    points = tomllib.loads((plugin / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    places = {place for group in points.values() for place in group.values()}
    return used | {place.replace(":", ".") for place in places if PLACE.fullmatch(place)}


def names_of_templates() -> set[str]:
    """The names of the core that new packages of `parlour new` use."""
    used = {name for path in TEMPLATES for name in imported(path.read_text(encoding="utf-8"))}
    return {name for name in used if not name.startswith(COPIED)}


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_imports_listed_names_alone(plugin):
    assert sorted(names_of(plugin) - set(LISTED)) == []


def test_a_new_package_imports_listed_names_alone():
    assert sorted(names_of_templates() - set(LISTED)) == []


def test_every_listed_name_is_used_by_a_plugin_or_a_new_package_and_listed_once():
    used = names_of_templates().union(*map(names_of, PLUGINS))
    assert sorted(set(LISTED) - used) == []
    assert [name for name, times in Counter(LISTED).items() if times > 1] == []


@pytest.mark.parametrize("name", LISTED)
def test_a_listed_name_exists_and_is_public(name):
    module, _, attribute = name.rpartition(".")
    if is_module(name):
        import_module(name)
    assert not any(part.startswith("_") for part in name.split("."))
    if "inspect_ai" in module and find_spec("inspect_ai") is None:
        pytest.skip("needs the extra inspect")
    assert hasattr(import_module(module), attribute)


def test_the_list_is_short():
    assert len(LISTED) <= MOST, len(LISTED)


def test_the_page_lists_every_group_of_entry_points_with_what_it_expects():
    listed = dict(re.findall(r"^\| `(parlour\.[a-z_]+)` \| (.* -> .*) \|$", PAGE, re.MULTILINE))
    assert {group: listed.get(group) for group in GROUPS} == dict(GROUPS)


def test_names_are_found_however_they_are_imported():
    source = """
from parlour.envs.core import Move as M
from parlour.training import report
from parlour.training.report import plots as drawn
import parlour.envs.replay
report.plots.key(report)
drawn.label
HOME = "parlour.policies.random:RandomPolicy"
"""
    assert imported(source) == {
        "parlour.envs.core.Move",
        "parlour.envs.replay",
        "parlour.training.report",
        "parlour.training.report.plots.key",
        "parlour.training.report.plots.label",
        "parlour.policies.random.RandomPolicy",
    }


def test_a_vocabulary_is_one_entry_with_all_its_names():
    source = """
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.language.speech import ACCUSE, quote
from parlour.envs.werewolf.vocabulary import WEREWOLF
from parlour.envs.werewolf.presets import PLAYERS
avalon.MERLIN
"""
    assert imported(source) == {
        "parlour.envs.avalon.vocabulary",
        "parlour.envs.language.speech",
        "parlour.envs.werewolf.vocabulary",
        "parlour.envs.werewolf.presets.PLAYERS",
    }
