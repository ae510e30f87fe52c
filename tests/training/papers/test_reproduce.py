"""Published tables played again: the paper's figures, the same deals for all rows, and who is said to have played."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any, ClassVar

import pytest
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import side_of
from parlour.envs.core import ParlourError
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import OfflineModel
from parlour.training.cli import run
from parlour.training.papers import avalon_social_tables, avalon_tables, reproduce as reproducing
from parlour.training.papers.avalon_teams import RowGames
from parlour.training.papers.cells import Reproduction, TableCell, cell, printed, unprinted
from parlour.training.papers.report import report_of, verdict_of
from parlour.training.papers.reproduce import CONTENTS, TABLES, ReproductionSetting, place, reproduce
from parlour.training.play.runner import GameRunner
from parlour.training.statistics import Estimate

from tests.reference_data import paper_table

SMALL = ReproductionSetting(games=1, practice=1)


AVALON = [name for name in TABLES if name.startswith("avalon")]


@cache
def small(name: str) -> Reproduction:
    """A table of few games."""
    return reproduce(name, SMALL)


# -- the paper's figures ---------------------------------------------------------------------------------------

ROWS = {  # our row -> the rows of the papers' tables
    "full": ("Ours", "full"),
    "without analysis": ("w/o analysis",),
    "without plan": ("w/o plan",),
    "without action": ("w/o action",),
    "without strategy learning": ("w/o strategy learning",),
    "without improving the own strategy (IS)": ("w/o IS",),
    "without studying other roles (AO)": ("w/o AO",),
    "without analysis (AM)": ("w/o AM",),
    "all modules": ("all modules",),
    "all players": ("all players",),
    "teammates only": ("teammates only",),
    "adversaries only": ("adversaries only",),
}
FILES = {
    "avalon_table2_win_rates.csv": {"Table 2": "avalon-2"},
    "avalon_tables6_7_8_ablations.csv": {"Table 6": "avalon-6", "Table 7": "avalon-7", "Table 8": "avalon-8"},
}


@pytest.mark.parametrize("file", FILES)
def test_tables_of_win_rates_are_the_papers(file):
    ours = {key: value for key, (value, _) in printed().items() if key[0] in FILES[file].values()}
    theirs = {}
    for row in paper_table(file):
        name = next(ours_row for ours_row, given in ROWS.items() if row["method"] in given)
        key = (FILES[file][row["table"]], name, row["group"].removesuffix(" side"), row["metric"].replace("_", " "))
        theirs[key] = float(row["mean"])
    assert ours == theirs
    assert len(theirs) >= 10


def test_valid_responses_are_the_papers():
    ours = {key[1:3]: value for key, (value, _) in printed().items() if key[0] == "avalon-9"}
    theirs = {
        (r["method"], r["group"].replace("Average", "average")): float(r["mean"])
        for r in paper_table("avalon_table9_valid_response.csv")
    }
    assert ours == theirs
    for model in ("LLaMA2", "GPT-3.5"):
        roles = [value for (name, role), value in ours.items() if name == model and role != "average"]
        assert len(roles) == 5
        assert sum(roles) / 5 == pytest.approx(ours[model, "average"], abs=0.1)


def test_figures_of_the_text_are_the_papers():
    ours = sorted(value for key, (value, _) in printed().items() if key[0].startswith("avalon-fig"))
    assert ours == sorted(float(row["mean"]) for row in paper_table("avalon_fig2_and_text.csv"))
    assert printed()["avalon-fig2", "baseline", "evil", "FVR"] == (36.5, "mean of Morgana and Assassin")
    assert printed()["avalon-fig4", "agent", "Assassin", "camouflage"][0] == 15


@pytest.mark.nightly
def test_no_figure_of_the_paper_goes_unprinted():
    """Every figure in the file stands in some cell of its table."""
    for name in AVALON:
        table = small(name)
        shown = {(cell.row, cell.of, cell.measure): cell.paper for cell in table.cells if cell.paper is not None}
        assert shown == {key[1:]: value for key, (value, _) in printed().items() if key[0] == name}, name


def test_a_cell_has_the_papers_figure_or_none():
    assert cell("avalon-2", "full", "good", "WR", None).paper == 90
    assert cell("avalon-2", "full", "good", "QER", None).paper is None
    assert cell("avalon-fig2", "agent", "evil", "QER", None).note
    rows = unprinted("avalon-9", ("LLaMA2",))
    assert len(rows) == 6
    assert all(row.ours is None for row in rows)


def test_a_side_s_value_is_the_mean_of_its_roles_not_of_its_cards():
    """1 fail of 3 and 9 of 9: (33.3 + 100) / 2 = 66.7 %; pooled it would be 10 of 12, 83.3 %."""
    fails = {"Morgana": Estimate.rate(1, 3), "Assassin": Estimate.rate(9, 9)}
    of_side = avalon_social_tables._of_side(fails, ("Morgana", "Assassin"))
    assert of_side.value == pytest.approx(2 / 3)
    assert (
        avalon_social_tables._of_side(fails, ("Assassin", "Percival")).value == 1.0
    )  # a role without a card does not count
    assert avalon_social_tables._of_side({}, ("Morgana",)) is None


# -- our figures -----------------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("name", AVALON)
def test_every_table_can_be_made(name, capsys):
    table = small(name)
    assert table.name == name
    assert table.model == "offline"
    assert table.cells
    assert len({(cell.row, cell.of, cell.measure) for cell in table.cells}) == len(table.cells)
    for row in table.cells:
        assert row.ours is None or 0 <= row.ours.low <= row.ours.value <= row.ours.high <= 1
        assert row.measure != "WR" or (row.ours is not None and row.ours.n == 1)
    json.dumps(report_of(table, OfflineModel()).as_json(), allow_nan=False)
    report_of(table, OfflineModel()).show()
    output = capsys.readouterr().out
    assert "ours played by heuristics (no language model)" in " ".join(output.split())
    assert all(remark[:30] in " ".join(output.split()) for remark in table.remarks)


@pytest.fixture
def jobs(monkeypatch) -> list[tuple[str, Any]]:
    """All games that are played, with the row they belong to."""
    kept: list[tuple[str, Any]] = []
    real = GameRunner.play

    def play(runner: GameRunner, env: Any, given: Any, what: str) -> Any:
        kept.extend((what, job) for job in given)
        return real(runner, env, given, what)

    monkeypatch.setattr(GameRunner, "play", play)
    return kept


def test_the_agent_plays_one_side_as_a_team(jobs, tmp_path):
    reproduce("avalon-7", ReproductionSetting(games=2, practice=0, out=tmp_path))
    for what, job in jobs:
        transcript = replay.Transcript.read(job.transcript)
        names = [name for name, _ in job.players]
        assert list(transcript.header["players"].values()) == names
        roles = [transcript.game().role_names[role] for role in transcript.moves[0].args[:-1]]
        assert [name == "agent" for name in names] == [side_of(role) == "evil" for role in roles]
        assert what.endswith(", evil")
        assert sorted(names) == ["agent"] * 2 + ["baseline"] * 4
    assert len(list(tmp_path.rglob("*.jsonl"))) == 8
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 4


@pytest.mark.slow
def test_attitudes_are_shown_with_and_without_experience(jobs):
    """Figures 11 and 12 of the paper: the agent's roles alone, after practice and without any."""
    shown = {}
    for name in ("avalon-fig11", "avalon-fig12"):
        jobs.clear()
        shown[name] = reproduce(name, SMALL)
        agents = [make for _, job in jobs for who, make in job.players if who == "agent"]
        assert agents
        assert {bool(make.keywords["experience"].roles) for make in agents} == {name == "avalon-fig11"}
    (with_it, without), rows = shown.values(), [(cell.of, cell.measure) for cell in shown["avalon-fig11"].cells]
    assert rows == [(cell.of, cell.measure) for cell in without.cells]
    assert len(rows) == 2 * (3 * 4 + 5 + 4)  # a servant meets the other one, too
    assert {cell.row for cell in (*with_it.cells, *without.cells)} == {"agent"}
    assert with_it.title.endswith("with experience")
    assert without.title.endswith("without experience")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["avalon-fig4", "avalon-fig6"])
