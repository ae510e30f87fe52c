"""A report in all its forms: terminal, Markdown, page, CSV, JSON."""

from __future__ import annotations

import json

from parlour.training.report.report import Picture, Report
from parlour.training.report.result_table import Column, ResultTable, plain_table
from parlour.training.statistics import Estimate

RATES = ResultTable(
    "Rates",
    (Column("player"), Column("rate", ".0%")),
    (("heuristic", Estimate(0.5, 0.4, 0.6, 100)), ("<random>", None)),
    note="Held-out deals.",
    file="rates.csv",
)
GAMES = plain_table("Games", ("deal", "won"), [(1, True)], file="games.csv")
REPORT = Report(
    "Who wins", "The heuristic wins half.", (RATES, ("one", "two")), ("100 deals.", GAMES), values={"rate": 0.5}
)


def test_a_folder_has_every_part_in_markdown_csv_and_json(tmp_path):
    REPORT.write(tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.startswith("# Who wins\n\n> The heuristic wins half.\n\n## Rates\n\n| player | rate |\n")
    assert "| heuristic | 50%  [40%, 60%] |" in text
    assert "\n\nHeld-out deals.\n\n- one\n- two\n\n100 deals.\n\n## Games\n" in text
    assert (tmp_path / "rates.csv").read_text() == (
        "player,rate,rate_low,rate_high\nheuristic,0.5,0.4,0.6\n<random>,,,\n"
    )
    assert (tmp_path / "games.csv").read_text() == "deal,won\n1,True\n"
    assert json.loads((tmp_path / "summary.json").read_text()) == {"rate": 0.5, "verdict": "The heuristic wins half."}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.csv", "rates.csv", "report.md", "summary.json"]


def test_a_terminal_shows_parts_and_the_verdict_last_and_no_details(capsys):
    REPORT.show()
    shown = capsys.readouterr().out
    assert "heuristic" in shown
    assert "Held-out deals." in shown
    assert "one\ntwo\nThe heuristic wins half.\n" in shown
    assert "100 deals." not in shown


def test_a_page_escapes_what_it_shows_and_holds_its_picture(tmp_path):
    picture = Picture(lambda path: path.write_bytes(b"drawn"), "Curve <1>")
    Report("Title", "Said.", (RATES,), picture=picture).write(tmp_path, page=True)
    page = (tmp_path / "report.html").read_text()
    assert "&lt;random&gt;" in page
    assert "<random>" not in page
    assert 'alt="Curve &lt;1&gt;" src="data:image/png;base64,ZHJhd24="' in page  # "drawn"
    assert "![Curve <1>](curve.png)" in (tmp_path / "report.md").read_text()


def test_values_that_take_long_are_made_when_they_are_asked_for():
    assert Report("", "Said.", values=lambda: {"a": 1}).as_json() == {"a": 1, "verdict": "Said."}
    assert Report("", "Said.", values=[1]).as_json() == [1]
