"""The question what a statement claims: the offline model answers as the reader by rule; a model's reply is read and checked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.vocabulary import LEADS, ROLES
from parlour.envs.claims import Claim, claims
from parlour.envs.speech import SILENT
from parlour.policies.agents.spoken import ReadClaims, claims_by, reader_by
from parlour.policies.llm.ask import BadReply, read_back
from parlour.policies.llm.model import Answered, OfflineModel
from spoken import scores
from test_avalon_spoken import HABITS

QUESTION = ReadClaims(
    speaker="player_1",
    players=("player_0", "player_1", "player_2"),
    roles=ROLES,
    words="I'd rather have one of player_0/player_2 with me, and I'll reject the rest.",
)


def reply(**claim: object) -> str:
    empty = {"kind": "accuse", "players": [], "some_of_them": False, "role": "", "vote": ""}
    return json.dumps({"claims": [{**empty, **claim}]})


def test_the_offline_model_reads_all_paraphrases_as_the_reader_does() -> None:
    for paraphrase in scores.paraphrases():
        (read,) = claims_by(OfflineModel(), [(paraphrase.words, paraphrase.speaker)], paraphrase.seats, ROLES)
        assert read == claims(paraphrase.words, paraphrase.speaker, paraphrase.seats, ROLES)


def test_the_question_is_whole_in_its_prompt() -> None:
    assert read_back(QUESTION.prompt()) == QUESTION


@pytest.mark.parametrize(
    ("claim", "read"),
    [
        ({"players": ["player_2", "player_0"], "some_of_them": True}, Claim("accuse", (0, 2), True)),
        ({"kind": "defer"}, Claim("defer")),
        ({"kind": "claim_role", "role": "Merlin"}, Claim("claim_role", (), value=0)),
        ({"kind": "promise", "vote": "reject"}, Claim("promise", (), value=0)),
        ({"kind": "propose", "players": ["player_1"], "some_of_them": True}, Claim("propose", (1,), True)),
    ],
)
def test_a_models_claims_are_those_of_the_reader(claim: dict[str, object], read: Claim) -> None:
    assert QUESTION.read(reply(**claim)).read(ROLES) == (read,)


@pytest.mark.parametrize(
    "claim",
    [
        {"players": ["player_3"]},
        {"players": ["player_1"]},
        {"kind": "claim_role", "role": "Fool"},
        {"kind": "claim_role"},
        {"kind": "promise"},
        {"kind": "praise"},
    ],
)
def test_claims_about_nobody_present_and_claims_without_what_they_claim_are_refused(claim: dict[str, object]) -> None:
    with pytest.raises(BadReply):
        QUESTION.read(reply(**claim))


class Suspicious(OfflineModel):
    """Reads an accusation of player_2 in whatever is said."""

    asked = 0

    def answer(self, question: ReadClaims, context: object) -> Answered:  # type: ignore[override]
        self.asked += 1
        return Answered(question.read(reply(players=["player_2"])))


def belief_of(*said: str, **reader: Any) -> AvalonBelief:
    """A belief that hears player_1 say so, in the first quest."""
    five = ("Merlin", "Loyal Servant", "Loyal Servant", "Assassin", "Minion")
    belief = AvalonBelief(five, -1, "", (), HABITS, **reader)
    belief.see(-1, LEADS, (0, 0, 2, 0, 1))
    for words in said:
        belief.see(1, SILENT, (), words)
    return belief


def test_a_belief_hears_what_a_model_reads() -> None:
    model = Suspicious()
    heard = belief_of("Hello.", reader=reader_by(model, ROLES)).evil_chance()
    assert model.asked == 1
    belief_of("Hello.", "Hello.", reader=reader_by(again := Suspicious(), ROLES))
    assert again.asked == 1  # what was read once is known
    assert heard == pytest.approx(belief_of("player_2 is evil.").evil_chance())
    assert heard != pytest.approx(belief_of("Hello.", reader=claims).evil_chance())
