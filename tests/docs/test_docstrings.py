"""Docstrings name what exists: names in backticks, and parameters under `Args:`."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT

FOLDERS = ("envs", "policies", "training", "wrappers")
DATA = {".toml", ".js", ".json", ".md", ".html", ".txt", ".csv"}
WORD = re.compile(r"[A-Za-z_]\w*")
NAMED = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(\))?`(?!`)")
ARGUMENT = re.compile(r"^ {4}\*{0,2}(\w+(?:, \*{0,2}\w+)*):")
LIBRARIES = {
    "dataclasses", "datasets", "gymnasium", "itertools", "java", "open_spiel", "pettingzoo", "pyspiel", "torchrl",
}  # fmt: skip
OF_OTHERS = {
    "AIWolfGame", "Agent1", "Authorization", "EMPTY", "GRPOConfig", "GRPOTrainer", "GameSetting", "getDefaultGame", "Loader", "MetaPathFinder",
    "MultiAgentOffPolicyAlgorithm", "MultiAgentOnPolicyAlgorithm", "MultiRLModuleSpec", "TcpipServer", "average_policy", "efg_game", "literal_error",
    "environment_factory", "gameRecord", "input_tokens", "make_vec", "memcpy",
    "_k", "b0", "moment_k", "python_parlour_avalon", "u_shallow_gen_nli", "w0", "w1",
}  # fmt: skip
"""Names of other libraries, and patterns of names that are put together at run time."""


def sources() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def documented(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.Constant]]:
    """Each docstring with what it documents; strings behind fields, too."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                yield node, statement.value


def names_in(tree: ast.Module) -> Iterator[str]:
    """All names in code, and words in strings that are no docstrings."""
    docstrings = {id(text) for _, text in documented(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from WORD.findall(node.value)
        for field in ("id", "attr", "arg", "name", "asname"):
            value = getattr(node, field, None)
            yield from value.split(".") if isinstance(value, str) else ()


@cache
def known() -> frozenset[str]:
    """Every name that the packages have, those in their data files among them."""
    names = set(keyword.kwlist)
    for path in sources():
        names.update(names_in(ast.parse(path.read_text("utf-8"))), path.relative_to(ROOT).with_suffix("").parts)
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in DATA:
                names.update(WORD.findall(path.read_text("utf-8")), [path.stem])
    return frozenset(names | OF_OTHERS)


def unknown(text: str) -> list[str]:
    """Names in backticks of which some part exists nowhere."""
    return [
        name
        for name in NAMED.findall(text)
        if name.split(".")[0] not in LIBRARIES and not known().issuperset(name.split("."))
    ]


def wrong_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, text: str) -> list[str]:
    """Names under `Args:` that are no parameters of the function, of the class's constructor, or fields of the class."""
    section = re.search(r"\n *Args:\n(.*?)(?:\n\n|\n *\w+:\n|\Z)", text, re.DOTALL)
    if section is None:
        return []
    indent = len(section[1]) - len(section[1].lstrip())
    lines = (line[indent - 4 :] for line in section[1].split("\n"))
    named = [name for line in lines if (found := ARGUMENT.match(line)) for name in re.findall(r"\w+", found[1])]
    inner = [node for node in ast.walk(function) if isinstance(node, ast.arg)]
    fields = [
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    accepted = {node.arg for node in inner} | set(fields)
    inherits = isinstance(function, ast.ClassDef) and not any(
        isinstance(node, ast.FunctionDef) and node.name == "__init__" for node in function.body
    )
    return [] if inherits and function.bases else [name for name in named if name not in accepted]  # type: ignore[attr-defined]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_name_in_backticks_exists(folder):
    """Somewhere in the packages, or in the list of names of other libraries."""
    found = []
    for path in (ROOT / folder).rglob("*.py"):
        for _, text in documented(ast.parse(path.read_text("utf-8"))):
            if isinstance(text.value, str):
                found += [(path.relative_to(ROOT).as_posix(), text.lineno, name) for name in unknown(text.value)]
    assert found == []


def test_every_argument_in_a_docstring_is_a_parameter():
    found = []
    for path in sources():
        for node, text in documented(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and isinstance(text.value, str):
                found += [(path.name, text.lineno, name) for name in wrong_arguments(node, text.value)]
    assert found == []


def test_a_name_that_went_is_found():
    assert unknown("`parlour.envs.registry` and `GameEnv`, `no_such_thing` and `parlour.gone_with_it`") == [
        "no_such_thing",
        "parlour.gone_with_it",
    ]
    (function,) = ast.parse("def f(kept):\n    ...").body
    assert wrong_arguments(function, "Does.\n\n    Args:\n        kept: This.\n        lost: That.\n") == ["lost"]
