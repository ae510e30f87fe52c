"""After a build: check that every public name is on a page. A public name has no leading underscore."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("envs", "policies", "training", "wrappers")


def public_names() -> Iterator[str]:
    """`parlour.module.name` of each class, function and value that a module defines, as `tests/test_architecture.py` counts."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            module = ".".join(("parlour", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
            yield from (f"{module}.{name}" for name in _defined(path) if not name.startswith("_"))


def _defined(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def check(app: Any, error: Exception | None) -> None:
    """Fail the build for public names without a page, if the whole reference is built."""
    if error is not None or app.builder.name != "html":
        return
    known = set(app.env.get_domain("py").objects)
    if missing := sorted(set(public_names()) - known):
        raise LookupError(f"{len(missing)} public names have no page: {', '.join(missing[:20])}")
