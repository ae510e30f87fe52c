"""`parlour evaluate --html`: what stands on standard output stands in the page, and every game besides."""

from __future__ import annotations

import csv

import pytest
from parlour.training.cli import run

COMMAND = ["evaluate", "template_v0", "--policy", "heuristic", "--policy", "random", "--games", "4"]


def test_the_page_holds_rates_comparisons_the_picture_and_every_game(tmp_path, capsys):
    page, games = tmp_path / "report.html", tmp_path / "games.csv"
    assert run([*COMMAND, "--html", str(page), "--table", str(games)]) == 0
    text = page.read_text("utf-8")
    assert "<h1>Win rates in template_v0</h1>" in text
    assert "Same deals, paired (95 % interval; exact McNemar test)" in text
    rows = list(csv.DictReader(games.read_text("utf-8").splitlines()))
    assert len(rows) == 8  # two players, four deals each
    listed = text.split("One row for each game of a measured player", 1)[1]
    assert listed.count("<tr>") == 1 + len(rows)
    # one mark for each rate in the table, in the wide picture and in the one for phones
    rates = text.split("Win rates (95 % Wilson interval)", 1)[1].split("</table>", 1)[0]
    assert text.count("<circle ") == 2 * rates.count(" n=")
    assert "heuristic" in capsys.readouterr().out
    # the same seed writes the same page
    assert run([*COMMAND, "--html", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_text("utf-8") == text


@pytest.mark.parametrize("where", ["", "nowhere/report.html"])
def test_a_page_that_cannot_be_written_is_refused_before_the_first_game(where, tmp_path, capsys):
    assert run([*COMMAND, "--html", str(tmp_path / where)]) == 2
    captured = capsys.readouterr()
    assert "accepted: a file in a folder that exists" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("option", ["html", "table", "out", "against", "design", "seat"])
def test_what_best_responses_would_not_read_is_refused(option, tmp_path, capsys):
    values = {"against": "random", "design": "team", "seat": "0"}
    assert run(["evaluate", "--best-response", "all", f"--{option}", values.get(option, str(tmp_path / "x"))]) == 2
    assert f"accepted: --{option} without it" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["minutes", "steps"])
def test_a_budget_goes_with_best_responses_and_only_one_does(option, capsys, error_of):
    assert f"--{option} goes with --best-response" in error_of(["evaluate", f"--{option}", "1000"])
    assert run(["evaluate", "--best-response", "all", "--minutes", "1", "--steps", "1000"]) == 2
    assert "--minutes and --steps are not accepted together" in capsys.readouterr().err
