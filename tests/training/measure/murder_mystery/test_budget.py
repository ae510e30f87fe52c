"""Methods of murder mysteries at the same number of questions to the model: the budget of a table, and the table of budgets."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.murder_mystery.procedure import QuestionBudget
from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.murder_mystery.games import CaseJob, CaseSetting, play_case
from parlour.training.measure.murder_mystery.methods import METHODS, method_of
from parlour.training.measure.murder_mystery.result_store import _key
from parlour.training.papers import questum, questum_games
from parlour.training.papers.questum_games import MysterySetting

SMALL = "seed:9:en:4:1"


METERED = ["questum", "questum:mode=score", "questum:mode=random", "player_star", "mystery_werewolf", "mystery_ocot"]
FREE = {"questum": 25, "questum:mode=random": 50}
"""What these take at least without a limit: they put one question for each call. The others take more than 60."""


def played(name: str, budget: int | None = None, repetitions: int = 0) -> Any:
    setting = CaseSetting(repetitions=repetitions, budget=budget)
    return play_case(CaseJob(SMALL, method_of(name), 3, setting), OfflineModel())


def test_a_purse_refuses_what_would_take_more_than_is_left():
    taken = 0
    budget = QuestionBudget(lambda: taken, limit=20, kept=4)
    assert budget.allows("question")  # the first one is known to take 1 at least
    taken = 7
    assert budget.allows("question")  # 7 + 7 <= 20 - 4
    taken = 12
    assert not budget.allows("question")  # 12 + 7 > 16
    assert not budget.allows("report")  # none so far: taken to be as dear as the question
    taken = 9
    assert budget.allows("report")  # 9 + 7 <= 16
    taken = 11
    assert not budget.allows("question")  # 11 + 7 > 16
    assert budget.allows("report")  # 11 + 2 <= 16


def test_what_is_kept_for_a_vote_that_takes_nothing_is_released():
    budget = QuestionBudget(lambda: 8, limit=12, kept=4)
    assert not budget.allows("question")  # 8 + 1 > 12 - 4
    budget.release(3)
    assert budget.allows("question")  # 8 + 1 <= 12 - 1


def test_a_move_whose_price_is_known_is_not_taken_to_be_as_dear_as_the_dearest():
    taken = 0
    budget = QuestionBudget(lambda: taken, limit=12, kept=0)
    assert budget.allows("question")
    taken = 7
    assert not budget.allows("question")  # 7 + 7 > 12
    assert budget.allows("question", 5)
    assert budget.allows("report", 0)


def test_planners_put_questions_until_the_purse_is_empty():
    """Of 12, 4 are introductions and 1 is the murderer's vote; the other three vote without the model, and keep nothing for it."""
    assert played("questum:mode=plan,price=0,curiosity=1", 12).play.asked == 12


@pytest.mark.parametrize("name", METERED)
def test_a_game_takes_no_more_than_its_budget(name):
    for budget in (25, 60):
        result = played(name, budget)
        assert result.play.asked <= budget
        assert result.asked > 0  # and somebody was questioned
    assert played(name).play.asked > FREE.get(name, 60)


def test_a_budget_that_is_never_reached_changes_nothing():
    free, limited = (played("questum", budget, repetitions=1) for budget in (None, 10_000))
    for field in ("verdicts", "marks", "asked"):
        assert getattr(free, field) == getattr(limited, field)
    assert free.play.asked == limited.play.asked


def test_stored_results_without_a_budget_are_found_under_the_key_they_had():
    without, with_one = (
        _key(CaseJob(SMALL, METHODS["questum"], 3, CaseSetting(budget=budget)), OfflineModel()) for budget in (None, 50)
    )
    assert "budget" not in without["table"]
    assert with_one["table"]["budget"] == 50


def test_each_limit_is_a_part_of_the_table_paired_with_its_own_first_row(monkeypatch, tmp_path):
    monkeypatch.setattr(questum_games, "cases_of", lambda _: [("seed:1:en:4:1", 1), ("seed:2:en:4:1", 2)])
    rows = {name: METHODS[name] for name in ("questum", "mystery_ocot")}
    setting = MysterySetting(games=2, repetitions=1, out=tmp_path / "run")
    table = questum.by_budget("compare", setting, rows, CaseSetting(), (25, 50))
    groups = ["Overall, 25 questions", "Overall, 50 questions"]
    assert list(dict.fromkeys(cell.of for cell in table.cells)) == groups
    for group in groups:
        cells = {(cell.row, cell.measure): cell for cell in table.cells if cell.of == group}
        assert {measure for _, measure in cells} == {"win rate", "overall", "gameplay: questions to the model"}
        for measure in ("win rate", "overall", "gameplay: questions to the model"):
            assert cells["questum", measure].difference is None
            assert cells["mystery_ocot", measure].difference is not None
        asked = cells["mystery_ocot", "gameplay: questions to the model"].ours
        assert asked.value <= float(group.split()[1])
    assert len(list((tmp_path / "run").glob("budget-*/questum/*.jsonl"))) == 6  # two games and the results, twice


def test_the_command_takes_budgets_once_each(error_of):
    given = ["evaluate", "mysteries", "--method", "questum", "--games", "2", "--budget", "25"]
    assert "budget 25, 25 is not accepted; accepted: each once" in error_of([*given, "--budget", "25"])
    with pytest.raises(ParlourError, match="budget 0 is not accepted"):
        CaseSetting(budget=0)


def test_the_command_shows_the_limits(json_of):
    args = ["evaluate", "mysteries", "--method", "mystery_none", "--method", "pp", "--games", "2", "--json"]
    output = json_of([*args, "--repetitions", "1", "--budget", "25"])
    assert {cell["of"] for cell in output["cells"]} == {"Overall, 25 questions"}
