"""`scripts/mutants`: a seeded sample of small wrong changes (mutants) of rules, views, statistics and parsers; which of them tests notice.

mutmut makes the mutants, chooses the tests that enter the changed function, and tries each mutant in a fork. All work is done in a copy
of the tree under `--out`; a stopped run resumes there. To begin anew, remove the folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("envs", "policies", "training", "wrappers")
GROUPS: dict[str, tuple[str, ...]] = {
    "rules": (
        "envs/hidden_roles/rules.py",
        "envs/*/rules.py",
        "envs/*/state.py",
        "envs/*/presets.py",
        "envs/*/choices.py",
        "envs/*/options.py",
        "envs/*/tally.py",
    ),
    "views": (
        "envs/language/text.py",
        "envs/common/frames.py",
        "envs/adapters/wording.py",
        "envs/language/headings.py",
        "envs/adapters/turn.py",
        "envs/*/text.py",
        "envs/*/prose.py",
        "envs/*/encode.py",
        "envs/*/seat_encode.py",
        "envs/*/belief.py",
        "envs/*/naming.py",
        "envs/*/vocabulary.py",
        "envs/*/vocabulary/*.py",
    ),
    "statistics": (
        "training/statistics.py",
        "training/play/asked.py",
        "training/measure/decision_tables.py",
        "training/measure/evaluate.py",
        "training/measure/avalon/measures.py",
        "training/papers/avalon_social/measures.py",
        "training/measure/werewolf/scores.py",
        "training/measure/werewolf/measures.py",
        "training/measure/murder_mystery/scores.py",
        "training/measure/murder_mystery/voting.py",
        "training/learn/mediators/quantities.py",
    ),
    "parsers": (
        "envs/language/english.py",
        "envs/replay.py",
        "envs/*/reading.py",
        "envs/mediated_qa/corpora/*.py",
        "envs/murder_mystery/cases/*.py",
        "envs/murder_mystery/wellplay/*.py",
        "policies/llm/reading.py",
        "training/records/json_objects.py",
        "training/records/avalon/*.py",
        "training/records/*.py",
        "training/records/werewolf/published.py",
        "training/measure/werewolf/transcripts.py",
    ),
}
ALWAYS = ("tests/envs/test_playthroughs.py", "tests/training/records/**/test_*.py")
"""Tests that are asked whatever is mutated."""
NEVER = (
    "tests/hardening/*",
    "tests/integrations/*",
    "tests/browser/*",
    "*architecture*",
    "*batch*",
    "tests/policies/agents/*",
    "tests/policies/llm/server/*",
    "tests/training/learn/*",
    "*selfplay*",
    "*agent*",
    "*test_train*",
)
"""Tests that are not asked: of kernels, networks, agents, servers, processes."""
NOTICED = (1, 3, 36, 24, 152, 255, -24, -11, -9)
"""Exit codes of a trial that noticed: a failed test, an error of pytest, too much time, a crash (`mutmut.stats`)."""


def files_of(group: str) -> list[Path]:
    """What is mutated in a group, relative to the root."""
    return sorted({path.relative_to(ROOT) for pattern in GROUPS[group] for path in ROOT.glob(pattern)})


def tests_of(files: list[Path]) -> list[str]:
    """The tests that name a mutated module, but for those that take long or start servers, and `ALWAYS`."""
    modules = [f"parlour.{'.'.join(file.with_suffix('').parts)}".removesuffix(".__init__") for file in files]
    named = re.compile("|".join(rf"{re.escape(module)}\b" for module in modules))
    tests = {path for path in ROOT.glob("tests/**/test_*.py") if named.search(path.read_text("utf-8"))}
    tests |= {path for pattern in ALWAYS for path in ROOT.glob(pattern)}
    names = (path.relative_to(ROOT).as_posix() for path in tests)
    return sorted(name for name in names if not any(fnmatch(name, pattern) for pattern in NEVER))


def copy(tree: Path, files: list[Path]) -> None:
    """A copy of what git tracks, with the four folders as the package `parlour`, and mutmut's settings."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    for name in names:
        inside = "src/parlour" if name.split("/")[0] in FOLDERS else "."
        (tree / inside / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / inside / name)
    for folder in FOLDERS:
        (tree / folder).symlink_to(f"src/parlour/{folder}")
    settings = {
        "source_paths": ["src"],
        "only_mutate": [f"src/parlour/{file}" for file in files],
        "also_copy": sorted({name.split("/")[0] for name in names} - {"tests"}),
        "pytest_add_cli_args": ["-m", "not slow"],
        "pytest_add_cli_args_test_selection": tests_of(files),
    }
    lines = (f"{key}=\n" + "".join(f"    {value}\n" for value in values) for key, values in settings.items())
    (tree / "setup.cfg").write_text("[mutmut]\n" + "".join(lines))


