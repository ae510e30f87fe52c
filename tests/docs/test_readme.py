"""README and the pages it leads to say what is true: their loops run as printed, their tables name what there is."""

from __future__ import annotations

import re

import pytest
from parlour.envs import registry
from parlour.policies import names_of

from tests import ROOT

README = (ROOT / "README.md").read_text()
_PAGES = [
    README,
    *(
        (ROOT / "docs" / name).read_text()
        for name in ("reference/environments.md", "howto/endpoints.md", "reference/players.md")
    ),
]
(LOOP,), (SEAT, TABLES), (AGENTS_LOOP,), _ = (re.findall(r"```python\n(.*?)```", page, re.DOTALL) for page in _PAGES)
PLAYERS = _PAGES[-1]
BUILT = {"_build", "generated", "__pycache__"}
"""Folders below docs/ that `scripts/docs` leaves, and that are not of the repository."""


def test_it_has_at_most_900_words_and_130_lines():
    assert len(README.split()) <= 900
    assert len(README.splitlines()) <= 130


def test_the_loop_runs_as_printed(capsys):
    assert len(LOOP.splitlines()) <= 18
    exec(compile(LOOP, "README.md", "exec"), {})
    lines = capsys.readouterr().out.split()
    assert lines[::2] == [f"player_{k}" for k in range(6)]
    assert {float(r) for r in lines[1::2]} == {1.0, -1.0}


def test_the_seat_of_gymnasium_runs_as_printed(capsys):
    exec(compile(SEAT, "docs/reference/environments.md", "exec"), {})
    match = re.fullmatch(r"\(4, \d+\) \(4, (\d+)\)\n", capsys.readouterr().out)
    assert match is not None
    assert int(match[1]) == len(registry["avalon_v0"].raw_env(num_players=5).game.catalogue)


def test_many_tables_run_as_printed(capsys):
    pytest.importorskip("numba")
    exec(compile(TABLES, "docs/reference/environments.md", "exec"), {})
    shape, mean = capsys.readouterr().out.rsplit(" ", 1)
    assert shape == "(64, 3)"  # tables, features
    assert -1 < float(mean) < 1  # the guesses of one face, against keepers who say anything


def test_the_agents_loop_runs_as_printed(capsys):
    exec(compile(AGENTS_LOOP, "docs/howto/endpoints.md", "exec"), {})
    assert re.fullmatch(r"(good|evil) wins by (quests|assassination)\n", capsys.readouterr().out)


def test_the_result_has_the_numbers_of_the_card():
    result = README[README.index("## One result") : README.index("![Strength")]
    card = (ROOT / "docs" / "cards" / "avalon-6-talk.md").read_text().replace("+", "")
    figures = re.findall(r"([\d.]+) points\s+\[([\d.]+), ([\d.]+)\]", result)
    assert len(figures) == 2
    assert all(f"| {value} [{low}, {high}]" in card for value, low, high in figures)


def test_the_tables_name_every_game_and_policy():
    assert [name for name in registry if f"| `{name}` |" not in README] == []
    players = names_of("plain", "asking", "modules")
    assert [name for name in players if f"| `{name}` |" not in PLAYERS and f"| `{name}:" not in PLAYERS] == []


def test_both_scripts_are_there_and_ci_calls_the_test_command():
    for script in ("scripts/demo", "scripts/test", ".ci/run"):
        assert (ROOT / script).stat().st_mode & 0o111
    assert "scripts/test" in (ROOT / ".ci/run").read_text()


def test_the_repository_names_no_path_of_a_machine():
    own = [
        *(ROOT / name for name in ("CITATION.cff", "Dockerfile", "MANIFEST.in", ".dockerignore")),
        *ROOT.glob("*.md"),
        *ROOT.glob("*.toml"),
        *(p for d in (".github", ".devcontainer") for p in (ROOT / d).rglob("*") if p.is_file()),
        *(p for p in (ROOT / "docs").rglob("*") if p.is_file() and not BUILT & set(p.relative_to(ROOT).parts)),
        *(p for p in (ROOT / "scripts").iterdir() if p.is_file()),
        *(p for d in ("envs", "wrappers", "policies", "training", "tests") for p in (ROOT / d).rglob("*.py")),
    ]
    for path in own:
        assert not re.search(
            r"/(?:home|root|work|Users)/\w",
            path.read_bytes().decode(errors="replace").replace(r"/(?:home|root|work|Users)/", ""),
        ), path
