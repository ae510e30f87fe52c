"""What the numbers of mediated question answering mean (`parlour.envs.mediated_qa.encode`), block by block."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import registry
from parlour.envs.mediated_qa.encode import MediatedEncoder
from parlour.envs.mediated_qa.vocabulary import Joint, MediatedView

DEEP, REFUSE, NO_CHECK = 1, 3, 1
NOBODY_YET: dict[str, Any] = {"signal": -1, "question": "", "advice": (), "outcome": -1, "done": 0, "earned": 0.0}


def numbers(seat: int, questions: int = 4, **known: Any) -> list[float]:
    game = registry["mediated_qa_v0"].raw_env(questions=questions).game
    view = MediatedView(seat=seat, legal=(), events=(), questions=questions, **{**NOBODY_YET, **known})
    return [round(float(value), 4) for value in MediatedEncoder(game)(view)]


def ones(*places: int) -> list[float]:
    return [float(place in places) for place in range(29)]


@pytest.mark.parametrize("seat", range(4))
def test_before_the_first_question_a_seat_knows_itself_alone(seat):
    assert numbers(seat) == ones(seat)


@pytest.mark.parametrize("signal", [0, 8, 9])
def test_the_state_of_the_question_stands_behind_the_four_seats(signal):
    assert numbers(2, signal=signal) == ones(2, 4 + signal)


def test_the_mediator_sees_its_whole_advice_and_a_module_its_own():
    # nine actions from place 14: three of the retriever, four of the generator, two of the verifier
    advice = Joint(DEEP, REFUSE, NO_CHECK)
    assert numbers(0, advice=tuple(advice)) == ones(0, 14 + 1, 17 + 3, 21 + 1)
    assert numbers(1, advice=(DEEP,)) == ones(1, 14 + 1)
    assert numbers(2, advice=(REFUSE,)) == ones(2, 17 + 3)
    assert numbers(3, advice=(NO_CHECK,)) == ones(3, 21 + 1)


@pytest.mark.parametrize("outcome", range(4))
def test_the_last_outcome_is_one_of_four(outcome):
    assert numbers(3, outcome=outcome) == ones(3, 23 + outcome)


def test_what_is_done_and_earned_are_shares():
    # of the most: 4 questions, each the largest utility, 120, and all costs, 1 + 3 + 2 + 5 + 2 + 4 = 17: 548
    values = numbers(0, done=3, earned=274.0)
    assert (values[27], values[28]) == (0.75, 0.5)
    assert numbers(0, earned=-137.0)[28] == -0.25


def test_the_parts_fill_the_space():
    env = registry["mediated_qa_v0"].raw_env()
    assert env.encoder.size == len(numbers(0)) == 4 + 10 + 9 + 4 + 2
