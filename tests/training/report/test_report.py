"""A report in all its forms: terminal, Markdown, page, CSV, JSON."""

from __future__ import annotations

import json

from parlour.training.report.report import Code, Picture, Report
from parlour.training.report.result_table import Column, Figure, ResultTable
from parlour.training.statistics import Estimate

RATES = ResultTable(
    "Rates",
    (Column("player"), Column("rate", ".0%")),
    (("heuristic", Estimate(0.5, 0.4, 0.6, 100)), ("<random>", None)),
    note="Held-out deals.",
    file="rates.csv",
)
GAMES = ResultTable.plain("Games", ("deal", "won"), [(1, True)], file="games.csv")
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


def test_files_have_the_opening_above_the_picture_and_a_terminal_does_not(tmp_path, capsys):
    picture = Picture(lambda path: path.write_bytes(b"drawn"), "Curve")
    first = ("First.", Code("answer = a < b\nprint(answer)"), GAMES)
    report = Report("Title", "Said.", ("Part.",), picture=picture, opening=first)
    report.write(tmp_path, page=True)
    text, page = (tmp_path / "report.md").read_text(), (tmp_path / "report.html").read_text()
    assert "First.\n\n```python\nanswer = a < b\nprint(answer)\n```\n\n## Games" in text
    assert "<pre>answer = a &lt; b\nprint(answer)</pre>" in page
    for written in (text, page):
        places = [written.index(word) for word in ("First.", "answer = ", "Games", "Curve", "Part.")]
        assert places == sorted(places)
    assert (tmp_path / "games.csv").exists()
    report.show()
    assert capsys.readouterr().out == "Part.\nSaid.\n"
    Report("", parts=(Code("a = 1\nb = 2"),)).show()
    assert capsys.readouterr().out == "a = 1\nb = 2\n"


def test_values_that_take_long_are_made_when_they_are_asked_for():
    assert Report("", "Said.", values=lambda: {"a": 1}).as_json() == {"a": 1, "verdict": "Said."}
    assert Report("", "Said.", values=[1]).as_json() == [1]


def test_a_figure_is_marked_or_in_a_unit_of_its_own_and_files_have_its_value(tmp_path):
    rate = Estimate(0.5, 0.4, 0.6, 100)
    cells = (
        Figure(rate, mark="!"),
        Figure(3.0, Column("", ".2f", unit=" s"), before="of "),
        Figure(rate, mark="!", hidden=True),
    )
    table = ResultTable("Rates", (Column("rate", ".0%"),), tuple((cell,) for cell in cells), file="rates.csv")
    assert [text for (text,) in table.texts()] == ["50%  [40%, 60%] !", "of 3.00 s", "!"]
    values = [row["rate"] for row in table.as_json()]
    assert values == [{"value": 0.5, "low": 0.4, "high": 0.6}, 3.0, {"value": 0.5, "low": 0.4, "high": 0.6}]
    Report("Title", data=(table,)).write(tmp_path)
    assert (tmp_path / "rates.csv").read_text() == "rate,rate_low,rate_high\n0.5,0.4,0.6\n3.0,,\n0.5,0.4,0.6\n"
    assert "Rates" not in (tmp_path / "report.md").read_text()  # data are CSV alone


def test_sentences_stay_lines_and_values_may_hold_estimates(capsys):
    report = Report("", parts=(("one\ntwo",),), values={"rate": Estimate(0.5, n=2, hits=1)})
    report.print(as_json=False)
    assert capsys.readouterr().out == "one two\n"
    report.print(as_json=True)
    assert json.loads(capsys.readouterr().out)["rate"] == {"hits": 1, "n": 2, "rate": 0.5, "low": None, "high": None}
