"""The shape of the four packages (docs/architecture.md): no import circles, one name for one thing, one list of games.

import-linter's contracts, which say who may import whom, are checked in `test_layers`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
from parlour.envs.registry import GAMES

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("envs", "policies", "training", "wrappers")
SOURCES = {path: path.read_text("utf-8") for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))}
TREES = {path: ast.parse(text) for path, text in SOURCES.items()}
EVERY_MODULE_HAS_ITS_OWN = {"choose", "from_settings", "main"}
"""Functions that the modules of a folder offer alike, each for its own library or game."""


def module_of(path: Path) -> str:
    return ".".join(("parlour", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules of parlour that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found = whole if whole in MODULES else node.module
                if found in MODULES:
                    yield found


def circles(modules: dict[str, ast.Module]) -> list[list[str]]:
    graph = nx.DiGraph((name, other) for name, tree in modules.items() for other in imported(tree) if other != name)
    return [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]


def test_no_module_imports_itself_by_way_of_others():
    """Imports within functions count too: a lazy import hides a circle, it does not break it."""
    assert circles({name: TREES[path] for name, path in MODULES.items()}) == []


def test_a_circle_is_found():
    one, other = ast.parse("from parlour.envs import text"), ast.parse("def f():\n    import parlour.envs.core")
    assert circles({"parlour.envs.core": one, "parlour.envs.text": other}) == [
        ["parlour.envs.core", "parlour.envs.text"]
    ]


def public(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The public names that a module defines, and whether each is a class; type variables are local by nature."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and "TypeVar(" in ast.unparse(node.value):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        else:
            continue
        yield from ((name, isinstance(node, ast.ClassDef)) for name in names if not name.startswith("_"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_class_name_stands_for_one_class_in_each_of_the_four_packages(folder):
    defined = defaultdict(list)
    for path, tree in TREES.items():
        if path.relative_to(ROOT).parts[0] == folder:
            for name, is_class in public(tree):
                if is_class:
                    defined[name].append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in defined.items() if len(places) > 1} == {}


PACKAGES = sorted({path.parent for path in SOURCES})


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_public_name_stands_for_one_thing_in_each_folder(package):
    counted = Counter(name for path, tree in TREES.items() if path.parent == package for name, _ in public(tree))
    assert {name for name, times in counted.items() if times > 1} - EVERY_MODULE_HAS_ITS_OWN == set()


def test_no_policy_goes_by_the_name_of_a_type():
    assert [str(path) for path, text in SOURCES.items() if "type(view).__name__" in text] == []


def test_views_are_typed_where_games_are_read():
    """`view: Any` is left to the adapters of other people's libraries, in ten places at most."""
    untyped = [
        f"{path.relative_to(ROOT)}" for path, text in SOURCES.items() for _ in re.findall(r"\bview: Any\b", text)
    ]
    assert len(untyped) <= 10, Counter(untyped)


def test_games_are_listed_in_the_registry_alone():
    """No other list, tuple, set or dictionary holds two games, and no comparison chain goes through them."""
    found = []
    for path, tree in TREES.items():
        if path == ROOT / "envs" / "registry.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
                parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
                values = {part.value for part in parts if isinstance(part, ast.Constant)}
                if len(values & set(GAMES)) > 1:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
