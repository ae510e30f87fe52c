"""The table of a sample of mutants, and the list of those that no test noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def _line(name: str, ends: Counter[str]) -> str:
    total = ends.total()
    share = 100 * (total - ends["survived"]) / total
    return f"{name:12} {total:8} {ends['killed']:8} {ends['timeout']:8} {ends['survived']:8} {share:7.1f} %"


def table(rows: Sequence[Mapping[str, Any]], by: str) -> str:
    """Mutants, killed, hanging (counted as killed) and survivors, by group or by kind of change."""
    heading = f"{by:12} {'mutants':>8} {'killed':>8} {'timeout':>8} {'survived':>8} {'killed':>9}"
    names = dict.fromkeys(row[by] for row in rows)
    return "\n".join([heading, *(_line(n, Counter(row["end"] for row in rows if row[by] == n)) for n in names)])


def text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The whole report: both tables, then every survivor with its place and the change."""
    parts = [table(rows, "group"), table(rows, "kind"), "Survivors:"]
    for row in rows:
        if row["end"] == "survived":
            name = f"{row['name']} line {row['line']}, {row['kind']}, {row['tests']} tests"
            parts.append(f"{name}\n{row['difference']}")
    return "\n\n".join(parts)
