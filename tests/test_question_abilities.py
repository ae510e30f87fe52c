"""Mysteries solved within a budget of questions, and a mediator's net utility, as abilities of the model that answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.abilities.questions import (
    BUDGETS,
    QuestionAbilities,
    QuestionSizes,
    question_abilities,
)
from parlour.training.results.progress import no_progress
from servers import KEY, Answer, Call, Server


@pytest.fixture(scope="module")
def offline() -> QuestionAbilities:
    abilities = question_abilities(QuestionSizes(cases=12, mediated=40), OfflineModel(), no_progress, "heuristic")
    assert set(abilities) == {"heuristic"}  # there is no language model
    return abilities["heuristic"]


def test_more_questions_solve_more_murders(offline):
    shares = [offline.solved[budget] for budget in BUDGETS]
    assert all(share is not None and share.n == 12 for share in shares)
    values = [share.value for share in shares if share is not None]
    assert values == sorted(values)
    assert values[0] < values[-1]


def test_the_mediator_is_measured_on_questions_that_it_did_not_learn_from(offline):
    assert offline.utility is not None
    assert offline.utility.n == 40
    assert offline.static is not None
    assert offline.static.n == 40


def test_nothing_is_asked_unless_it_is_wanted():
    assert question_abilities(QuestionSizes(), OfflineModel(), no_progress, "heuristic") == {}
    only = question_abilities(QuestionSizes(mediated=4), OfflineModel(), no_progress, "heuristic")["heuristic"]
    assert only.solved == {}
    assert only.as_json()["utility"]["n"] == 4


@pytest.mark.parametrize("name", ["cases", "mediated"])
def test_a_number_below_0_is_refused_in_one_line(name):
    with pytest.raises(ParlourError, match=f"{name}.*accepted"):
        replace(QuestionSizes(), **{name: -1})


class Mute(Server):
    """A model whose replies are no answers."""

    def completion(self, call: Call) -> Answer:
        return Answer(self.completed({"role": "assistant", "content": "no"}))


def test_a_model_that_does_not_answer_has_no_share_of_solved_murders(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Mute() as server:
        model = make_model(ModelConfig(model=server.MODEL, base_url=server.base_url, tries=1))
        abilities = question_abilities(QuestionSizes(cases=1), model, no_progress, "heuristic")
    assert set(abilities) == {"heuristic", ""}
    assert set(abilities[""].solved.values()) == {None}
    assert all(share is not None for share in abilities["heuristic"].solved.values())
