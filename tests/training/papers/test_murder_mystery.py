"""The tables of Questum and PLAYER*: the papers' figures as printed, ours beside them, the same cases in every row."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.case import dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies.agents.murder_mystery.seat_memory import HASHING, SeatMemory
from parlour.policies.llm.model import OfflineModel
from parlour.policies.retrieval.embedders import HashingEmbedder
from parlour.training.measure.murder_mystery import games, result_store
from parlour.training.measure.murder_mystery.games import CaseJob, CaseResult, CaseSetting, generated, play_case
from parlour.training.papers import questum, questum_games
from parlour.training.papers.cells import Reproduction, printed
from parlour.training.papers.questum_games import MysterySetting
from parlour.training.papers.reproduce import reproduce
from parlour.training.play.seeds import HELD_OUT

from tests.reference_data import paper_table, reference

SETTING = MysterySetting(games=2, repetitions=1)


def small(setting: MysterySetting) -> list[tuple[str, int]]:
    """Cases with four players, as many as wanted."""
    return [(f"seed:{seed}:en:4:1", seed) for seed in range(setting.games)]


@cache
def once(job: CaseJob) -> CaseResult:
    return play_case(job, OfflineModel())


@cache
def made(name: str) -> Reproduction:
    """A table on two small cases; games that several tables have in common are played once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questum_games, "cases_of", small)
        patch.setattr(questum_games, "play_all", lambda jobs, *_, **__: [once(job) for job in jobs])
        return reproduce(name, SETTING)


# -- what the papers print -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "row", "of", "measure", "value"),
    [
        ("questum-2", "Questum", "Overall", "win rate", 22.2),
        ("questum-3", "Questum", "Overall", "win rate", 66.7),
        ("questum-8", "OP", "Overall", "win rate", 30.0),
        ("questum-8", "PP", "Overall", "overall", 30.0),
        ("questum-11", "Questum", "Sin", "gameplay dollars", 0.32),
        ("questum-12", "w/o Sensor & Pruner", "Overall", "overall", 35.7),
        ("player-1", "PLAYER*", "Overall", "overall", 46.1),
        ("player-2", "PLAYER*", "Overall", "gameplay dollars", 33.7),
    ],
)
def test_figures_are_given_as_printed(name, row, of, measure, value):
    assert printed()[name, row, of, measure][0] == pytest.approx(value, abs=0.02)


def test_questums_gameplay_dollars_are_0_53_of_players():
    figures, measure = printed(), "gameplay dollars"
    groups = [key[2] for key in figures if key[:2] + key[3:] == ("questum-11", "Questum", measure)]
    assert len(groups) == 13
    for of in groups:
        theirs = figures["player-2", "PLAYER*", of, measure][0]
        assert figures["questum-11", "Questum", of, measure][0] == pytest.approx(0.53 * theirs, abs=0.01)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("questum-8", "questum_table8"),
        ("questum-9", "questum_table9_english"),
        ("questum-10", "questum_table10_open_llms"),
        ("questum-11", "questum_table11_costs"),
        ("player-1", "player_table1"),
        ("player-a4", "player_tableA4_english"),
        ("player-a5", "player_tableA5_open_llms"),
    ],
)
def test_our_figures_are_those_of_the_reference_tables(name, file):
    rows = paper_table(f"{file}.csv")
    own = {key: value for key, (value, _) in printed().items() if key[0] == name}
    assert len(own) == len(rows)
    times = 1 if file.endswith("costs") else 100
    for row in rows:
        measure = row["metric"].lower() + (" dollars" if times == 1 else "")
        assert own[name, row["method"], row["group"], measure] == pytest.approx(times * float(row["mean"]))


# -- ours ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["questum-2", "questum-8", "questum-12"])
def test_every_row_plays_the_same_cases_and_is_compared_with_the_first(name):
    table = made(name)
    rows = list(dict.fromkeys(cell.row for cell in table.cells))
    assert rows[0] == "Questum"
    for cell in table.cells:
        if cell.measure in ("overall", "reasoning"):
            assert cell.ours is not None
            assert cell.share
            assert cell.ours.n == 2
            assert (cell.difference is None) == (cell.row == "Questum")
        if cell.measure == "win rate":
            assert cell.ours is not None
    assert any("2 held-out generated cases (en)" in remark for remark in table.remarks)


