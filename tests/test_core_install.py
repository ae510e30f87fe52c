"""`pip install parlour` without extras: what needs none works, and what needs one says which in one line.

Every module of an installed distribution that the core does not need, directly or through others, is hidden from a process.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

BEHIND = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None
hidden = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Hidden())
from parlour.training.cli import run
codes = [run(words.split()) for words in sys.argv[1:]]
sys.exit(max(codes))
"""


def needed(distribution, names):
    """The distributions that one needs without extras, added to `found`."""
    name = canonicalize_name(distribution)
    if name in names:
        return names
    names.add(name)
    try:
        wanted = requires(distribution) or []
    except PackageNotFoundError:  # for another platform
        return names
    for requirement in map(Requirement, wanted):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed(requirement.name, names)
    return names


@pytest.fixture(scope="module")
def hidden():
    core = needed("parlour", set())
    top = packages_distributions()
    modules = {m for m, dists in top.items() if not {canonicalize_name(d) for d in dists} & core}
    assert {"torch", "numba", "matplotlib", "optuna"} <= modules
    assert not {"numpy", "pettingzoo", "parlour"} & modules
    return modules


def answered(hidden, *commands):
    return subprocess.run(
        [sys.executable, "-c", BEHIND, ",".join(sorted(hidden)), *commands], capture_output=True, text=True, timeout=300
    )


def test_games_are_listed_played_measured_and_shown_without_extras(hidden, tmp_path):
    done = answered(
        hidden,
        "list",
        f"play template_v0 --out {tmp_path}/games",
        f"replay {tmp_path}/games/template_v0-1.jsonl",
        "evaluate template_v0 --games 4",
        "list questions",
        "train seat --help",
        "reproduce --help",
    )
    assert done.returncode == 0, done.stderr
    assert "avalon_v0" in done.stdout


@pytest.mark.parametrize(
    ("command", "extra"),
    [("train seat avalon_v0", "train"), ("train selfplay avalon_v0", "train"), ("serve endpoint", "serve")],
)
def test_a_command_that_needs_an_extra_names_it_in_one_line(hidden, command, extra, tmp_path):
    done = answered(hidden, command if extra == "serve" else f"{command} --out {tmp_path}/run")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f'pip install -c constraints.txt -e ".[{extra}]" ' in done.stderr
