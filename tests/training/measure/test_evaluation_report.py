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
    assert "## Same deals, paired (95 % interval and its test)" in text
    for line in text.splitlines():
        if line.startswith("| heuristic | all |"):
            assert " ".join(line.split("|")[3].split()) in shown
    assert text.split("> ", 1)[1].partition("\n")[0] in shown
    rows = list(csv.DictReader((folder / "games.csv").read_text("utf-8").splitlines()))
    assert len(rows) == 8  # two players, four deals each
    assert games.read_bytes() == (folder / "games.csv").read_bytes()
    for row in rows:
        header = json.loads((folder / row["file"]).read_text("utf-8").splitlines()[0])
        assert (header["seed"], header["players"][f"player_{row['seat']}"]) == (int(row["seed"]), row["policy"])
    again = tmp_path / "again"
    assert run([*COMMAND, "--out", str(again), "--json"]) == 0
    assert (again / "report.md").read_text("utf-8") == text  # the same seed writes the same report
    assert json.loads((again / "summary.json").read_text("utf-8")) == json.loads(capsys.readouterr().out)


def test_it_names_a_game_that_the_first_player_lost(tmp_path, output_of):
    folder = tmp_path / "run"
    out = output_of(["evaluate", "avalon_v0", "--policy", "random", "--games", "6", "--out", str(folder)])
    rows = list(csv.DictReader((folder / "games.csv").read_text("utf-8").splitlines()))
    lost = [row["file"] for row in rows if row["policy"] == "random" and row["won"] == "False"]
    assert lost
    assert f"parlour replay {folder}/{lost[0]} --html" in out.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("evaluate --design team --seat 0", "--seat goes with --design single"),
        ("evaluate --design team --policy random --policy heuristic", "accepted with --design team: one"),
        ("evaluate strangers --policy random", "accepted: --family PLAYER"),
        ("evaluate strangers --family random" + 3 * " --policy random", "accepted: one, or two to compare"),
        ("evaluate strangers --crossplay" + 2 * " --family random", "family 'random' is not accepted"),
        ("evaluate best-response --minutes 1 --steps 1000", "minutes and steps are not accepted together"),
        ("evaluate best-response --side nobody", "side 'nobody' is not accepted; accepted: all, good, evil"),
        ("evaluate best-response --out x", "No such option: --out"),
    ],
)
def test_each_way_to_measure_says_what_it_does_not_accept(words, why, error_of):
    assert why in error_of(words.split())


@pytest.mark.parametrize(
    ("game", "second"),
    [
        ("template_v0", "parlour arena template_v0 --policy random --policy heuristic"),
        # one side: nobody to meet in an arena, so four times as many deals, for half as wide an interval
        (
            "mediated_qa_v0",
            "parlour evaluate mediated_qa_v0 --against heuristic --design single --policy random --games 8",
        ),
    ],
)
def test_it_ends_with_two_commands_that_fit_the_game(game, second, output_of):
    lines = output_of(["evaluate", game, "--policy", "random", "--games", "2"]).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("Next: "))
    assert lines[first].endswith(" --policy random --out runs/evaluate")
    assert lines[first + 1].strip() == second
