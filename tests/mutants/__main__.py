"""`scripts/mutants`: draw mutants by a seed, try each against the tests that enter its function, print the table.

All work is done in a copy of the tree under `--out`, made once for each seed; the checkout is only read. One JSON line a
mutant, so a run that was stopped goes on where it was; to begin anew, remove the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mutants import fresh, groups, reach, report
from mutants.sample import Changed, Mutant, change, draw
from mutants.trials import SURVIVED

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("envs", "policies", "training", "wrappers")
CHUNK = 300
"""Mutants tried in forks of one collecting process."""


def copy(tree: Path) -> None:
    """A copy of what git tracks, or would, with the four folders importable as `parlour`."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    package = tree / "build" / "dev" / "parlour"
    package.mkdir(parents=True)
    for name in FOLDERS:
        (package / name).symlink_to(tree / name)


def environment(tree: Path, **more: str) -> dict[str, str]:
    """What a child process sees: the copied tree in front of anything installed, and nothing written beside sources."""
    path = os.pathsep.join([str(tree / "build" / "dev"), str(tree / "tests")])
    data = os.environ.get("PARLOUR_REFERENCE_DATA", str(ROOT.parent / "shared" / "data"))
    own = {
        "PYTHONPATH": path,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PARLOUR_REFERENCE_DATA": data,
        "MUTANTS_TREE": str(tree),
    }
    return {**os.environ, **own, **more}


def run_pytest(tree: Path, plugin: str, tests: list[str], **more: str) -> None:
    """pytest over these tests of the copied tree; what it prints goes to a log beside the tree."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", plugin, "-m", "not slow", *tests]
    with (tree.parent / f"{plugin}.log").open("w") as log:
        subprocess.run(command, cwd=tree, env=environment(tree, **more), stdout=log, stderr=log, check=False)


def map_tests(tree: Path, out: Path) -> reach.Map:
    """Which tests enter which functions. A file of tests is run once to see it, and again when it changes."""
    stamps = {str(file): reach.stamp(tree / file) for file in groups.test_files(tree)}
    kept = out / "reach.jsonl"
    missing = sorted(stamps.items() - reach.done(kept))
    if missing:
        watched = json.dumps([str(file) for files in groups.files(tree).values() for file in files])
        run_pytest(tree, "mutants.reach", [name for name, _ in missing], MUTANTS_REACH=str(kept), MUTANTS_FILES=watched)
        with kept.open("a") as file:
            file.writelines(json.dumps({"done": name, "stamp": stamp}) + "\n" for name, stamp in missing)
    return reach.read(kept, stamps)


def tests_of(changed: Changed, file: str, seen: reach.Map, budget: float) -> tuple[list[str], list[str]]:
    """The tests that enter the changed function, as many as fit into `budget` seconds; and those for a second look.

    A second look takes half as much time: the rest of those tests, and others of the same files, then tests that enter
    anything else in the mutated file, or else in its folder. What a fixture or a cache keeps from an earlier call hides
    who would enter.
    """
    own = seen.tests.get(changed.place, []) if changed.deferred else []
    first = _within(own, seen, budget) or sorted(own, key=lambda name: seen.seconds[name])[:1]
    beside = {name.partition("::")[0] for name in own}
    near = [name for name in seen.seconds if name not in first and name.partition("::")[0] in beside]
    second = _within(near, seen, budget / 2)
    left = budget / (2 if changed.deferred else 1) - sum(seen.seconds[name] for name in second)
    wide: set[str] = set()
    for start in (f"{file}:", f"{Path(file).parent}/"):
        wide = wide or {name for place, names in seen.tests.items() if place.startswith(start) for name in names}
    return first, [*second, *_within(sorted(wide - {*first, *near}), seen, left)]


def _within(names: Sequence[str], seen: reach.Map, budget: float) -> list[str]:
    """Half of the time goes to the tests that enter the fewest functions, which are those written for this one."""
    chosen: dict[str, None] = {}
    for share, order in ((0.5, seen.breadth), (1.0, seen.seconds)):
        spent = sum(seen.seconds[name] for name in chosen)
        for name in sorted(names, key=lambda name: (order[name], name)):
            if name not in chosen and spent + seen.seconds[name] <= share * budget:
                chosen[name] = None
                spent += seen.seconds[name]
    return sorted(chosen, key=lambda name: seen.seconds[name])


def entry_of(tree: Path, mutant: Mutant, seen: reach.Map, budget: float) -> dict[str, Any]:
    """A mutant, its tests and how long they take, as the trials want it."""
    changed = change(tree, mutant)
    tests, others = tests_of(changed, mutant.file, seen, budget)
    row = {"name": mutant.name, "group": mutant.group, "kind": changed.kind, "line": changed.line}
    return {
        "row": {**row, "place": changed.place, "difference": changed.difference},
        "mutant": {"group": mutant.group, "file": mutant.file, "number": mutant.number},
        "deferred": changed.deferred,
        "tests": tests,
        "others": others,
        "seconds": sum(seen.seconds[name] for name in (*tests, *others)),
    }


def in_forks(tree: Path, entries: list[dict[str, Any]], out: Path) -> None:
    """Try mutants in forks of processes that have collected the tests."""
    wanted, killer = tree.parent / "wanted.json", tree.parent / "killer.txt"
    for start in range(0, len(entries), CHUNK):
        chunk = entries[start : start + CHUNK]
        wanted.write_text(json.dumps(chunk))
        files = sorted({name.partition("::")[0] for entry in chunk for name in entry["tests"]})
        where = {"MUTANTS_WANTED": str(wanted), "MUTANTS_OUT": str(out), "MUTANTS_KILLER": str(killer)}
        run_pytest(tree, "mutants.trials", files, **where)


def rows(out: Path) -> dict[str, dict[str, Any]]:
    """What is known of each mutant; the last line about it holds."""
    lines = out.read_text().splitlines() if out.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=75, help="mutants of each group")
    parser.add_argument(
        "--budget", type=float, default=10.0, help="seconds of tests for a mutant, as they take unchanged"
    )
    parser.add_argument("--group", action="append", choices=sorted(groups.GROUPS), help="only these groups")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"))
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    tree = out / f"tree-{options.seed}"
    if not tree.exists():
        copy(tree)
    fresh.restore(tree)
    seen = map_tests(tree, out)
    results = out / f"seed-{options.seed}.jsonl"
    drawn = [m for m in draw(tree, options.seed, options.each) if options.group is None or m.group in options.group]
    entries = [entry_of(tree, mutant, seen, options.budget) for mutant in drawn]
    known = rows(results)
    in_forks(tree, [e for e in entries if e["deferred"] and e["row"]["name"] not in known], results)
    os.environ.update(environment(tree))
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    fresh.load_others()
    known = rows(results)
    for entry in sorted(entries, key=lambda entry: bool(entry["deferred"])):  # what works at import was not tried yet
        row = known.get(entry["row"]["name"])
        if row is None or (row["end"] == SURVIVED and not row.get("fresh")):
            with results.open("a") as file:
                file.write(json.dumps({**entry["row"], **fresh.trial(tree, entry), "fresh": True}) + "\n")
    by_name = rows(results)
    print(report.text([by_name[entry["row"]["name"]] for entry in entries]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
