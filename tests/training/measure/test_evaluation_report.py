"""`parlour evaluate --out`: what stands on standard output stands in the report, and every game besides."""

from __future__ import annotations

import csv
import json

import pytest
from parlour.training.cli import run

COMMAND = ["evaluate", "template_v0", "--policy", "heuristic", "--policy", "random", "--games", "4"]


def test_the_folder_holds_what_is_printed_and_every_game(tmp_path, capsys):
    folder, games = tmp_path / "run", tmp_path / "games.csv"
    assert run([*COMMAND, "--out", str(folder), "--table", str(games)]) == 0
    text = (folder / "report.md").read_text("utf-8")
    shown = " ".join(capsys.readouterr().out.split())
    assert text.startswith("# Win rates in template_v0\n\n> ")
    assert "## Same deals, paired (95 % interval; exact McNemar test)" in text
    for line in text.splitlines():
        if line.startswith("| heuristic | all |"):
            assert " ".join(line.split("|")[3].split()) in shown
    assert text.split("> ", 1)[1].partition("\n")[0] in shown
    rows = list(csv.DictReader((folder / "games.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 8  # two players, four deals each
    assert games.read_bytes() == (folder / "games.csv").read_bytes()
    again = tmp_path / "again"
    assert run([*COMMAND, "--out", str(again), "--json"]) == 0
    assert (again / "report.md").read_text("utf-8") == text  # the same seed writes the same report
    assert json.loads((again / "summary.json").read_text("utf-8")) == json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("option", ["table", "out", "against", "design", "seat"])
def test_what_best_responses_would_not_read_is_refused(option, tmp_path, capsys):
    values = {"against": "random", "design": "team", "seat": "0"}
    assert run(["evaluate", "--best-response", "all", f"--{option}", values.get(option, str(tmp_path / "x"))]) == 2
    assert f"accepted: --{option} without it" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["minutes", "steps"])
def test_a_budget_goes_with_best_responses_and_only_one_does(option, capsys, error_of):
    assert f"--{option} goes with --best-response" in error_of(["evaluate", f"--{option}", "1000"])
    assert run(["evaluate", "--best-response", "all", "--minutes", "1", "--steps", "1000"]) == 2
    assert "--minutes and --steps are not accepted together" in capsys.readouterr().err