def test_the_papers_figures_stand_beside_ours_where_they_are_printed():
    cells = {(cell.row, cell.measure): cell for cell in made("questum-8").cells}
    assert cells["OP", "overall"].paper == pytest.approx(48.4)
    assert cells["PP", "win rate"].paper == pytest.approx(1.6)
    assert cells["PP", "win rate"].note == "its rows, weighted by victims, give 4.8%"
    assert cells["Questum", "gameplay: questions to the model"].paper is None


def asked_of(table: Reproduction) -> dict[str, float]:
    """Questions to the model in play, by row."""
    cells = [cell for cell in table.cells if cell.measure == "gameplay: questions to the model"]
    return {cell.row: cell.ours.value for cell in cells if cell.ours}


def test_questum_is_played_by_its_text_and_by_its_algorithm():
    asked = asked_of(made("questum-8"))
    assert asked["Questum"] < asked[questum.WHOLE] < asked["ThinkThrice"]


def test_without_the_pruner_algorithm_1_asks_more_and_by_score_one_is_asked_in_any_case():
    """The paper: 17.9 dollars, 28.7 without the pruner, 15.1 without sensors."""
    asked = asked_of(made("questum-12"))
    assert asked["w/o Pruner"] > asked["Questum"] > asked["w/o Sensor"]
    assert asked["w/o Pruner"] > asked["w/o Pruner and its readings"]
    put = {row: {played.asked for played in games} for row, games in played_rows("questum-12").items()}
    assert put["Questum, by score"] == put["w/o Pruner, by score"]


def played_rows(name: str) -> dict[str, list[CaseResult]]:
    return {
        row: [once(CaseJob(case, method, seed, CaseSetting(repetitions=1))) for case, seed in small(SETTING)]
        for row, method in questum.PLAYED[name].rows.items()
    }


def test_the_best_method_has_the_papers_test_in_its_note_and_the_table_says_whose_order_it_is():
    table = made("questum-2")
    stars = [cell for cell in table.cells if "two-sample t-test over cases" in cell.note]
    assert len({(cell.of, cell.measure) for cell in stars}) == len(stars)
    assert {cell.of for cell in stars} == {"Overall"}
    assert any("Order by points in the quiz: " in remark for remark in table.remarks)
    assert any(
        "in the paper Questum > ThinkThrice > O-CoT > Werewolf" in r or "as in the paper" in r for r in table.remarks
    )


def test_tables_play_level_5_and_up_to_four_victims_there_and_at_level_0():
    given = ({}, {"level": 2}, {"victims": 4}, {"victims": 4, "level": 0})
    cases = [questum_games.cases_of(MysterySetting(games=1, **setting))[0][0] for setting in given]
    assert [reference.partition(":en")[2] for reference in cases] == ["::::5", "::::2", "::4::5", "::4"]
    assert [len(find(reference).victims) for reference in cases[2:]] == [4, 4]
    with pytest.raises(ParlourError, match="victims 2"):
        questum_games.cases_of(MysterySetting(cases="harbour_en", victims=2))


def test_a_quick_table_puts_the_quiz_once_where_nobody_says_how_often():
    assert MysterySetting(quick=True).quizzes == 1
    assert MysterySetting(quick=True, repetitions=2).quizzes == 2
    assert MysterySetting().quizzes == 3


def test_what_people_and_other_models_gave_is_the_papers_alone():
    table = made("questum-fig4")
    assert {cell.ours for cell in table.cells} == {None}
    assert {(c.row, c.measure): c.paper for c in table.cells}["Questum", "story advancement"] == 3.5
    others = [cell for cell in made("questum-10").cells if cell.row != "Questum"]
    assert [cell.paper for cell in others] == pytest.approx([31.2, 28.1, 26.7, 27.3])


def test_the_published_scripts_are_counted_as_the_paper_counts_them():
    setting = MysterySetting(cases=str(reference("wellplay/zh")))
    cells = [cell for cell in reproduce("questum-1", setting).cells if cell.ours and cell.of != "Overall"]
    counted = [cell for cell in cells if "tokens" not in cell.measure]
    assert counted
    assert [cell.ours.value for cell in counted if cell.ours] == [cell.paper for cell in counted]


def test_on_prose_the_planner_plays_by_score_and_its_row_says_so():
    setting = MysterySetting(cases=str(reference("wellplay/zh/sin")), repetitions=1)
    rows = {name: questum.method_of(name) for name in ("questum", "questum:mode=score")}
    table = questum.comparison("compare", setting, rows, CaseSetting(rounds=1))
    assert list(dict.fromkeys(cell.row for cell in table.cells)) == ["questum (by score)", "questum:mode=score"]
    assert table.remarks[0].startswith("questum: 1 of 1 cases are prose")
    assert questum_games.as_played(MysterySetting(cases="harbour_en"), rows) == (rows, ())