def test_offline_cells_that_only_a_model_fills_are_empty_and_say_so(name):
    made = small(name)
    filled = {cell.measure for cell in made.cells if cell.ours is not None}
    assert not filled & {"self-disclosure", "camouflage", "withholding", "shared in round 1"}
    assert bool(filled) == (name == "avalon-fig6")
    assert any(remark.startswith("Only a language model fills") for remark in made.remarks)
    assert name == "avalon-fig6" or "0 of 30 figures measured" in report_of(made, OfflineModel()).verdict


def test_a_win_rate_and_its_difference_by_hand():
    full = RowGames((True, True, True, False, True), ())
    less = RowGames((True, False, False, False, True), ())
    alone = avalon_tables._win_rate("avalon-2", "full", "good", full, None)
    assert alone.difference is None
    assert alone.paper == 90
    assert alone.ours == Estimate.rate(4, 5)
    # Wilson, 4 of 5: (0.8 + z2/10 -+ z sqrt(0.16/5 + z2/100)) / (1 + z2/5) with z = 1.96
    assert (alone.ours.low, alone.ours.high) == pytest.approx((0.3755, 0.9638), abs=1e-4)
    win_rate = avalon_tables._win_rate("avalon-2", "without analysis", "good", less, full)
    assert win_rate.ours == Estimate.rate(2, 5)
    assert win_rate.difference == Estimate.paired(less.won, full.won)
    assert (win_rate.difference.only_a, win_rate.difference.only_b, win_rate.difference.value) == (0, 2, -0.4)
    # -2/7; sqrt((4/7 - (2/7)^2) / 7) = 0.26451: 1.0801 standard errors
    assert win_rate.difference.p == pytest.approx(0.28009, abs=1e-4)


