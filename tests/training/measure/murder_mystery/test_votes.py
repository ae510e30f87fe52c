"""How PP and OP vote, who play no game (decisions 4.8): heats of at most five, nobody votes for itself, murderers go by script."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import registry
from parlour.policies.agents.murder_mystery.asks import Vote
from parlour.policies.agents.murder_mystery.quiz import Quiz, QuizAnswer
from parlour.policies.llm.model import Answered, OfflineModel
from parlour.training.measure.murder_mystery.voting import votes


class Suspicious(OfflineModel):
    """Suspects the same people everywhere: of those that a question names, the first in its list; otherwise says nothing."""

    def __init__(self, *suspects: str) -> None:
        super().__init__()
        self.suspects = suspects
        self.asked: list[tuple[str, Any]] = []

    def answer(self, question: Any, context: Any) -> Answered[Any]:
        self.asked.append((context.seat, question))
        if isinstance(question, Vote):
            name = next((name for name in self.suspects if name in question.options), question.options[0])
            return Answered(type(question).answer_type()(reason="", name=name))
        letters = {name: letter for letter, name in question.options.items()}
        picked = next((letters[name] for name in self.suspects if name in letters), "")
        return Answered(QuizAnswer(reason="", answer=picked))


def table(seats: int) -> tuple[Any, tuple[Any, ...]]:
    """A generated case and what everybody knows before the first word."""
    game = registry["murder_mystery_v0"].raw_env(case=f"seed:5:en:{seats}:1").game
    start = game.initial()
    return game.case, tuple(game.view(start, seat) for seat in range(seats))


@pytest.mark.parametrize("seats", [4, 8])
def test_every_civilian_votes_for_whom_it_suspects_and_the_suspect_for_another(seats):
    case, views = table(seats)
    first, second = 2, 1
    cast = votes(case, views, Suspicious(case.names[first], case.names[second]), "own", seed=3)
    civil = [seat for seat, character in enumerate(case.characters) if not character.murders[0]]
    assert len(cast) == seats  # one victim: one vote a seat
    assert [cast[seat] for seat in civil] == [second if seat == first else first for seat in civil]


def test_seven_others_come_in_two_heats_whose_winners_meet():
    case, views = table(8)
    model = Suspicious(case.names[2])
    votes(case, views, model, "own", seed=3)
    civilian = next(seat for seat, character in enumerate(case.characters) if not character.murders[0] and seat != 2)
    shown = [list(ask.options.values()) for seat, ask in model.asked if seat == f"player_{civilian}"]
    others = [name for name in case.names if name != case.names[civilian]]
    assert [len(names) for names in shown] == [4, 3, 2]
    assert sorted(shown[0] + shown[1]) == sorted(others)
    assert case.names[2] in shown[2]


def test_three_others_are_one_question_about_the_victim_by_name_and_no_answer_votes_for_the_first_that_is_shown():
    case, views = table(4)
    model = Suspicious()
    cast = votes(case, views, model, "own", seed=3)
    for seat, character in enumerate(case.characters):
        asks = [ask for name, ask in model.asked if name == f"player_{seat}"]
        assert [type(ask) for ask in asks] == [Vote if character.murders[0] else Quiz]
        if not character.murders[0]:
            shown = list(asks[0].options.values())
            assert asks[0].question == f"Who killed {case.victims[0].name}?"
            assert sorted(shown) == sorted(name for name in case.names if name != character.name)
            assert case.names[cast[seat]] == shown[0]


def test_who_murdered_votes_by_its_own_script_for_somebody_else():
    case, views = table(4)
    guilty = next(seat for seat, character in enumerate(case.characters) if character.murders[0])
    scapegoat = (guilty + 2) % 4
    model = Suspicious(case.names[guilty], case.names[scapegoat])
    cast = votes(case, views, model, "all", seed=3)
    assert cast[guilty] == scapegoat
    (vote,) = [ask for seat, ask in model.asked if seat == f"player_{guilty}"]
    assert vote.victim == case.victims[0].name
    assert case.names[guilty] not in vote.options


def test_the_order_of_the_options_is_the_seeds():
    case, views = table(8)
    orders = []
    for seed in (3, 3, 4):
        model = Suspicious()
        votes(case, views, model, "own", seed)
        orders.append([tuple(ask.options.values()) for _, ask in model.asked if isinstance(ask, Quiz)])
    assert orders[0] == orders[1] != orders[2]
