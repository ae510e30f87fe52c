"""A plugin of pytest that tries mutants: tests are collected once, and each mutant is put into a fork of that process.

In the fork the code of the changed functions is replaced where they stand, so nothing is imported anew. What a module
computes at import is not seen that way: mutants that survive here are tried again in a fresh process.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from mutants.sample import Mutant, change

ROOT = Path(os.environ.get("MUTANTS_TREE", "."))
KILLED, SURVIVED, TIMEOUT, BROKEN = "killed", "survived", "timeout", "broken"
ENDS = {0: SURVIVED, 1: KILLED, 2: KILLED, 4: KILLED, None: TIMEOUT}
"""By the exit status of pytest: 2 and 4 are errors while tests are collected. Any other status is a defect of the trial."""
SLOWER = 10.0
"""A mutant may take this many times as long as its tests took, and a grace of 20 s, before it counts as hanging."""


def all_code(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that are nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_code(constant)


def _key(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    return code.co_qualname, code.co_firstlineno, code.co_freevars


def put_in(mutant: Mutant) -> int:
    """Replace the code of every function of the mutant's file by the mutant's; how many functions changed."""
    file = ROOT / mutant.file
    compiled = compile(change(ROOT, mutant).tree, str(file), "exec")
    new = {_key(code): code for code in all_code(compiled)}
    gc.unfreeze()  # `conftest.py` froze what collection made, which gc.get_objects() leaves out
    changed, here = 0, functools.cache(lambda name: os.path.realpath(name) == str(file))
    for cache in gc.get_objects():
        if type(cache) is functools._lru_cache_wrapper and cache.__module__.startswith("parlour."):
            cache.cache_clear()
        elif type(cache) is FunctionType and here(cache.__code__.co_filename):
            code = new.get(_key(cache.__code__))
            if code is not None and code != cache.__code__:
                cache.__code__ = code
                changed += 1
    return changed


class Trials:
    """Runs the tests of one mutant after another, each in a fork, and writes down what became of it."""

    def __init__(self, wanted: Sequence[dict[str, Any]], out: Path) -> None:
        self.wanted, self.out, self.killer = wanted, out, ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            Path(os.environ["MUTANTS_KILLER"]).write_text(report.nodeid)
            os._exit(1)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for entry in self.wanted:
            row = {**entry["row"], **self._try(entry, [items[name] for name in entry["tests"] if name in items])}
            with self.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return True

    def _try(self, entry: dict[str, Any], items: list[pytest.Item]) -> dict[str, Any]:
        killer, start = Path(os.environ["MUTANTS_KILLER"]), time.monotonic()
        killer.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self._child(entry, items)
        status = wait_for(child, SLOWER * entry["seconds"] + 20)
        seconds = round(time.monotonic() - start, 2)
        by = killer.read_text() if killer.exists() else ""
        return {"end": ENDS.get(status, BROKEN), "by": by, "seconds": seconds, "tests": len(items)}

    def _child(self, entry: dict[str, Any], items: list[pytest.Item]) -> None:
        os.setsid()
        try:
            if entry["mutant"]:
                put_in(Mutant(**entry["mutant"]))
            for i, item in enumerate(items):
                following = items[i + 1] if i + 1 < len(items) else None
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException:
            traceback.print_exc()
            os._exit(70)
        os._exit(0)


def wait_for(child: int, limit: float) -> int | None:
    """The exit status of a child process; None if it had to be ended after `limit` seconds."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def pytest_configure(config: pytest.Config) -> None:
    if "MUTANTS_WANTED" in os.environ:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
        wanted = json.loads(Path(os.environ["MUTANTS_WANTED"]).read_text())
        config.pluginmanager.register(Trials(wanted, Path(os.environ["MUTANTS_OUT"])), "trials")
