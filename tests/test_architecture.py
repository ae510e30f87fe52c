"""The shape of the four packages (docs/architecture.md): one name for one thing, no import circles, data flows one way.

import-linter's contracts in pyproject.toml run, hold, and can fail: the packages lie under the namespace `parlour` and are
linked into place, which import-linter might read as nothing; so the contracts are also broken on purpose, in a copy.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
from parlour.envs.registry import GAMES

from tests import ROOT

FOLDERS = ("envs", "policies", "training", "wrappers")
SOURCES = {path: path.read_text("utf-8") for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))}
EVERY_MODULE_HAS_ITS_OWN = {"choose", "from_settings", "main"}
"""Functions that the modules of a folder offer alike, each for its own library or game."""


@cache
def trees() -> dict[Path, ast.Module]:
    """The syntax trees of all sources; parsed when a test first asks."""
    return {path: ast.parse(text) for path, text in SOURCES.items()}


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
                module = whole if whole in MODULES else node.module
                if module in MODULES:
                    yield module


def circles(modules: dict[str, ast.Module]) -> list[list[str]]:
    graph = nx.DiGraph((name, other) for name, tree in modules.items() for other in imported(tree) if other != name)
    return [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]


def test_no_module_imports_itself_by_way_of_others():
    """Imports within functions count too: a lazy import hides a circle, it does not break it."""
    assert circles({name: trees()[path] for name, path in MODULES.items()}) == []


def shadows(tree: ast.Module) -> list[tuple[int, str]]:
    """Variables of comprehensions that have the name of an import, a function or a class of their module, with their lines.

    Where a function also uses the module's name, CPython 3.12.0 and 3.12.1 raise UnboundLocalError.
    """
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    names = {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
    names |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    comprehensions = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
    )
    targets = (
        (node.lineno, name) for node in comprehensions for loop in node.generators for name in ast.walk(loop.target)
    )
    return [(line, name.id) for line, name in targets if isinstance(name, ast.Name) and name.id in names]


def test_no_variable_of_a_comprehension_shadows_a_name_of_its_module():
    assert {path.name: found for path, tree in trees().items() if (found := shadows(tree))} == {}
    assert shadows(ast.parse("import rate\n[rate for rate in range(3)]")) == [(2, "rate")]


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
    for path, tree in trees().items():
        if path.relative_to(ROOT).parts[0] == folder:
            for name, is_class in public(tree):
                if is_class:
                    defined[name].append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in defined.items() if len(places) > 1} == {}


PACKAGES = sorted({path.parent for path in SOURCES})


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_public_name_stands_for_one_thing_in_each_folder(package):
    counted = Counter(name for path, tree in trees().items() if path.parent == package for name, _ in public(tree))
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
    """No other list, tuple, set or dictionary holds two games, but the open table of a floor; no comparison chain goes through them."""
    places, tables = [], set[ast.AST]()
    for path, tree in trees().items():
        if path == ROOT / "envs" / "registry.py":
            continue
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("OpenTable", "Places")
            ):
                tables |= set(node.args)
            if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict) and node not in tables:
                parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
                values = {part.value for part in parts if isinstance(part, ast.Constant)}
                if len(values & set(GAMES)) > 1:
                    places.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert places == []


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


def lint(path: Path, config: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter in a process of its own, with the packages below `path` in front of those installed."""
    run = "import sys; from importlinter.cli import lint_imports_command as c; c(sys.argv[1:])"
    arguments = [sys.executable, "-c", run, "--config", str(config), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(path), "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(arguments, env=environment, cwd=path, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    """The sources as `<folder>/parlour/...`, to be changed at will."""
    path = tmp_path_factory.mktemp("copied")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, path / "parlour" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", path / "pyproject.toml")
    return path


def test_all_contracts_hold(copied):
    result = lint(copied, copied / "pyproject.toml")
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr
    for contract in CONTRACTS:
        assert f"{contract['name']} KEPT" in result.stdout
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in result.stdout


def test_all_modules_are_read(copied):
    """Every file of the four folders is in the graph; none is missed for lying under a namespace."""
    code = "import grimp, sys; print(*grimp.build_graph(*sys.argv[1:], cache_dir=None).modules)"
    command = [sys.executable, "-c", code, *(f"parlour.{folder}" for folder in FOLDERS)]
    environment = {**os.environ, "PYTHONPATH": str(copied)}
    process = subprocess.run(command, env=environment, cwd=copied, capture_output=True, text=True, check=True)
    files = [
        path.relative_to(copied).with_suffix("") for f in FOLDERS for path in (copied / "parlour" / f).rglob("*.py")
    ]
    assert set(process.stdout.split()) == {".".join(path.parts).removesuffix(".__init__") for path in files}


BROKEN = [
    ("wrappers/shapes.py", "import parlour.training.play.rollout", "Data flows one way"),
    ("envs/core.py", "import parlour.wrappers.shapes", "Data flows one way"),
    ("envs/adapters/aec.py", "from parlour.training.play import seeds", "Data flows one way"),
    ("envs/avalon/text.py", "import parlour.wrappers", "Data flows one way"),
    ("policies/random.py", "from parlour.envs.avalon.rules import Avalon", "Policies see Views"),
    (
        "policies/heuristic/avalon.py",
        "from parlour.envs.avalon import presets",
        "Policies see Views",
    ),
    ("policies/heuristic/avalon.py", "import parlour.envs.avalon.state", "Policies see Views"),
    ("policies/base.py", "import parlour.envs.adapters.aec", "Policies see Views"),
    ("policies/base.py", "import parlour.envs.language.text", "Policies see Views"),
    ("training/report/plots.py", "import parlour.training.measure.evaluate", "Rooms of training import downwards"),
    ("policies/trained.py", "from parlour.training.play.rollout import play", "Policies never import wrappers"),
    ("policies/human.py", "from parlour.wrappers.shapes import window", "Policies never import wrappers"),
    ("envs/registry.py", "import parlour.policies.random", "Environments never import policies or training"),
    (
        "wrappers/opponents.py",
        "from parlour.policies import RandomPolicy",
        "Environments never import policies or training",
    ),
    ("envs/core.py", "import parlour.envs.language.text", "Rules have no text"),
    ("envs/avalon/rules.py", "from parlour.envs.avalon.text import AvalonText", "Rules have no text"),
    ("envs/avalon/rules.py", "from parlour.envs.avalon.encode import AvalonEncoder", "Rules have no text"),
    ("envs/murder_mystery/vocabulary/facts.py", "import parlour.envs.murder_mystery.encode", "Rules have no text"),
    ("envs/avalon/presets.py", "import parlour.envs.adapters.aec", "Rules have no text"),
    ("envs/avalon/state.py", "from parlour.envs import text", "Rules have no text"),
    ("envs/avalon/rules.py", "import pettingzoo", "Rules have no text"),
    ("envs/_template/rules.py", "from parlour.envs._template.text import CoinText", "Rules have no text"),
    ("envs/_template/rules.py", "from parlour.envs.avalon.vocabulary import GOOD", "Rooms of envs import downwards"),
    ("envs/avalon/text.py", "import parlour.envs._template.text", "Rooms of envs import downwards"),
    ("envs/adapters/aec.py", "import pyspiel", "The library pyspiel"),
    ("wrappers/learner_seats.py", "import supersuit", "Other people's libraries are known to adapters alone"),
    ("policies/base.py", "import textarena", "The library textarena"),
    ("training/play/rollout.py", "import ray", "The library ray"),
    ("training/learn/ppo/seat.py", "import torchrl.modules", "Other people's libraries are known to adapters alone"),
    ("training/cli/play.py", "import parlour.policies.adapters.rllib", "Adapters are loaded by name"),
]


def test_every_broken_contract_is_reported_with_every_line_that_breaks_it(copied, tmp_path):
    """All lines are planted at once, in a copy of the copy."""
    broken = tmp_path / "broken"
    shutil.copytree(copied, broken)
    for module, line, _ in BROKEN:
        with (broken / "parlour" / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    result = lint(broken, broken / "pyproject.toml")
    assert result.returncode == 1
    summary, details = result.stdout.split("Broken contracts", 1)
    reported = [row for row in summary.splitlines() if " BROKEN" in row]
    for module, line, contract in BROKEN:
        assert any(row.startswith(contract) for row in reported), contract
        source = "parlour." + module.removesuffix(".py").replace("/", ".")
        assert re.search(rf"\b{re.escape(source)} -> ", details), f"{module}: {line}"


def test_every_game_is_under_the_contract_of_independence():
    games = {path.parent.name for path in (ROOT / "envs").glob("*/rules.py")} - {"hidden_roles"}
    rooms = next(contract for contract in CONTRACTS if contract.get("containers") == ["parlour.envs"])
    (siblings,) = [layer for layer in rooms["layers"] if "avalon" in layer]
    assert set(siblings.split(" | ")) == {"adapters", *games}


# -- what is imported ------------------------------------------------------------------------------------------

HEAVY = (
    *("torch", "stable_baselines3", "sb3_contrib", "scipy", "matplotlib", "pygame", "typer", "rich"),
    *("openai", "faiss", "fastapi", "uvicorn", "onnxruntime"),
    *(
        "agilerl",
        "open_spiel",
        "openskill",
        "pyspiel",
        "ray",
        "supersuit",
        "tensordict",
        "textarena",
        "tianshou",
        "torchrl",
    ),
)


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import parlour.envs", HEAVY),
        ("from parlour.envs import avalon_v0; avalon_v0.env(action='text').reset(seed=1)", HEAVY),
        ("import parlour.wrappers", HEAVY),
        ("import parlour.policies; parlour.policies.HeuristicPolicy()", HEAVY),
    ],
    ids=["envs", "an environment", "wrappers", "policies"],
)
def test_importing_does_not_load_what_it_does_not_need(statement, forbidden):
    code = f"import sys; {statement}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    modules = set(loaded.stdout.split())
    assert not [name for name in forbidden if name in modules]


def test_the_package_is_a_namespace_of_exactly_the_four_folders():
    code = "import parlour; print(parlour.__file__, parlour.__spec__.origin)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["None", "None"]
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    names = {
        "parlour." + ".".join(init.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert set(packages) == names
    assert all((ROOT / folder / "py.typed").exists() for folder in FOLDERS)