def log_of(tree: Path, command: str) -> Path:
    """Where the last run of a command of mutmut says what happened."""
    return tree.parent / f"mutmut-{command}.log"


def mutmut(tree: Path, *words: str) -> str:
    """Run mutmut in the tree; what it printed."""
    data = os.environ.get("PARLOUR_REFERENCE_DATA", str(ROOT.parent / "shared" / "data"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "src"),
        "PARLOUR_REFERENCE_DATA": data,
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "mutmut", *words]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    log_of(tree, words[0]).write_text(run.stdout + run.stderr)
    return run.stdout


def results(tree: Path, file: Path) -> dict[str, int | None]:
    """Each mutant of a file with the exit code of its trial; None if it was not tried."""
    kept = tree / "mutants" / "src" / "parlour" / f"{file}.meta"
    codes: dict[str, int | None] = json.loads(kept.read_text())["exit_code_by_key"] if kept.exists() else {}
    return codes


def sample(tree: Path, group: str, each: int, seed: int) -> list[tuple[Path, str]]:
    """`each` mutants of a group, all alike likely, without repeats."""
    every = [(file, name) for file in files_of(group) for name in results(tree, file)]
    rng = np.random.default_rng([seed, list(GROUPS).index(group)])
    return [every[k] for k in sorted(rng.choice(len(every), min(each, len(every)), replace=False))]


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=75, help="mutants of each group")
    parser.add_argument("--group", action="append", choices=sorted(GROUPS), help="only these groups")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"))
    options = parser.parse_args()
    tree, groups = options.out.resolve() / "tree", options.group or list(GROUPS)
    made = tree / "mutants" / "mutmut-stats.json"
    if not made.exists():
        shutil.rmtree(tree, ignore_errors=True)  # of a run that was killed before
        copy(tree, [file for group in GROUPS for file in files_of(group)])
        mutmut(tree, "run", "no mutant has this name")  # makes the mutants, and sees which tests enter what
    if not made.exists():
        print(f"the tests do not pass in {str(tree)!r}: {str(log_of(tree, 'run'))!r} says why", file=sys.stderr)
        return 2
    drawn = {group: sample(tree, group, options.each, options.seed) for group in groups}
    names = [name for mutants in drawn.values() for _, name in mutants]
    mutmut(tree, "run", "--max-children", str(options.processes), *names)
    untried = [name for mutants in drawn.values() for file, name in mutants if results(tree, file)[name] is None]
    if untried:
        print(
            f"{len(untried)} of {len(names)} mutants were not tried: {str(log_of(tree, 'run'))!r} says why",
            file=sys.stderr,
        )
        return 2
    print(f"{'group':12} {'mutants':>8} {'noticed':>8} {'survived':>9} {'noticed':>8}")
    survivors = list[str]()
    for group, mutants in drawn.items():
        codes = Counter(results(tree, file)[name] in NOTICED for file, name in mutants)
        survivors += [name for file, name in mutants if results(tree, file)[name] not in NOTICED]
        print(f"{group:12} {len(mutants):8} {codes[True]:8} {codes[False]:9} {codes[True] / len(mutants):8.1%}")
    for name in survivors:
        print(f"\n{mutmut(tree, 'show', name).strip()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
