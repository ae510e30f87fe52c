"""The files that two runs of a command left: equal but for what is measured (seconds) and when (dates of a study's trials)."""

from __future__ import annotations

import csv
import re
import sqlite3
from contextlib import closing
from pathlib import Path

Files = dict[str, bytes]
"""Path within the folder -> content, without what is measured."""
_SECONDS = re.compile(rb'("(?:seconds|[a-z_]+_seconds)": )[-+0-9.eE]+')
_TIMED = re.compile(r"seconds$|hours$")
_DATES = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?'")


def files_of(folder: Path) -> Files:
    """All files below a folder; where they name it, they say OUT, so that runs in two folders compare."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {str(path.relative_to(folder)): unmeasured(path).replace(bytes(folder), b"OUT") for path in files}


def unmeasured(path: Path) -> bytes:
    """The content of a file without seconds and dates."""
    if path.suffix == ".sqlite3":
        with closing(sqlite3.connect(path)) as file:
            return _DATES.sub("''", "\n".join(file.iterdump())).encode()
    content = path.read_bytes()
    if path.suffix == ".csv":
        return _without_seconds(content)
    if path.suffix in (".json", ".jsonl"):
        return _SECONDS.sub(rb"\1 0", content)
    return content


def _without_seconds(content: bytes) -> bytes:
    rows = list(csv.reader(content.decode().splitlines()))
    timed = {k for k, heading in enumerate(rows[0]) if _TIMED.search(heading)} if rows else set()
    if not timed:
        return content
    return repr([[cell for k, cell in enumerate(row) if k not in timed] for row in rows]).encode()


def difference(files: Files, wanted: Files) -> str:
    """What is different, in one line; empty if nothing is."""
    for name in sorted(wanted.keys() | files.keys()):
        if name not in files:
            return f"{name} is missing"
        if name not in wanted:
            return f"{re.sub('[0-9a-f]{8}|[0-9]+', 'N', name)} is left over"
        if files[name] != wanted[name]:
            return f"{name} differs"
    return ""
