"""The reader of English that all games share (`parlour.envs.english`)."""

from __future__ import annotations

import re

import pytest
from parlour.envs import english, speech


@pytest.mark.parametrize(
    ("words", "seats"),
    [
        ("player_1, player_2 and player_3", (1, 2, 3)),
        ("Players 1, 2, & 3", (1, 2, 3)),
        ("player 1、player 3", (1, 3)),
        ("player_0; myself and player_4", (0, 7, 4)),
    ],
)
def test_lists_of_players(words, seats):
    assert re.fullmatch(english.PLAYERS, words, re.IGNORECASE)
    assert english.seats_in(words, me=7) == seats


@pytest.mark.parametrize("words", ["superplayer_3", "player three", "player_", "1, 2 and 3"])
def test_what_names_no_player(words):
    assert not re.search(english.PLAYER, words, re.IGNORECASE)


def test_a_player_is_found_among_chinese_characters():
    assert re.search(english.PLAYER, "我怀疑player_3是狼人")


def test_names_of_seats_and_nobody():
    assert english.names((0, 12)) == "player_0, player_12"
    assert english.names(()) == "nobody"


@pytest.mark.parametrize(
    ("words", "anywhere", "after_all"),
    [
        ("I trust him", False, False),
        ("I don't trust him", True, True),
        ("I don’t trust him", True, True),
        ("none of them is good", True, True),
        ("I refused to go", True, True),
        ("I doubt that he is good", True, True),
        ("there is no doubt that he is good", True, False),
        ("she knows nothing", False, False),
        ("我不同意", True, True),
    ],
)
def test_negations(words, anywhere, after_all):
    assert english.negated(words) is anywhere
    assert english.denied(words) is after_all


@pytest.mark.parametrize("begins", [", ", ". ", "；", " but ", " since ", " although ", " whereas ", " and then "])
def test_another_clause_begins(begins):
    assert english.last_clause(f"I never lie{begins}we agree").strip() == "we agree"
    assert english.last_clause("the butter and someone else") == "the butter and someone else"


def test_sentences_of_both_languages():
    assert english.sentences("It rose. Nobody saw it; why?\n我看见了。她走了") == (
        "It rose.",
        "Nobody saw it;",
        "why?",
        "我看见了",
        "她走了",
    )


def test_quoted_words_stay_in_one_line():
    assert speech.quote('a\n"b"\u202e\u2028') == '"a\\n\\"b\\"\\u202e\\u2028"'
