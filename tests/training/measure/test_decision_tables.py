"""Whose decisions a result rests on, as tables show it (`parlour.training.measure.decision_tables`): every number by hand."""

from __future__ import annotations

from dataclasses import replace

from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.decision_tables import (
    ASKED,
    MEANING,
    PAPER,
    TOOK,
    WHOSE,
    decision_parts,
    decision_tables,
    figure,
    no_result,
)
from parlour.training.measure.evaluate import Comparison, DecisionShare, Evaluation
from parlour.training.measure.evaluation_tables import comparison_table, rate_table
from parlour.training.report.result_table import Column, cell_text
from parlour.training.report.verdicts import SIGN, DecidedBy
from parlour.training.statistics import Estimate

# 20 decisions: 12 at the first reply, 4 at the second, 3 by the heuristic, 1 by the table: 16 of 20 its own
CHAT = Decisions(
    first=12,
    again=4,
    heuristic={"invalid": 2, "timeout": 1},
    replaced={"default": 1},
    talk=7,
    refused={"illegal": 5},
    questions={"chat": Decisions(first=11, again=4, heuristic={"invalid": 2}), "vote": Decisions(first=3)},
    models=("small at a.example", "large at b.example"),
    served=("small-1",),
    requests=24,
    prompt=12_000,
    cached=3_000,
    completion=800,
    characters=50_000,
    shared=40_000,
    dollars=0.12345,
    cut=6,
    seconds=12.34,
    dropped=("seed", "top_p"),
)
PLAIN = Decisions(first=9)


def test_the_table_of_decisions_tells_each_number_once():
    table = decision_tables({"chat": CHAT, "random": PLAIN})[0]
    shown = tuple(column for column in WHOSE if column.heading != PAPER)  # no rule of a paper decided anything
    assert (table.title, table.columns) == ("Decisions", shown)
    assert [dict(zip(table.headings, row, strict=True)) for row in table.texts()] == [
        {
            "player": f"chat {SIGN}",  # 4 of 20 were not its own
            "decisions": "20",
            "its own": "80.0 %",
            "at once": "12",
            "asked again": "4",
            "heuristic": "3 (invalid 2, timeout 1)",
            "by the table": "1 (default 1)",
            "refused words": "5 (illegal 5)",
            "talk": "7",
        },
        {
            **dict.fromkeys(("heuristic", "by the table", "refused words", "asked again", "talk"), "0"),
            "player": "random",
            "decisions": "9",
            "its own": "100.0 %",
            "at once": "9",
        },
    ]


def test_the_table_of_what_models_took_has_those_that_were_called():
    _, table, _ = decision_tables({"random": PLAIN, "chat": CHAT})
    assert (table.title, table.columns) == ("What the models took", TOOK)
    assert [dict(zip(table.headings, row, strict=True)) for row in table.texts()] == [
        {
            "player": "chat",
            "model": "small at a.example, large at b.example",
            "served": "small-1",
            "requests": "24",
            "tokens in": "12,000",
            "cached": "3,000 (25.0 %)",
            "out": "800",
            "begin alike": "80.0 %",
            "dollars": "0.1235",
            "seconds": "12.3",
            "cut": "6",
            "dropped": "seed, top_p",
        }
    ]


def test_what_is_unknown_or_did_not_happen_is_a_dash():
    unknown = replace(
        CHAT, dollars=None, served=(), dropped=(), seconds=0.0, prompt=0, cached=0, characters=0, shared=0
    )
    table = decision_tables({"chat": unknown})[1]
    (row,) = table.texts()
    cells = dict(zip(table.headings, row, strict=True))
    assert cells["dollars"] == "unknown"
    assert [cells[name] for name in ("served", "dropped", "seconds", "begin alike")] == ["-"] * 4
    assert cells["cached"] == "0 (-)"


def test_questions_are_told_by_player_and_kind():
    _, _, table = decision_tables({"chat": CHAT})
    assert (table.title, table.columns) == ("Questions by kind", ASKED[:-1])
    assert table.texts() == [
        ("chat", "chat", "17", "11", "4", "2 (invalid 2)"),
        ("chat", "vote", "3", "3", "0", "0"),
    ]


def test_long_cells_such_as_names_of_models_wrap_in_a_terminal():
    tables = decision_tables({"chat": CHAT})
    assert {table.title: table.wrap for table in tables} == dict.fromkeys(
        ("Decisions", "What the models took", "Questions by kind"), True
    )


def test_players_that_ask_nobody_and_decide_all_have_no_table():
    assert decision_tables({"random": PLAIN}) == []
    assert decision_tables({}) == []


