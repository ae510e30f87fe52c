"""Commands with planted defects, for `test_kills`: each is called with the folder that it writes to."""

from __future__ import annotations

import sys
from pathlib import Path

from parlour.envs.common.writing import CannotWrite
from parlour.policies.files import atomic_write
from parlour.training.runs.folder import JsonlStore
from parlour.training.runs.run import Run

LINES = 5


def sound(words: list[str]) -> None:
    """None: whole lines, then a file as a whole, in a directory that is held."""
    try:
        with Run(words[0]).opened() as folder:
            with JsonlStore(folder / "lines.jsonl", int, "count") as store:
                for number in range(len(store.found), LINES):
                    store.append(1000 + number)
            atomic_write(folder / "report.md", "x" * 300)
    except CannotWrite as error:
        print(f"parlour: {error}", file=sys.stderr)
        sys.exit(2)


def announces(words: list[str]) -> None:
    """None: what it will do, in a line, before anything is written."""
    print("Lines: 5.", file=sys.stderr)
    sound(words)


def complains_twice(words: list[str]) -> None:
    """Says two lines when there is no room."""
    try:
        sound(words)
    except SystemExit:
        print("Nothing more is written.", file=sys.stderr)
        raise


def tears_lines(words: list[str]) -> None:
    """Goes on behind half a line."""
    path = Path(words[0]) / "lines.txt"
    path.parent.mkdir(exist_ok=True)
    have = len(path.read_text().splitlines()) if path.exists() else 0
    with path.open("a") as file:
        for number in range(have, LINES):
            file.write(f"{number}" * 10 + "\n")
            file.flush()


def leaves_half_a_file(words: list[str]) -> None:
    """Takes a file that is there for a whole one."""
    path = Path(words[0]) / "report.md"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_text("x" * 300)


def leaves_parts(words: list[str]) -> None:
    """Writes whole files, but nobody takes away what a kill left."""
    for number in range(3):
        atomic_write(Path(words[0]) / f"{number}.txt", "x" * 300)
