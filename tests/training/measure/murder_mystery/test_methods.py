"""That a planner plays prose by score is said wherever it is seated."""

from __future__ import annotations

import pytest
from parlour.training.cli import run

from tests.conftest import CASES

PROSE, FACTS = (f"case={CASES / name}" for name in ("letter_en.json", "tower_en.json"))


@pytest.mark.parametrize(
    ("policy", "case", "said"),
    [
        ("questum", PROSE, "parlour: note: questum: 1 of 1 cases are prose"),
        ("questum:mode=score", PROSE, ""),
        ("heuristic", PROSE, ""),
        ("questum", FACTS, ""),
    ],
)
def test_who_plays_prose_with_a_planner_reads_what_it_does_there(policy, case, said, capsys):
    words = ["play", "murder_mystery_v0", "--policy", policy, "--set", "rounds=1", "--set"]
    assert run([*words, case, "--json"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "prose" in line]
    assert [line.partition(" and state")[0] for line in lines] == [said] * bool(said)
