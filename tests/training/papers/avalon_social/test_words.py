"""What the heuristics read in an utterance: made-up ones whose meaning is plain, and every canonical sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.avalon import GAME
from parlour.envs.avalon.vocabulary import ACTS, ROLES, side_of
from parlour.envs.language.speech import sayable, speeches
from parlour.training.papers.avalon_social import judging, roles, stances
from parlour.training.papers.avalon_social.clauses import sentences

ME = 2
# words of player_2, whom they trust, whom they distrust
MET = [
    ("I suggest player_0 and player_4.", (0, 4), ()),
    ("I suggest that player_0, player_1, and player_3 should be the candidates.", (0, 1, 3), ()),
    ("The candidates should be player_1 and player_3.", (1, 3), ()),
    ("player_4 should join the team.", (4,), ()),
    ("Let us take those who gave no cause for worry, such as player_0.", (0,), ()),
    ("I recommend quiet people, such as player_0 or player_5.", (0, 5), ()),
    ("I trust player_5.", (5,), ()),
    ("player_5 is loyal and reliable.", (5,), ()),
    ("player_1 has not raised any suspicions.", (1,), ()),
    ("I agree with player_3's proposal.", (3,), ()),
    ("I support the suggestion made by player_3 to include player_4.", (3, 4), ()),
    ("I do not trust player_5.", (), (5,)),
    ("I suspect player_1, player_3 and player_5.", (), (1, 3, 5)),
    ("We should exclude player_1 and player_3 from the quest.", (), (1, 3)),
    ("I strongly object to including player_1.", (), (1,)),
    ("player_4 should not be on the team.", (), (4,)),
    ("I do not recommend player_4.", (), (4,)),
    ("player_3 is Morgana.", (), (3,)),
    ("I believe that player_3 must be the Assassin.", (), (3,)),
    ("player_3 seems evil.", (), (3,)),
    ("Don't pick player_4!", (), (4,)),
    ("I'd like player_1 and player_4 on the team.", (1, 4), ()),
    ("player_1 might be a good choice.", (1,), ()),
    ("player_4, who spoke first, should be one of the candidates.", (4,), ()),
    ("player_3 and player_5 have hinted at their roles as Merlin and Morgana respectively.", (), (5,)),
    ("One of player_3 and player_5 is Merlin or Morgana.", (), ()),
    ("player_3 is Merlin.", (), ()),
    ("player_0 (Morgana) must not go.", (), (0,)),
    ("The Assassin (player_4) is among us.", (), (4,)),
    ("I have doubts about player_1, but I trust player_0.", (0,), (1,)),
    ("I suggest player_0. They are trustworthy. However, I would avoid player_1.", (0,), (1,)),
    ("player_3 is Morgana, but let us include player_3 to watch what happens.", (), ()),
    ("player_1 suggested excluding player_3 and taking player_4.", (), ()),
    ("player_1 is not loyal.", (), ()),
    ("I ask player_1 to prove that he is loyal.", (), ()),
    ("I suggest that player_1 should choose with care.", (), ()),
    ("As the Assassin, I want player_4, who is Morgana, on the quest; I suggest player_4.", (4,), ()),
    ("I suggest ⟨1⟩ and player_" + "9" * 5000, (), ()),
    ("", (), ()),
]


@pytest.mark.parametrize(("words", "trust", "distrust"), MET)
def test_attitudes(words: str, trust: tuple[int, ...], distrust: tuple[int, ...]) -> None:
    assert stances.stances(words, ME) == (trust, distrust)


PROPOSES = [
    ("I recommend myself.", True),
    ("I suggest player_0 and myself.", True),
    ("I propose player_0, player_2 and player_4.", True),
    ("player_1 and I should be the candidates.", True),
    ("I volunteer.", True),
    ("I am willing to participate in this quest.", True),
    ("I suggest player_0 and player_4.", False),
    ("I do not recommend myself.", False),
    ("I propose excluding player_1 and player_2.", False),
    ("player_0 has suggested that player_2 should be a candidate.", False),
    ("As player_2, I suggest player_1.", False),
    ("I will not volunteer.", False),
    ("I never volunteer.", False),
    ("I do not say that I volunteer.", False),
    ("I would recommend player_2, but player_2 should be excluded.", False),
    ("", False),
]


@pytest.mark.parametrize(("words", "proposes"), PROPOSES)
def test_self_proposals(words: str, proposes: bool) -> None:
    assert stances.proposes_self(words, ME) is proposes


TELLS = [
    ("As Percival, I saw two players.", "Percival", "self-disclosure"),
    ("As Percival, I saw two players.", "Morgana", "camouflage"),
    ("Thank you. As a Loyal Servant, I suggest player_0.", "Loyal Servant", "self-disclosure"),
    ("As the Loyal Servant, I suggest player_0.", "Merlin", "camouflage"),
    ("I am not Merlin.", "Assassin", "withholding"),
    ("I'm a loyal servant and stand by it.", "Loyal Servant", "self-disclosure"),
    ("player_1, as Merlin, has spoken.", "Merlin", "withholding"),
    ("player_2, as Merlin, has spoken.", "Merlin", "self-disclosure"),
    ("player_0, a fellow Loyal Servant, should go.", "Loyal Servant", "self-disclosure"),
    ("I am on the good side.", "Percival", "self-disclosure"),
    ("I am on the good side.", "Morgana", "camouflage"),
    ("I have proved my loyalty to the Good Side.", "Assassin", "camouflage"),
    ("I am dedicated to the cause.", "Assassin", "withholding"),
    ("This increases the chances of the quest failing and misleads the good players.", "Morgana", "self-disclosure"),
    ("This minimizes the risk of increasing the chances of the quest failing.", "Morgana", "withholding"),
    ("I suggest player_0. Merlin would too.", "Merlin", "withholding"),
    ("player_1 thinks that I might be Morgana.", "Morgana", "withholding"),
    ("", "Merlin", "withholding"),
]


@pytest.mark.parametrize(("words", "role", "identity"), TELLS)
def test_identities(words: str, role: str, identity: str) -> None:
    assert roles.identity(words, ME, role) == identity


SHARES = [
    ("player_0 is Morgana and player_5 is the Assassin.", "Merlin", (0, 5), (0, 5)),
    ("player_0 and player_4 are evil.", "Merlin", (0, 5), (0,)),
    ("I suggest player_0.", "Merlin", (0, 5), ()),
    ("player_0 is not evil.", "Merlin", (0, 5), ()),
    ("player_0 claims to be Morgana.", "Merlin", (0, 5), ()),
    ("player_0 and player_3 raised a hand, so one of them is Merlin.", "Percival", (0, 3), (0, 3)),
    ("player_0 is Merlin.", "Percival", (0, 3), (0,)),
    ("player_0 is Morgana.", "Percival", (0, 3), (0,)),
    ("player_0 is evil.", "Percival", (0, 3), ()),
    ("player_0 is the Assassin.", "Percival", (0, 3), ()),
]


@pytest.mark.parametrize(("words", "role", "known", "expected"), SHARES)
def test_sharing(words: str, role: str, known: tuple[int, ...], expected: tuple[int, ...]) -> None:
    assert roles.shared(words, ME, role, known) == expected


def test_lists_of_players_and_those_who_speak_become_groups() -> None:
    texts = list(sentences("I name player_0, player_3, and myself. Both players are fine. As player_2, I agree.", ME))
    assert texts == ["I name ⟨0,3,2⟩.", "⟨0,3,2⟩ Both players are fine.", "As ⟨2⟩, I agree."]


# -- claims ----------------------------------------------------------------------------------------------------


def test_canonical_sentences_are_read_as_the_claims_they_stand_for() -> None:
    game = GAME.build(
        GAME.options(
            num_players=10, roles=[*ROLES[:3], *["Loyal Servant"] * 3, "Morgana", "Assassin", "Mordred", "Oberon"]
        )
    )
    say = GAME.text(game).say
    for speaker in range(10):
        for claim in speeches(ACTS, 10, len(game.role_names)):
            if sayable(claim, speaker):
                _check_claim(say(claim), claim, speaker, game.role_names)


def _check_claim(words: str, claim: Any, speaker: int, names: tuple[str, ...]) -> None:
    others = tuple(seat for seat in claim.args if seat != speaker) if claim.kind != "claim_role" else ()
    trust = others if claim.kind in ("defend", "recommend") else ()
    distrust = others if claim.kind == "accuse" else ()
    assert stances.stances(words, speaker) == (trust, distrust), words
    assert stances.proposes_self(words, speaker) == (claim == ("recommend", (speaker,), "")), words
    for role in names:
        identity = "withholding"
        if claim.kind == "claim_role":
            identity = "self-disclosure" if names[claim.args[0]] == role else "camouflage"
        assert roles.identity(words, speaker, role) == identity, (words, role)
    assert roles.shared(words, speaker, "Merlin", tuple(range(10))) == distrust, words


@given(st.text(st.sampled_from("player_0123, ()IiMmeEvil.?!Morgana⟨⟩'’。\n "), max_size=80), st.integers(0, 5))
def test_no_words_break_the_rules_of_thumb(words: str, speaker: int) -> None:
    result = stances.stances(words, speaker)
    assert not set(result.trust) & set(result.distrust)
    assert speaker not in result.trust + result.distrust
    assert roles.identity(words, speaker, "Merlin") in roles.IDENTITIES
    for question in questions_of(words, speaker):
        answer = question.heuristic(np.random.default_rng(0))
        question.check(answer)


# -- questions -------------------------------------------------------------------------------------------------

TABLE = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin")


def questions_of(words: str, speaker: int) -> list[Any]:
    return [
        judging.attitude(words, speaker, 6),
        judging.self_proposal(words, speaker),
        judging.disclosure(words, speaker, TABLE[speaker]),
        judging.sharing_question(words, speaker, TABLE, (0, 4)),
    ]


def test_a_question_tells_the_judge_the_role_only_where_the_measure_needs_it() -> None:
    attitude, proposal, identity, sharing = questions_of("Hello.", 1)
    assert "role" not in attitude.inputs()
    assert "role" not in proposal.inputs()
    assert (identity.inputs()["role"], identity.inputs()["side"]) == ("Percival", side_of("Percival"))
    assert sharing.inputs()["shown_as"] == ["Merlin", "Morgana"]


def test_who_is_named_twice_is_named_and_who_is_in_both_lists_is_in_neither() -> None:
    """As the question says of players about whom the speaker is of two minds."""
    text = '{"why": "", "trusts": ["player_0", "Player 3", "player_3"], "distrusts": ["player_0", "player_5"]}'
    met = judging.attitude("x", 1, 6).read(text)
    assert (met.trusts, met.distrusts) == (("player_3",), ("player_5",))
