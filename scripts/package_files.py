#!/usr/bin/env python3
"""Compares a wheel and an sdist with the files in git: nothing is left out, nothing comes along. Standard library alone.

Usage: scripts/package_files.py WHEEL [SDIST]; ends with 1 and the names of what differs.
The wheel has the four folders as `parlour/...`; the sdist has all that git has.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("envs", "policies", "training", "wrappers")
MADE = re.compile(r"PKG-INFO|setup\.cfg|parlour\.egg-info/.*")
"""What the build adds to an sdist."""


def tracked() -> list[str]:
    """The files that git has, relative to the root."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listing.stdout.split("\0") if name]


def differences(wheel: Path, sdist: Path | None, files: Iterable[str]) -> list[str]:
    """One line for each file that is missing or too many; empty if there is none."""
    known = set(files)
    with zipfile.ZipFile(wheel) as opened:
        inside = {name for name in opened.namelist() if ".dist-info/" not in name}
    packaged = {f"parlour/{name}" for name in known if name.split("/")[0] in FOLDERS}
    lines = _lines(wheel, packaged, inside)
    if sdist is not None:
        with tarfile.open(sdist) as opened:
            names = (member.name.partition("/")[2] for member in opened if member.isfile())
            inside = {name for name in names if not MADE.fullmatch(name)}
        lines += _lines(sdist, known, inside)
    return lines


def _lines(package: Path, expected: set[str], inside: set[str]) -> list[str]:
    missing = [f"{package.name}: {name} is missing" for name in sorted(expected - inside)]
    return missing + [f"{package.name}: {name} is not in git" for name in sorted(inside - expected)]


if __name__ == "__main__":
    given = [Path(word) for word in sys.argv[1:]]
    if not 1 <= len(given) <= 2:
        sys.exit(f"{len(given)} files are not accepted; accepted: a wheel, or a wheel and an sdist")
    differing = differences(given[0], given[1] if len(given) == 2 else None, tracked())
    print("\n".join(differing) or "the package has the files of git, and no others")
    sys.exit(bool(differing))
