"""A seeded sample of mutants, and what becomes of a module when one of them is put in."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mutants import groups
from mutants.operators import Edit, edits


@dataclass(frozen=True)
class Mutant:
    """Change number `number` of a file, counted in the order of its text."""

    group: str
    file: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.file}#{self.number}"


@dataclass(frozen=True)
class Changed:
    """A module with one mutant in it."""

    kind: str
    line: int
    place: str
    """The outermost function around the change, as `reach.place` has it; of module level, the file and a colon."""
    deferred: bool
    """Whether the change is in the body of a function, so that it works when it is called, not when it is imported."""
    difference: str
    source: str
    tree: ast.Module


def draw(root: Path, seed: int, each: int) -> list[Mutant]:
    """`each` mutants of every group, all changes of a group alike likely, without repeats."""
    drawn: list[Mutant] = []
    for place, (group, files) in enumerate(groups.files(root).items()):
        all_of_them = [
            Mutant(group, str(file), number)
            for file in files
            for number in range(len(edits(ast.parse((root / file).read_text("utf-8")))))
        ]
        rng = np.random.default_rng([seed, place])
        chosen = rng.choice(len(all_of_them), size=min(each, len(all_of_them)), replace=False)
        drawn += [all_of_them[i] for i in sorted(chosen)]
    return drawn


def _function_of(edit: Edit) -> tuple[str, bool]:
    """The dotted name of the outermost function around the change, and whether the change is in its body."""
    names: list[str] = []
    for outer, inner in zip(edit.within, (*edit.within[1:], None), strict=True):
        if isinstance(outer, ast.ClassDef):
            names.append(outer.name)
        elif isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
            names.append(outer.name)
            return ".".join(names), inner is not None and inner in outer.body
    return "", False


def change(root: Path, mutant: Mutant) -> Changed:
    """The module of a mutant with the change made in memory."""
    tree = ast.parse((root / mutant.file).read_text("utf-8"))
    edit = edits(tree)[mutant.number]
    name, deferred = _function_of(edit)
    statement = edit.statement
    holder, before = edit.within[edit.within.index(statement) - 1], ast.unparse(statement)
    line = statement.lineno
    edit.apply()
    after = ast.unparse(statement) if statement is not edit.within[-1] else ast.unparse(_now(edit, holder))
    ast.fix_missing_locations(tree)
    shown = [row for row in difflib.ndiff(before.splitlines(), after.splitlines()) if row[0] in "+-"]
    return Changed(edit.kind, line, f"{mutant.file}:{name}", deferred, "\n".join(shown), ast.unparse(tree) + "\n", tree)


def _now(edit: Edit, holder: ast.AST) -> ast.AST:
    """What stands in place of a statement that was replaced as a whole, or the statement if only a field changed."""
    if edit.node is holder:
        new = edit.value
        assert isinstance(new, ast.AST)
        return new
    return edit.within[-1]
