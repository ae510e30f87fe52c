"""The question what a statement claims: the offline model answers as the reader by rule; a model's reply is read and checked."""

from __future__ import annotations

import json

import pytest
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.claims import Claim, claims
from parlour.policies.agents.spoken import ReadClaims, claims_by
from parlour.policies.llm.ask import BadReply, read_back
from parlour.policies.llm.model import OfflineModel
from spoken import scores

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
    for one in scores.paraphrases():
        (read,) = claims_by(OfflineModel(), [(one.words, one.speaker)], one.seats, ROLES)
        assert read == claims(one.words, one.speaker, one.seats, ROLES)


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