def test_a_replaced_decision_a_refused_word_or_a_question_makes_a_table():
    for counts in (
        replace(PLAIN, replaced={"default": 1}),
        replace(PLAIN, refused={"illegal": 1}),
        replace(PLAIN, questions={"chat": Decisions(first=1)}),
    ):
        assert [table.title for table in decision_tables({"random": PLAIN, "other": counts})] == ["Decisions"]


def test_a_heuristic_in_a_models_place_shows_what_was_called_even_without_a_reply():
    fallen = replace(PLAIN, questions={"chat": Decisions(heuristic={"refused": 2})})
    titles = [table.title for table in decision_tables({"chat": fallen})]
    assert titles == ["Decisions", "What the models took", "Questions by kind"]


def test_a_kind_of_question_that_the_model_never_answered_is_a_warning():
    """The last question of a turn decides it: a player's decisions may be its own where all that prepares them fell back."""
    prepared = Decisions(heuristic={"refused": 7})
    fallen = replace(PLAIN, questions={"mirror.look": prepared, "act": Decisions(first=9)})
    _, _, _, warning = decision_parts({"mirror": fallen, "random": PLAIN})
    assert "mirror.look" in warning
    assert "7 (refused 7)" in warning
    answered = replace(fallen, questions={"mirror.look": prepared + Decisions(again=1)})
    assert all(not isinstance(part, str) for part in decision_parts({"mirror": answered}))
    offline = replace(PLAIN, questions={"mirror.look": Decisions(first=7)})  # nobody stood in for a model
    assert all(not isinstance(part, str) for part in decision_parts({"mirror": offline}))


def test_more_than_a_twentieth_marks_a_player():
    assert DecidedBy("chat", 95, 100).marked == "chat"  # 5 of 100 are a twentieth
    assert DecidedBy("chat", 94, 100).marked == f"chat {SIGN}"
    assert DecidedBy("chat", 0, 0).marked == "chat"
    assert MEANING.startswith(f"{SIGN} more than 5%")


def test_a_figure_below_95_per_cent_is_marked_and_below_half_not_shown():
    def shown(*behind: tuple[int, int]) -> str:
        return cell_text(figure(3, *behind, before="first: "), Column("", "+d", unit=" points"))

    assert shown((95, 100), (0, 0)) == "first: +3 points"
    assert shown((95, 100), (94, 100)) == f"first: +3 points {SIGN}"
    assert shown((50, 100)) == f"first: +3 points {SIGN}"
    assert shown((49, 100), (100, 100)) == f"first: {SIGN}"


def test_the_tables_of_an_evaluation_mark_each_figure_and_show_none_below_half():
    own = {"a": {"all": DecisionShare(18, 20)}, "b": {"all": DecisionShare(9, 20)}, "c": {"all": DecisionShare(20, 20)}}
    rates = {name: {"all": Estimate.rate(3, 4)} for name in own}
    pairs = tuple(Comparison(a, b, "all", Estimate.paired([True, True], [False, True])) for a, b in ("ca", "cb"))
    shown = [row[-1] for row in rate_table(Evaluation("team", {}, (), rates, pairs, own)).texts()]
    assert [cell[:7] for cell in shown] == [" 75.0% ", SIGN, " 75.0% "]
    assert [cell.endswith(SIGN) for cell in shown] == [True, True, False]
    marked_, refused = comparison_table(Evaluation("team", {}, (), rates, pairs, own)).texts()
    assert "+50.0 points" in marked_[2]
    assert marked_[2].endswith(SIGN)
    assert marked_[3] == f"no difference shown {SIGN}"
    assert "points" not in refused[2]
    assert refused[3] == SIGN


def test_no_result_names_each_player_once():
    rows = [("a", 1, 2), ("b", 10, 10), ("c", 0, 4), ("a", 1, 2)]
    assert no_result(rows) == f"{SIGN} no result of a (50.0 % its own decisions), nor of c (0.0 % its own decisions): "
    assert no_result([("b", 10, 10)]) == ""


def test_a_comparison_rests_on_the_decisions_of_both_in_its_part():
    own = {"a": {"all": DecisionShare(5, 10), "good": DecisionShare(3, 4)}, "b": {"all": DecisionShare(9, 9)}}
    whole, part = (Comparison("a", "b", side, Estimate.paired([True], [False])) for side in ("all", "good"))
    report = Evaluation("team", {"game": "avalon_v0"}, (), {}, (whole, part), own)
    assert report.rests_on(whole) == [("a", 5, 10), ("b", 9, 9)]
    assert report.rests_on(part) == [("a", 3, 4), ("b", 0, 0)]  # nothing is known of B's
    assert [comparison["own"] for comparison in report.as_json()["comparisons"]] == [
        {"a": {"own": 5, "decisions": 10}, "b": {"own": 9, "decisions": 9}},
        {"a": {"own": 3, "decisions": 4}, "b": {"own": 0, "decisions": 0}},
    ]
