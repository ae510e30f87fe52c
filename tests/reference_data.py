"""Published data that tests compare with: they lie in `PARLOUR_REFERENCE_DATA`, or else in `shared/data` beside the repository."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("PARLOUR_REFERENCE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def reference(name: str) -> Path:
    """A file or folder of the data; where it is missing, the test is skipped."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"PUBLISHED DATA ARE NOT HERE ({path}): set PARLOUR_REFERENCE_DATA to the folder around them")
    return path


def paper_table(name: str) -> list[dict[str, str]]:
    """The rows of a table that a paper prints."""
    with reference(f"paper_tables/{name}").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