def test_rows_that_did_not_come_out_lower_are_named():
    def of(a: str, b: str) -> Any:
        won = [[letter == "w" for letter in games] for games in (a, b)]
        return cell("avalon-2", "without plan", "evil", "WR", Estimate.rate(1, 2), Estimate.paired(*won))

    assert avalon_tables._not_lower((of("l" * 40, "w" * 40),)) == []
    assert avalon_tables._not_lower((of("wl", "wl"),)) == ["without plan, evil: not lower (+0.0 points)."]
    assert avalon_tables._not_lower((of("ww", "wl"),)) == ["without plan, evil: not lower (+50.0 points)."]
    assert "within its interval" in avalon_tables._not_lower((of("ll", "wl"),))[0]


# -- the list of tables and figures ------------------------------------------------------------------------------

CAPTIONS = {
    "GRATR": ([1, 2, 3], range(1, 5)),
    "GRACE": ([], range(1, 6)),
    "Avalon": (range(1, 10), range(1, 13)),
    "Questum": (range(1, 13), range(1, 8)),
    "PLAYER*": ([1, 2, "A1", "A2", "A3", "A4", "A5"], range(1, 4)),
}
"""Numbers of the captions in the five papers: tables, figures."""


def test_every_table_and_figure_of_the_five_papers_is_listed_once():
    listed = Counter(
        f"{paper}, {item}"
        for paper, items in (place(name).split(", ") for name in CONTENTS)
        for item in items.split(" and ")
        if item != "ours"
    )
    papers = {f"{paper}, table {number}" for paper, (tables, _) in CAPTIONS.items() for number in tables}
    assert listed == Counter(
        papers | {f"{paper}, figure {k}" for paper, (_, figures) in CAPTIONS.items() for k in figures}
    )


def test_what_is_reproduced_has_a_table_and_what_has_none_says_what_it_needs():
    statuses = {name: said for name, _, _, said, _ in reproducing.listed()}
    assert {name for name, said in statuses.items() if said == "reproduced"} <= set(TABLES)
    assert {statuses[name] for name in TABLES if not CONTENTS[name].needs} == {"reproduced"}
    assert {said.partition(":")[0] for said in statuses.values()} == {
        "reproduced",
        "needs a model",
        "needs data",
        "shows no result",
    }
    with_figures = {table for table, *_ in printed()}  # whose figures are typed from the papers
    assert [name for name in with_figures if name in CONTENTS and statuses[name] == "shows no result"] == []


def test_the_command_lists_tables_and_figures(json_of):
    listed = json_of(["reproduce", "--list", "--json"])
    assert [row["name"] for row in listed[: len(CONTENTS)]] == list(CONTENTS)
    assert listed[0] == {
        "name": "avalon-1",
        "place": "Avalon, table 1",
        "content": "related work beside the paper's",
        "status": "shows no result",
        "games + practice": "",
    }


