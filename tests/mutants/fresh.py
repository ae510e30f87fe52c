"""Trials in fresh processes: for mutants that work at import, and once more for those that survived in a fork.

The parent loads what is not parlour, so that a child only imports parlour, with the mutated file in the copied tree.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from mutants.sample import Mutant, change
from mutants.trials import BROKEN, ENDS, KILLED, SLOWER, SURVIVED, wait_for

LOADED_BEFORE = ("gymnasium", "networkx", "numpy", "pettingzoo", "pydantic", "pytest", "rich", "scipy.stats")
PYTEST = ("-p", "no:cacheprovider", "-x", "-q")


def load_others() -> None:
    """Import other people's libraries, which no mutant changes."""
    for name in LOADED_BEFORE:
        importlib.import_module(name)


def _kept(tree: Path) -> Path:
    return tree.with_name(f"{tree.name}.kept.json")


def restore(tree: Path) -> None:
    """Put the file back that holds a mutant, if there is one, also after a run that was killed."""
    kept = _kept(tree)
    if kept.exists():
        name, text = json.loads(kept.read_text())
        (tree / name).write_text(text, "utf-8")
        kept.unlink()


def trial(tree: Path, entry: dict[str, Any]) -> dict[str, Any]:
    """What becomes of one mutant that is written into the tree, and taken out again."""
    tests = [*entry["tests"], *entry["others"]]
    if not tests:
        return {"end": SURVIVED, "by": "", "seconds": 0.0, "tests": 0}
    mutant, start = Mutant(**entry["mutant"]), time.monotonic()
    file, kept = tree / mutant.file, _kept(tree)
    kept.write_text(json.dumps([mutant.file, file.read_text("utf-8")]))
    file.write_text(change(tree, mutant).source, "utf-8")
    child = os.fork()
    if child == 0:
        _run(tree, tests)
    status = wait_for(child, SLOWER * entry["seconds"] + 90)
    restore(tree)
    end = ENDS.get(status, BROKEN)
    by = "a fresh import" if end == KILLED else ""
    return {"end": end, "by": by, "seconds": round(time.monotonic() - start, 2), "tests": len(tests)}


def _run(tree: Path, tests: list[str]) -> None:
    os.setsid()
    log = os.open(tree.parent / "fresh.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    status = 70
    try:
        os.chdir(tree)
        status = int(importlib.import_module("pytest").main([*PYTEST, *tests]))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