def test_the_embedder_of_a_table_reaches_the_seats(monkeypatch):
    seen: list[Any] = []
    begun = SeatMemory.__init__
    monkeypatch.setattr(games, "_embedder", lambda name: HashingEmbedder(64) if name == "minilm" else HASHING)
    monkeypatch.setattr(SeatMemory, "__init__", lambda self, view, by: (seen.append(by.name), begun(self, view, by))[1])
    play_case(CaseJob("seed:3:en:4:1", questum.QUESTUM, 3, CaseSetting(rounds=1, embedder="minilm")), OfflineModel())
    assert set(seen) == {"hashing-64"}


def test_every_choice_of_1_to_5_sensors_is_a_row(monkeypatch):
    monkeypatch.setattr(questum_games, "cases_of", small)
    kept = {name: questum.SENSORS[name] for name in ("emotion", "motivation", questum.VALUE)}
    monkeypatch.setattr(questum, "SENSORS", kept)
    cells = questum.sensors("questum-sensors", SETTING).cells
    choices = {"emotion", "motivation", "emotion+motivation"}
    assert {cell.row for cell in cells} == {"mean", "lowest", "highest", *choices}
    assert {cell.of for cell in cells if cell.row == "mean"} == {"1 sensors, 2 choices", "2 sensors, 1 choices"}


def test_a_folder_of_cases_has_a_group_for_each_script_of_the_papers(tmp_path):
    """A case that bears the Chinese title of a published script stands beside that script's figures."""
    case = find("seed:5:zh:4:1")
    (tmp_path / "a.json").write_text(dump(case.model_copy(update={"title": "罪恶"})), encoding="utf-8")
    (tmp_path / "b.json").write_text(dump(find("seed:6:en:4:1")), encoding="utf-8")
    out = tmp_path / "out"
    setting = MysterySetting(cases=str(tmp_path), repetitions=2, out=out)
    table = questum.comparison("questum-8", setting, {"Questum": questum.QUESTUM, "PP": questum.PP}, CaseSetting())
    cells = {(cell.row, cell.of, cell.measure): cell for cell in table.cells}
    assert cells["PP", "Sin", "overall"].paper is not None
    assert cells["PP", "Sin", "overall"].deviation is not None
    assert cells["PP", "Overall", "overall"].ours.n == 2
    assert sorted(path.name for path in (out / "Questum").iterdir()) == ["0.jsonl", "1.jsonl", result_store.FILE]
    (games,) = table.data
    assert games.file == "questum-8.csv"
    rows = games.as_json()
    assert [row["row"] for row in rows] == ["Questum", "Questum", "PP", "PP"]
    assert 0 <= rows[0]["overall"] <= 1


def test_cases_are_held_out_ones():
    assert [reference for reference, _ in generated(2, 1, "zh")] == [f"seed:{HELD_OUT[k]}:zh" for k in (1, 2)]
    with pytest.raises(ParlourError, match="accepted"):
        generated(2, len(HELD_OUT) - 1)
    with pytest.raises(ParlourError, match="accepted: en, zh"):
        questum_games.cases_of(MysterySetting(cases="fr"))


# -- commands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["seed:5:en:4:1", "harbour_en"])
def test_the_command_plays_one_case_with_each_method_and_quizzes_everybody(case, json_of, output_of):
    words = [
        "evaluate",
        "mysteries",
        "--cases",
        case,
        *["-m", "questum", "-m", "op", "--rounds", "1", "--repetitions", "2"],
    ]
    cells = {
        (cell["row"], cell["measure"]): cell for cell in json_of([*words, "--json"])["cells"] if cell["of"] == "Overall"
    }
    assert cells["op", "overall"]["ours"]["mean"] > 0.9
    assert cells["questum", "gameplay: questions to the model"]["ours"]["mean"] > 0
    assert "heuristics (no language model)" in " ".join(output_of(words).split())


def test_the_command_compares_methods_and_refuses_one_twice(error_of, json_of):
    output = json_of(
        ["evaluate", "mysteries", "-m", "questum", "-m", "pp", "--games", "2", "--repetitions", "1", "--json"]
    )
    assert {cell["row"] for cell in output["cells"]} == {"questum", "pp"}
    assert "accepted: each once" in error_of(["evaluate", "mysteries", "-m", "pp", "-m", "pp", "--games", "2"])
