"""A plugin of pytest that writes which test enters which function of the mutated files, and how long each test takes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(os.environ.get("MUTANTS_TREE", "."))
WATCHED_SECONDS = 1.0
WATCHED = frozenset(str(ROOT / name) for name in json.loads(os.environ.get("MUTANTS_FILES", "[]")))


def place(code: CodeType) -> str:
    """`envs/avalon/rules.py:AvalonGame.apply`: the outermost function around this code, the key of the map."""
    file = Path(os.path.realpath(code.co_filename)).relative_to(os.path.realpath(ROOT))
    return f"{file}:{code.co_qualname.partition('.<locals>')[0]}"


class Reach:
    """Watches every test for its first second; one that fails, is skipped or is expected to fail stands for nothing."""

    def __init__(self) -> None:
        self.entered: set[CodeType] = set()
        self.end = 0.0
        self.passed = True
        self.known: dict[str, bool] = {}

    def _call(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        wanted = self.known.get(code.co_filename)
        if wanted is None:
            wanted = self.known[code.co_filename] = os.path.realpath(code.co_filename) in WATCHED
        if wanted:
            self.entered.add(code)
        if time.perf_counter() > self.end:
            sys.settrace(None)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
        start = time.perf_counter()
        self.entered, self.passed, self.end = set(), True, start + WATCHED_SECONDS
        threading.settrace(self._call)
        sys.settrace(self._call)
        yield
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        file = item.nodeid.partition("::")[0]
        rows: list[dict[str, Any]] = []
        if self.passed:
            places = sorted({place(code) for code in self.entered})
            rows.append(
                {"test": item.nodeid, "file": file, "seconds": round(time.perf_counter() - start, 3), "places": places}
            )
        if nextitem is None or nextitem.nodeid.partition("::")[0] != file:
            rows.append({"done": file})
        with open(os.environ["MUTANTS_REACH"], "a") as kept:
            kept.writelines(json.dumps({**row, "stamp": stamp(ROOT / file)}) + "\n" for row in rows)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed &= report.outcome == "passed"


@dataclass(frozen=True)
class Map:
    """What was seen of tests that passed."""

    seconds: Mapping[str, float]
    breadth: Mapping[str, int]
    """How many of the watched functions a test enters."""
    tests: Mapping[str, Sequence[str]]
    """By function."""


def stamp(path: Path) -> str:
    """The content of a file of tests, in short."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


def done(path: Path) -> set[tuple[str, str]]:
    """The files of tests that were run to their end, with their stamps."""
    return {(row["done"], row["stamp"]) for row in _rows(path) if "done" in row}


def read(path: Path, stamps: Mapping[str, str]) -> Map:
    """What was written about tests in files that are still the same."""
    seen = {row["test"]: row for row in _rows(path) if "test" in row and stamps.get(row["file"]) == row["stamp"]}
    tests: dict[str, list[str]] = defaultdict(list)
    for name, row in seen.items():
        for where in row["places"]:
            tests[where].append(name)
    seconds = {name: float(row["seconds"]) for name, row in seen.items()}
    return Map(seconds, {name: len(row["places"]) for name, row in seen.items()}, tests)


def pytest_configure(config: pytest.Config) -> None:
    if "MUTANTS_REACH" in os.environ:
        config.pluginmanager.register(Reach(), "reach")
