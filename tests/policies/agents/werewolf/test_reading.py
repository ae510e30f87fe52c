"""What one statement is read to say (`parlour.policies.agents.werewolf.reading`), and how statements are noted (`notes`)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from parlour.envs.core import Event, Move
from parlour.envs.werewolf import GAME
from parlour.policies.agents.werewolf.gratr.asks import AskIntent
from parlour.policies.agents.werewolf.notes import HeardMessage, HeardMessages, messages
from parlour.policies.agents.werewolf.reading import (
    IDENTITIES,
    INTENTS,
    MODERATOR,
    Observer,
    ReadIntent,
    ReadJudgement,
    judged_by,
    read,
    sift,
)

from tests.envs.hidden_roles.played_by_hand import announced

ROLE_NAMES = ("Werewolf", "Witch", "Guard", "Seer", "Villager")


def intents(text: str, speaker: int = 1) -> list[tuple[str, int, float]]:
    intents = read(speaker, text, 8).intents
    assert all(intent.speaker == speaker for intent in intents)
    return [(intent.kind, intent.target, intent.score) for intent in intents]


# -- the table's own sentences ---------------------------------------------------------------------------------


W, NOT = "werewolf", "not-werewolf"
# speaker and words | intents of the speaker, or of whom he tells | judgements
STATEMENTS = {
    # the sentences of the speech acts, and of votes
    (1, "I accuse player_3 of being evil."): ([(1, "attack", 3, 6)], [(3, W, 6)]),
    (1, "I trust that player_3 is good."): ([(1, "defend", 3, 6)], [(3, NOT, 6)]),
    (1, "I am Seer."): ([], [(1, "seer", 6)]),
    (1, "I vote for player_4."): ([(1, "attack", 4, 5)], [(4, W, 5)]),
    **{(1, nothing): ([], []) for nothing in ("I have nothing to say.", "I vote for nobody.", "")},
    # a report accuses or clears, and claims to be the seer
    (1, "I checked player_2: evil."): ([(1, "attack", 2, 9)], [(2, W, 9), (1, "seer", 6)]),
    (1, "I checked player_2: good."): ([(1, "defend", 2, 9)], [(2, NOT, 9), (1, "seer", 6)]),
    # what the moderator says is certain; who is found dead is hardly a werewolf
    (MODERATOR, "player_3 was the Seer."): ([], [(3, "seer", 10)]),
    (MODERATOR, "player_3 is a werewolf."): ([], [(3, W, 10)]),
    (MODERATOR, "player_3 is not a werewolf."): ([], [(3, NOT, 10)]),
    (MODERATOR, "In the morning player_0, player_3 are found dead."): ([], [(0, NOT, 9), (3, NOT, 9)]),
    (MODERATOR, "In the morning nobody is found dead."): ([], []),
    (MODERATOR, "The table executes player_2."): ([], []),
    # claims in free words; that somebody is not the seer is not to say that he is a werewolf
    (1, "I am not a werewolf; Player 2 is the witch"): ([(1, "defend", 2, 6)], [(1, NOT, 2), (2, "witch", 6)]),
    (1, "Believe me, I'm the guard."): ([], [(1, "guard", 6)]),
    (1, "player_2 is not the seer"): ([], []),
    (1, "I am a werewolf"): ([], [(1, W, 9)]),
    # what others are said to do counts less
    (1, "player_3 accused player_4"): ([(3, "attack", 4, 3)], []),
    (1, "player_3 defends player_4"): ([(3, "defend", 4, 3)], []),
    (1, "player_3 deceived player_4"): ([(3, "deceive", 4, 3)], []),
    # another language says nothing that can be read
    (1, "我认为 player_3 是狼人。"): ([], []),
}


@pytest.mark.parametrize(("speaker", "text"), STATEMENTS)
def test_what_a_statement_says(speaker, text):
    intents, judgements = STATEMENTS[speaker, text]
    assert read(speaker, text, 8) == (
        tuple(ReadIntent(*intent) for intent in intents),
        tuple(ReadJudgement(*judgement) for judgement in judgements),
        0,
    )


@pytest.mark.parametrize("seat", range(8))
def test_what_every_move_of_the_catalogue_is_noted_as_can_be_read(seat):
    # the notes of all legal speeches and votes: an accusation or a vote attacks its target, and so on
    kinds = {"accuse": "attack", "defend": "defend", "vote": "attack", "hunt": "attack", "poison": "attack"}
    kinds |= {"protect": "defend", "recommend": "attack"}
    game = GAME.build(GAME.options())
    for move in game.catalogue:
        noted = messages(Event(seat, move, None), game.role_names, 1)
        reading = read(seat, noted[0].text, 8) if noted else None
        if move.kind in kinds and move.args:
            assert reading is not None
            expected = [] if move.args == (seat,) else [(kinds[move.kind], move.args[0])]
            assert [(intent.kind, intent.target) for intent in reading.intents] == expected
            assert reading.dropped == (move.args == (seat,))
        elif move.kind == "report" and move.args[0] != seat:
            assert reading is not None
            assert (reading.intents[0].kind, reading.intents[0].target) == (
                ("defend", "attack")[move.args[1]],
                move.args[0],
            )
        elif move.kind == "claim_role":
            assert reading is not None
            assert reading.judgements[0].identity == game.role_names[move.args[0]].lower()


# -- ordinary words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I do not trust player_3.", [("attack", 3, 4)]),
        ("I don't think player_4 is a werewolf.", [("defend", 4, 4)]),
        ("player_3 is lying! player_5 and player_6 are good.", [("attack", 3, 6), ("defend", 5, 6), ("defend", 6, 6)]),
        ("Let us vote for player_2, player_3 and player_4.", [("attack", 2, 5), ("attack", 3, 5), ("attack", 4, 5)]),
        (
            "Player 2's behavior was very strange, but I believe Player 4 is innocent",
            [("attack", 2, 6), ("defend", 4, 6)],
        ),
        ("I believe player_2 is a werewolf", [("attack", 2, 6)]),
        ("I suspect that player_2 is a wolf", [("attack", 2, 6)]),
        ("I doubt that player_2 is good", [("attack", 2, 4)]),
        ("I do not doubt that player_2 is good", [("defend", 2, 6)]),
        ("I do not accuse player_2.", []),
        ("I tricked player_2 into voting.", [("deceive", 2, 6)]),
        ("I'm the seer. Last night I checked out Player 4. He's a werewolf.", [("attack", 4, 9)]),
        ("I checked player_2 last night and he is not a werewolf", [("defend", 2, 9)]),
        ("Is player_2 evil?", []),
        ("I vouch for player_0", [("defend", 0, 6)]),
    ],
)
def test_free_words(text, expected):
    assert sorted(intents(text)) == sorted(expected)


# -- what is dropped -------------------------------------------------------------------------------------------


def test_players_that_do_not_exist_and_oneself_are_dropped_and_counted():
    # an intent and a judgement on player_9; an intent towards oneself, which is no claim either
    assert read(1, "I accuse player_9 of being evil.", 8) == ((), (), 2)
    assert read(1, "I trust that player_1 is good.", 8) == ((), (), 1)
    assert read(1, "I accuse player_3 of being evil.", 3) == ((), (), 2)
    assert read(1, "I accuse player_12345678901234567890.", 8).intents == ()


def test_attacking_and_defending_the_same_player_is_neither():
    reading = read(1, "I trust player_3 but I accuse player_3, and I accuse player_4", 8)
    assert reading.intents == (ReadIntent(1, "attack", 4, 6),)
    assert reading.judgements == (ReadJudgement(4, "werewolf", 6),)
    assert reading.dropped == 4  # two intents and two judgements


def test_a_models_items_are_clamped_or_dropped():
    reading = sift(
        [
            ReadIntent(1, "attack", 2, 99),
            ReadIntent(1, "attack", 3, -4),
            ReadIntent(1, "kill", 4, 5),
            ReadIntent(1, "defend", 8, 5),
        ],
        [ReadJudgement(2, "wolf", 5), ReadJudgement(3, "seer", 11), ReadJudgement(-1, "seer", 5)],
        8,
    )
    assert reading.intents == (ReadIntent(1, "attack", 2, 10), ReadIntent(1, "attack", 3, 0))
    assert reading.judgements == (ReadJudgement(3, "seer", 10),)
    assert reading.dropped == 4


def test_of_several_judgements_the_surest_counts_and_of_equal_ones_the_role():
    reading = sift(
        [], [ReadJudgement(3, "not-werewolf", 6), ReadJudgement(3, "seer", 6), ReadJudgement(3, "witch", 2)], 8
    )
    assert reading.judgements == (ReadJudgement(3, "seer", 6),)
    assert reading.dropped == 0


@given(st.integers(-1, 9), st.text(max_size=200) | st.lists(st.sampled_from([
    "player_3", "player 9", "I", "trust", "accuse", "not", "is", "a werewolf", "the seer", "checked", ",", ".", "and", "evil"
]), max_size=30).map(" ".join))  # fmt: skip
@example(1, "I trust player_3 but not player_3 is evil")
def test_whatever_is_said_the_reading_fits_the_table(speaker, text):
    reading = read(speaker, text, 8)
    for intent in reading.intents:
        assert intent.kind in INTENTS
        assert intent.speaker != intent.target
        assert {intent.speaker, intent.target} <= set(range(8))
        assert 0 <= intent.score <= 10
    for judgement in reading.judgements:
        assert judgement.identity in IDENTITIES
        assert judgement.player in range(8)
        assert 0 <= judgement.confidence <= 10
    assert len({judgement.player for judgement in reading.judgements}) == len(reading.judgements)
    both = [(intent.speaker, intent.target) for intent in reading.intents if intent.kind == "defend"]
    assert not set(both) & {(intent.speaker, intent.target) for intent in reading.intents if intent.kind != "defend"}


# -- in the eyes of an observer (appendix 1) -------------------------------------------------------------------

SINGLE = ("witch", "guard", "seer")
VILLAGER = Observer(0, "villager", SINGLE, bad=(5,), good=(6,))
SEER, WITCH, PLAIN = (Observer(0, role, SINGLE, (), ()) for role in ("seer", "witch", "villager"))
WOLF = Observer(0, "werewolf", SINGLE, bad=(5,), good=(1, 2, 3, 4, 6, 7))
POISONER = WITCH._replace(poisoned=(3,))


@pytest.mark.parametrize(
    ("observer", "speaker", "text", "expected"),
    [
        # the witch knows whom she killed herself; what the moderator says for certain still counts
        (POISONER, MODERATOR, "In the morning player_2, player_3 are found dead.", {2: (NOT, 9)}),
        (WITCH, MODERATOR, "In the morning player_2, player_3 are found dead.", {2: (NOT, 9), 3: (NOT, 9)}),
        (POISONER, MODERATOR, "player_3 was Werewolf.", {3: (W, 10)}),
        # who claims the observer's own single role is a werewolf
        (SEER, 1, "I am Seer.", {1: (W, 8)}),
        (WITCH, 1, "I am Seer.", {1: ("seer", 6)}),
        (PLAIN, 1, "I am Villager.", {1: ("villager", 6)}),
        # a check that cannot have been is a lie, a wrong opinion a hint
        (VILLAGER, 1, "I checked player_6: evil.", {1: (W, 8)}),
        (VILLAGER, 1, "I accuse player_6 of being evil.", {1: (W, 4)}),
        (VILLAGER, 1, "I accuse player_0 of being evil.", {1: (W, 4)}),
        (VILLAGER, 1, "I trust that player_5 is good.", {1: (W, 4)}),
        # who names a known werewolf is hardly one
        (VILLAGER, 1, "I accuse player_5 of being evil.", {1: (NOT, 6)}),
        (VILLAGER, 1, "I trust that player_6 is good.", {1: (NOT, 2)}),
        # of players it is certain of, and of its own words, an observer learns nothing
        (VILLAGER, 5, "I am Seer.", {}),
        (VILLAGER, 5, "I accuse player_6 of being evil.", {}),
        (VILLAGER, 5, "I accuse player_3 of being evil.", {3: (W, 6)}),
        (VILLAGER, 0, "I accuse player_3 of being evil.", {}),
        # a werewolf learns roles
        (WOLF, 1, "I am Seer.", {1: ("seer", 6)}),
        (WOLF, 5, "I am Seer.", {}),
        (WOLF, 1, "I checked player_5: evil.", {1: ("seer", 6)}),
        (WOLF, 1, "I accuse player_2 of being evil.", {}),
        # the moderator is believed but tells nobody about himself
        (VILLAGER, MODERATOR, "player_3 was the Witch.", {3: ("witch", 10)}),
        (VILLAGER, MODERATOR, "player_0 was attacked tonight.", {}),
    ],
)
def test_what_an_observer_makes_of_a_statement(observer, speaker, text, expected):
    judgements = judged_by(observer, speaker, read(speaker, text, 8))
    assert {judgement.player: (judgement.identity, judgement.confidence) for judgement in judgements} == expected


# -- the record ------------------------------------------------------------------------------------------------


def test_votes_are_messages_of_their_voters():
    # player_1 passes, player_2 is dead
    noted = messages(announced("votes", 2, 3, -1, -2, 0), ROLE_NAMES, 2)
    assert [(message.speaker, message.text) for message in noted] == [
        (0, "I vote for player_3."),
        (1, "I vote for nobody."),
        (3, "I vote for player_0."),
    ]


def test_votes_that_were_seen_as_they_were_cast_are_noted_once():
    notes = HeardMessages()
    events = (
        announced("day", 1, 0),
        Event(0, Move("vote", (3,)), None),
        announced("votes", 1, 3, -1),
        announced("night", 2),
    )
    notes.take((*events, announced("day", 2, 0), announced("votes", 2, -1, 0)), ROLE_NAMES)
    assert [(message.day, message.speaker) for message in notes.messages] == [(1, 0), (2, 0), (2, 1)]


def test_the_record_is_read_once_and_knows_the_day():
    notes = HeardMessages()
    events = (announced("night", 1), announced("dawn", 1, 4), announced("revealed", 4, 3), announced("day", 1, 0))
    assert [message.text for message in notes.take(events, ROLE_NAMES)] == [
        "In the morning player_4 is found dead.",
        "player_4 was the Seer.",
    ]
    said = Event(2, Move("accuse", (3,), "player_3 is too quiet"), None)
    night = Event(5, Move("recommend", (3,)), (5, 6))
    assert notes.take((*events, said, announced("night", 2), night), ROLE_NAMES) == [
        HeardMessage(day=1, speaker=2, text="player_3 is too quiet", claim="I accuse player_3 of being evil."),
        HeardMessage(day=2, speaker=5, text="I want to kill player_3.", private=True),
    ]
    assert notes.take((*events, said, announced("night", 2), night), ROLE_NAMES) == []


def test_words_reach_prompts_without_what_the_game_took_them_for_which_heuristics_alone_read():
    (noted,) = messages(Event(2, Move("accuse", (3,), "he is too quiet"), None), ROLE_NAMES, 1)
    assert noted.line() == noted.model_dump(mode="json") == 'Day 1, player_2: "he is too quiet"'
    question = AskIntent(players=8, statement=noted)
    assert "I accuse" not in question.model_dump_json()
    assert [(meant.intent, meant.target) for meant in question.heuristic(np.random.default_rng(0)).intents] == [
        ("attack", 3)
    ]


def test_a_speech_may_accuse_and_defend_several():
    words = "I suspect both player 1 and player 2; I trust player_4."
    assert [intent[1:3] for intent in read(0, words, 8).intents] == [("attack", 1), ("attack", 2), ("defend", 4)]


def test_words_without_a_claim_are_noted_as_they_are():
    (noted,) = messages(Event(2, Move("silent", (), "hm"), None), ROLE_NAMES, 1)
    assert noted.text == "hm"
