"""Werewolf agents that misread statements: what is drawn from what, what is misread for what, and that questions agree."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.policies.agents.werewolf.asks import Infer
from parlour.policies.agents.werewolf.gratr.asks import AskIdentity, AskIntent
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.situation import WerewolfSelfInfo, WerewolfSituation
from parlour.policies.llm.model import Model, OfflineModel, RequestContext, SeatModel
from parlour.training.learn.reliability.misreading import Misreading, MisreadingModel

ACCUSES = HeardMessage(day=1, speaker=2, text="I accuse player_3 of being evil.")
ROLES = ["Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager"]
ME = WerewolfSelfInfo(seat=0, role="Villager", side="village", roles=ROLES, fellows=[])
NOW = WerewolfSituation(does="vote", day=1, alive=list(range(8)), wolves=[], innocent=[], checks=[], attacked=None)
OTHERS = (0, 1, 4, 5, 6, 7)
"""Neither who speaks nor whom it is about."""


def taken(statement, rate=1.0, game=1, seat=0):
    return Misreading(rate, game, seat).taken(statement, 8)


class Asked(Model):
    """Keeps the questions."""

    name, is_language_model = "asked", False

    def __init__(self):
        self.questions = []

    def answer(self, question, context):
        self.questions.append(question)
        return OfflineModel().answer(question, context)

    def settings(self):
        return {}


def test_the_same_sentence_is_not_misread_alike_in_every_game_or_by_every_seat():
    by_game = [taken(ACCUSES, 0.3, game=game) != ACCUSES for game in range(2000)]
    by_seat = [taken(ACCUSES, 0.3, seat=seat) != ACCUSES for seat in range(3, 2003)]
    # four standard deviations of a share of 2000 at 0.3: 4 * sqrt(0.3 * 0.7 / 2000) = 0.041
    assert abs(np.mean(by_game) - 0.3) < 0.041
    assert abs(np.mean(by_seat) - 0.3) < 0.041
    assert by_game == [taken(ACCUSES, 0.3, game=game) != ACCUSES for game in range(2000)]


def test_half_of_the_misread_accusations_are_defences():
    contrary = ["trust" in taken(ACCUSES, game=game).text for game in range(1000)]
    assert abs(np.mean(contrary) - 0.5) < 0.07


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("I checked player_3: evil.", {*(f"I checked player_{k}: evil." for k in OTHERS), "I checked player_3: good."}),
        ("I am Seer.", {"I am Villager.", "I am Witch.", "I am Guard."}),
        (ACCUSES.text, {*(f"I accuse player_{k} of being evil." for k in OTHERS), "I trust that player_3 is good."}),
    ],
)
def test_a_misread_statement_stays_of_its_kind(said, read):
    statement = HeardMessage(day=1, speaker=2, text=said)
    assert {taken(statement, game=game).text for game in range(300)} == read


def test_facts_deeds_and_ones_own_words_are_read_as_they_are():
    safe = [
        ACCUSES.model_copy(update={"speaker": 0}),
        HeardMessage(day=1, speaker=-1, text="player_3 was the Seer."),
        HeardMessage(day=1, speaker=2, text="I vote for player_3.", act=True),
    ]
    assert [taken(message) for message in safe] == safe


def test_both_questions_of_gratr_and_the_window_s_misread_a_statement_alike():
    texts = set()
    for game in range(60):
        asked = Asked()
        model, context = MisreadingModel(asked, 0.5), RequestContext("player_0", 7, game=game, player="gratr")
        for question in (
            AskIntent(players=8, statement=ACCUSES),
            AskIdentity(me=ME, wolves=[], innocent=[], trust=0.0, statement=ACCUSES),
            Infer(me=ME, now=NOW, messages=[ACCUSES], found=[]),
        ):
            model.answer(question, context)
        intent, identity, window = asked.questions
        assert intent.statement == identity.statement == window.messages[0]
        texts.add(intent.statement.text)
    assert ACCUSES.text in texts
    assert len(texts) > 3


def test_seats_that_misread_do_not_share_answers():
    model = MisreadingModel(OfflineModel(), 0.5)
    seats = [SeatModel(model, seat, seed=4, player="gratr") for seat in (0, 1, 4, 5, 6, 7)]
    for other in seats[1:]:
        other.shared = seats[0].shared
    answers = {str(seat.ask_shared([AskIntent(players=8, statement=ACCUSES)])[0].intents) for seat in seats}
    assert len(answers) > 1