def test_a_quick_result_names_itself_and_is_not_compared():
    made = table_of_rows(whole=20, most=18)
    quick = made.as_quick(3)
    assert quick.title == "a table (quick run: 3 games)"
    assert [cell.paper for cell in quick.cells] == [None, None]
    assert [cell.ours for cell in quick.cells] == [cell.ours for cell in made.cells]
    assert verdict_of(quick, OfflineModel()).startswith("A quick run, played by heuristics")
    assert "figures of the paper lie" in verdict_of(made, OfflineModel())


@pytest.mark.slow
def test_the_command_makes_a_quick_run(json_of):
    output = json_of(["reproduce", "avalon-8", "--quick", "--json"])
    assert output["title"].endswith("(quick run: 2 games)")
    assert {cell["paper"] for cell in output["cells"]} == {None}
    assert {cell["ours"]["n"] for cell in output["cells"] if cell["measure"] == "WR"} == {2}


# -- the command -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_prints_a_table(json_of, output_of):
    shown = " ".join(output_of(["reproduce", "avalon-8", "--games", "2"]).split())
    for word in (
        "heuristics (no language model)",
        "teammates only",
        "gpt-3.5-turbo-16k",
        "2 held-out deals",
    ):
        assert word in shown
    output = json_of(["reproduce", "avalon-8", "--games", "1", "--json"])
    assert output["model"] == "offline"
    assert len(output["cells"]) == 15


def test_the_title_names_a_language_model_only_if_one_played(capsys):
    class Language(OfflineModel):
        name = "some-model"
        is_language_model: ClassVar[bool] = True

    reproduction = Reproduction("avalon-8", "Title", "some-model", (), ())
    report_of(reproduction, Language()).show()
    assert "ours played by some-model" in " ".join(capsys.readouterr().out.split())
    report_of(reproduction, OfflineModel()).show()
    shown = " ".join(capsys.readouterr().out.split())
    assert "ours played by heuristics (no language model)" in shown
    assert "some-model" not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["avalon-3"],
        ["avalon-7", "--games", "0"],
        ["avalon-7", "--against", "me"],
        ["avalon-7", "--games", "1", "--practice", "0", "--seed", "2147483648"],  # no deal is left
        ["avalon-7", "--model", ""],
        ["avalon-7", "--ours", "gratr:gamma=0.02"],  # which this table does not read
        ["avalon-7", "--games", "1", "--practice", "-1"],
        [],
    ],
)
def test_what_cannot_be_reproduced(arguments, capsys):
    assert run(["reproduce", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    if arguments == ["avalon-3"]:
        assert "avalon-fig6" in captured.err
        assert len(captured.err.strip().splitlines()) == 1
    with pytest.raises(ParlourError, match="table 'x' is not accepted"):
        reproducing.reproduce("x", SMALL)


def table_of_rows(**own: int) -> Reproduction:
    """Rows of 4 games, 3 of them won, each with so many of 20 decisions its player's own; differences are from the first."""
    rows = list(own)
    apart = Estimate.paired([True, True, True, False], [False, True, False, True])
    cells = tuple(
        TableCell(row, "good", "wins", 70.0, Estimate.rate(3, 4), None if row == rows[0] else apart) for row in rows
    )
    players = {row: Decisions(first=count, heuristic={"invalid": 20 - count}) for row, count in own.items()}
    return Reproduction("x-1", "a table", "some-model", cells, (), players)


def test_a_reproduction_marks_figures_below_95_per_cent_and_shows_none_below_half(capsys):
    report_of(table_of_rows(whole=20, most=18, few=9), OfflineModel()).show()
    output = capsys.readouterr().out
    whole, most, few = (
        next(line for line in output.splitlines() if f" {row} " in line) for row in ("whole", "most", "few")
    )
    assert "†" not in whole
    assert "75.0%" in whole
    assert most.count("†") >= 3  # the row, its figure, its difference
    assert "75.0%" in most
    assert "75.0%" not in few


def test_the_verdict_of_a_reproduction_without_half_own_decisions_has_no_figure():
    said = verdict_of(table_of_rows(whole=20, few=9), OfflineModel())
    assert said == "No score: few decided 9 of 20 moves itself."
    doubted = verdict_of(table_of_rows(whole=20, most=18), OfflineModel())
    assert doubted.startswith("2 of 2 figures of the paper lie in our 95 % intervals")
    assert doubted.endswith("Only 90.0 % of the decisions of most were its own.")
