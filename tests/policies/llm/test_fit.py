"""A prompt that fits: oldest speech goes first, then what can be spared, then most of the rules, then the oldest facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.policies.llm.ask import ASKS, Answer, Ask
from parlour.policies.llm.fit import estimated_tokens, fitted, newest, opening
from parlour.policies.llm.prompt import Templates

RULES = "Two teams play.\n\n" + "Much is to be said on this. " * 40
FACTS = [f"Quest {k}: the team goes; votes 3 to 2." for k in range(6)]
WORDS = [f'player_{k} says: "{"word " * 30}{k}"' for k in range(6)]
TALK = [line for pair in zip(FACTS, WORDS, strict=True) for line in pair]


class Nod(Answer):
    yes: bool


class Recorded(Ask[Nod]):
    kind: ClassVar[str] = "test_fit.recorded"
    template: ClassVar[str] = "Yes or no?"
    record: ClassVar[tuple[str, ...]] = ("lines",)
    spare: ClassVar[tuple[str, ...]] = ("advice",)

    lines: list[str]
    advice: str = ""

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return " says: " in entry

    def heuristic(self, rng: np.random.Generator) -> Nod:
        return Nod(yes=True)


ASKS.pop(Recorded.kind)

QUESTION = Recorded(lines=TALK, advice="Be careful. " * 20)
PLAIN = Templates()


def test_a_prompt_with_room_is_whole():
    whole = opening(QUESTION, RULES, PLAIN)
    assert fitted(QUESTION, RULES, PLAIN, whole.tokens()) == whole
    assert (whole.cut, "left out" in whole.user) == (0, False)


def test_the_oldest_speech_goes_first_and_as_little_as_need_be():
    whole = opening(QUESTION, RULES, PLAIN)
    put = fitted(QUESTION, RULES, PLAIN, whole.tokens() - 60)
    assert put.cut == 2  # two lines of some 55 tokens each, less the line that tells of it
    assert [words in put.user for words in WORDS] == [False] * 2 + [True] * 4
    assert "2 older lines are left out." in put.user
    assert put.system == whole.system


def test_then_goes_what_can_be_spared_then_most_of_the_rules():
    spared = fitted(
        QUESTION, RULES, PLAIN, opening(QUESTION.model_copy(update={"lines": FACTS}), RULES, PLAIN).tokens()
    )
    assert [words in spared.user for words in WORDS] == [False] * 5 + [True]  # in the room that the advice had
    assert "Be careful" not in spared.user
    assert "Much is to be said" in spared.system
    brief = fitted(QUESTION, RULES, PLAIN, spared.tokens() - 100)
    assert "Much is to be said" not in brief.system
    assert "Two teams play." in brief.system


def test_the_oldest_facts_go_last_and_the_newest_four_stay():
    question = QUESTION.model_copy(update={"lines": TALK})
    least = opening(Recorded(lines=FACTS[2:]), "Two teams play.", replace(PLAIN, brief=True)).tokens()
    put = newest(question, RULES, PLAIN, least + 20)  # and some 20 tokens for the line that tells of it
    assert [fact in put.user for fact in FACTS] == [False] * 2 + [True] * 4
    assert not any(words in put.user for words in WORDS)
    assert put.cut == 9  # six lines of speech, the advice, two facts
    assert "9 older lines are left out." in put.user
    assert newest(question, RULES, PLAIN, least - 20) is None


def test_what_does_not_fit_with_its_facts_is_not_fitted():
    facts = Recorded(lines=FACTS)
    least = opening(facts, "Two teams play.", replace(PLAIN, brief=True)).tokens()
    assert fitted(facts, RULES, PLAIN, least + 40) is not None
    assert fitted(facts, RULES, PLAIN, least - 40) is None


def test_general_words_and_descriptions_of_sections_go_last_of_all():
    facts = Recorded(lines=FACTS)
    brief = opening(facts, "Two teams play.", replace(PLAIN, brief=True))
    with_rules = opening(facts, "Two teams play.", PLAIN).tokens()
    assert "headings such as" in fitted(facts, RULES, PLAIN, with_rules + 40).system
    assert "headings such as" not in fitted(facts, RULES, PLAIN, with_rules - 40).system
    assert "never obey" in brief.system


@given(room=st.integers(50, 1500), count=st.integers(0, 6))
def test_no_fact_is_ever_missing_and_nothing_is_longer_than_its_room(room, count):
    question = QUESTION.model_copy(update={"lines": TALK[: 2 * count]})
    put = fitted(question, RULES, PLAIN, room)
    if put is not None:
        assert put.tokens() <= room
        assert all(fact in put.user for fact in FACTS[:count])


@pytest.mark.parametrize(("text", "tokens"), [("", 8), ("abc", 9), ("abcd", 10), ("我是好人", 12), ("a我", 10)])
def test_an_estimate_takes_a_third_of_ascii_and_all_of_the_rest(text, tokens):
    assert estimated_tokens(text) == tokens
