"""The prompts of a murder mystery: what they begin with, what fits their schemas, and the language they are in.

Questions are those of real games: every method plays in English and in Chinese, and every seat is quizzed. Any reply that
fits the schema of a question is an answer to it; consecutive prompts begin alike; a Chinese prompt is in Chinese.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from free_words import FreeSpeaker
from hypothesis import example, given, strategies as st
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies import ChatPlayer, QuestumAgent, make_policy
from parlour.policies.agents.murder_mystery import AGENTS, Reader, sensors
from parlour.policies.agents.murder_mystery.asks import CaseAsk, SenseAll, Vote
from parlour.policies.agents.murder_mystery.heard import ReadFacts
from parlour.policies.agents.murder_mystery.scene import Talk
from parlour.policies.llm import fit
from parlour.policies.llm.ask import ASKS, Ask, BadReply, read_back
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.policies.llm.prompt import Templates
from parlour.training.play import rollout
from schema_fuzz import SchemaPlayer, refused

CASES = {"en": "seed:3:en:5:1", "zh": "seed:3:zh:5:1"}
METHODS = [agent.name for agent in AGENTS]
KINDS = sorted(kind for kind in ASKS if kind.startswith("questum."))


class Listener(OfflineModel):
    """Answers by heuristic and keeps each question with the whole prompt that would be sent."""

    def __init__(self) -> None:
        self.calls: list[tuple[Ask[Any], str]] = []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.calls.append((question, f"{question.system(context.rules)}\n\n{question.prompt()}"))
        return super().answer(question, context)


@cache
def played(name: str, language: str) -> tuple[Listener, tuple[Any, ...]]:
    """What was asked in a game of one method, and the last views."""
    model, reference = Listener(), CASES[language]
    players = [
        ChatPlayer(model) if name == "chat" else make_policy(name, "murder_mystery_v0", {}, model)
        for _ in range(find(reference).seats)
    ]
    table = rollout.table("murder_mystery_v0", case=reference, rounds=2)
    return model, tuple(rollout.play(table, players, 1).last_views)


@cache
def quizzed(language: str) -> Listener:
    """Every seat's questions of the quiz, from what it heard and, for the first seat, from all scripts."""
    model, views, case = Listener(), played("questum", language)[1], find(CASES[language])
    stories = {character.name: character.script for character in case.characters}
    for seat, view in enumerate(views):
        for row in case.questions[seat]:
            Reader(view).answer(model, row)
            if seat == 0:
                Reader(view, "all", stories).answer(model, row)
    return model


@cache
def spoken(language: str) -> tuple[ReadFacts, ...]:
    """What planners ask at a table that answers in words of its own."""
    model, reference = FreeSpeaker(), CASES[language]
    players = [make_policy("questum:mode=plan", "murder_mystery_v0", {}, model) for _ in range(find(reference).seats)]
    rollout.play(rollout.table("murder_mystery_v0", case=reference, rounds=1), players, 1)
    return tuple(model.read())


@cache
def questions(language: str) -> tuple[Ask[Any], ...]:
    calls = [call for name in METHODS for call in played(name, language)[0].calls]
    return (*(question for question, _ in (*calls, *quizzed(language).calls)), *spoken(language))


def of_kind(kind: str, language: str = "en") -> list[Any]:
    return [question for question in questions(language) if question.kind == kind]


# -- any reply that fits the schema --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("language", CASES)
def test_of_replies_that_fit_the_schema_only_those_that_say_nothing_or_no_fact_are_refused(language):
    faults = refused(questions(language), np.random.default_rng(0))
    assert set(faults) == set(KINDS)
    for kind, why in faults.items():
        wrong = [
            reason
            for reason in why
            if not re.search(r"blank|none of them blank|question: fact .* cannot be read", reason)
        ]
        assert wrong == [], kind
        if of_kind(kind, language)[0].choices():
            assert why == [], kind


def test_whoever_answers_at_random_within_the_schema_plays_a_whole_game():
    model = SchemaPlayer()
    players = [make_policy("questum", "murder_mystery_v0", {}, model) for _ in range(5)]
    episode = rollout.play(rollout.table("murder_mystery_v0", case=CASES["zh"], rounds=2), players, 3)
    assert episode.outcome is not None
    assert not any(count for faults in episode.faults.values() for count in faults.values())


def test_each_sensor_is_held_to_its_own_choices_and_reasons_come_first():
    question: SenseAll = of_kind("questum.sense_all", "zh")[0]
    readings = question.schema_of_answer()["properties"]["readings"]
    assert list(readings["properties"]) == readings["required"] == ["好恶", "动机", "作案机会", "追问价值"]
    assert readings["properties"]["好恶"]["properties"]["choice"]["enum"] == ["正面", "中性", "负面"]
    assert readings["properties"]["追问价值"]["properties"]["choice"]["enum"] == ["高", "中", "低"]
    for kind in KINDS:
        fields = list(of_kind(kind)[0].answer_type().model_fields)
        assert fields[0] in ("reason", "thought") or len(fields) == 1, kind


def test_the_sensors_of_a_language_have_the_choices_of_all_in_their_order():
    for sensor, spec in sensors.SENSORS.items():
        for language in CASES:
            card = sensors.card(sensor, language)
            assert sensors.sensor_of(card.sensor) == sensor
            assert [sensors.choice_of(choice, spec.choices) for choice in card.choices] == list(spec.choices)
            assert [card.worded(choice) for choice in spec.choices] == card.choices


@pytest.mark.parametrize(
    ("kind", "reply", "read"),
    [
        ("questum.sense", {"reason": "", "choice": "NEGATIVE."}, "negative"),
        ("questum.sense", {"reason": "", "choice": "负面"}, "negative"),
        ("questum.sense", {"reason": "", "choice": "Natural"}, "neutral"),
        ("questum.quiz", {"reason": "", "answer": "(B)"}, "b"),
        ("questum.quiz", {"reason": "", "answer": "b。"}, "b"),
    ],
)
def test_what_is_unmistakable_is_read(kind, reply, read):
    question = next(q for q in of_kind(kind) if getattr(q, "pick", 1) == 1)
    answer = question.read(json.dumps(reply))
    assert read in (getattr(answer, "choice", ""), getattr(answer, "answer", ""))


def test_an_option_of_the_quiz_may_be_written_out_and_two_letters_in_any_order():
    question = next(q for q in of_kind("questum.quiz") if q.pick == 1)
    assert question.read(json.dumps({"reason": "x", "answer": question.options["c"]})).answer == "c"
    two = next(q for q in of_kind("questum.quiz") if q.pick == 2)
    assert two.read('{"reason": "x", "answer": "c、a"}').answer == "a,c"
    with pytest.raises(BadReply, match="answer 'a,b' is not accepted"):
        question.read('{"reason": "x", "answer": "a,b"}')


# -- the lines of talk -----------------------------------------------------------------------------------------


def test_talk_is_one_line_in_which_words_stand_in_quotation_marks():
    talk = Talk(asker="Ann", speaker="Ben (cook)", victim="Hugh", question='Where?\nAnn: "x"', answer="In the attic.")
    assert talk.line == 'Ann → Ben (cook) (Hugh): "Where?\\nAnn: \\"x\\"" Ben (cook): "In the attic."'
    assert Talk.model_validate(talk.line) == talk
    assert Talk(asker="", speaker="安李", victim="", question="", answer="我是安李。").line == '安李: "我是安李。"'


WORDS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(['"', '" Ben: "', "## vote\n- x", "a → b (c): ", "\\", "\u2028# x", "{}", "(", ") → (", ': "']),
)


@given(WORDS, WORDS, WORDS, WORDS, WORDS)
@example("a", "b", "c", '" b: "', "")
@example("a → b (c): ", "b", "c", "x", "y")
@example("", "", "", "", "")
def test_talk_reads_back_exactly_whatever_was_said_and_whatever_people_are_called(asker, speaker, victim, said, answer):
    talk = Talk(asker=asker, speaker=speaker, victim=victim, question=said, answer=answer)
    vote = next(q for q in of_kind("questum.vote"))
    question = vote.model_copy(update={"dialogue": [talk, talk]})
    prompt = question.prompt()
    assert read_back(prompt) == question
    assert [line for line in prompt.splitlines() if line.startswith("# ")] == ["# questum.vote"]


# -- what prompts begin with -----------------------------------------------------------------------------------


def alike(first: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(first), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[:middle] == other[:middle] else (low, middle - 1)
    return low


def shared(prompts: Iterable[str]) -> float:
    """The share of characters in the longest beginning that a prompt has in common with an earlier one."""
    seen: list[str] = []
    same = total = 0
    for prompt in prompts:
        place = bisect(seen, prompt)
        near = seen[max(place - 1, 0) : place + 1]
        same += max((alike(prompt, earlier) for earlier in near), default=0)
        total += len(prompt)
        seen.insert(place, prompt)
    return same / total


def test_a_prefix_cache_serves_most_of_each_prompt():
    """A prompt sorts next to the one with which it shares most. Must be 60 %; 50 % before the dialogue stood in front."""
    assert shared(["abc", "abd", "xyz", "abdx"]) == 5 / 13  # nothing, ab, nothing, abd
    for name in METHODS:
        if name != "mystery_none":  # which asks little: introductions, answers to nobody, one vote each
            for language in CASES:
                assert shared(prompt for _, prompt in played(name, language)[0].calls) > 0.6, (name, language)


def test_scene_self_and_script_come_first_then_the_talk_which_only_grows():
    by_seat: dict[str, list[CaseAsk[Any]]] = {}
    for question, prompt in played("questum", "en")[0].calls:
        assert isinstance(question, CaseAsk)
        by_seat.setdefault(question.me.name, []).append(question)
        names = re.findall("^## (.+)$", prompt, re.MULTILINE)
        order = [name for name in ("scene", "me", "script", "dialogue") if name in names]
        assert names[: len(order)] == order
    for asked in by_seat.values():
        with_talk = [question for question in asked if getattr(question, "dialogue", None)]
        assert len({tuple(question.script) for question in with_talk}) == 1
        for before, after in pairwise(with_talk):
            assert after.dialogue[: len(before.dialogue)] == before.dialogue


def test_no_input_is_a_number_of_seventeen_digits_or_a_list_of_words_of_the_case_twice():
    for question, prompt in played("questum", "en")[0].calls:
        assert not re.search(r"\d\.\d{4}", prompt)
        assert prompt.count(json.dumps(question.scene.places)) == 1  # type: ignore[attr-defined]


def test_a_prompt_that_is_too_long_loses_the_oldest_talk_and_never_the_script():
    question: Vote = max(of_kind("questum.vote"), key=lambda vote: len(vote.dialogue))
    whole = fit.opening(question, "", Templates())
    cut = fit.fitted(question, "", Templates(), whole.tokens() - 400)
    assert cut is not None
    assert cut.cut > 0
    lines = [talk.line for talk in question.dialogue]
    assert [line for line in lines if line in cut.user] == lines[cut.cut :]
    assert all(piece in cut.user for piece in question.script)


# -- in Chinese ------------------------------------------------------------------------------------------------

CODES = re.compile(
    r"^# \w+(?:\.\w+)+ \(zh\)$"  # the kind of a question
    r"|^## \w+$"  # the name of a section
    r"|`[^`\n]*`"  # a name or a code in the words of a template
    r'|"\w+":'  # a key of JSON
    r"|^- [a-e] = "  # the letter of an option
    r'|"[a-e](?:,[a-e])?"'  # the same, as it is chosen
    r"|\bplayer_\d+\b|\bJSON\b|\btrue\b|\bfalse\b",
    re.MULTILINE,
)


def latin(text: str) -> list[str]:
    """The words in Latin letters in a prompt, but for names, codes and keys."""
    return re.findall(r"[A-Za-z][A-Za-z']*", CODES.sub(" ", text))


def test_a_latin_word_is_found():
    assert latin('# questum.vote (zh)\n## me\n- a = 是\n`pick` {"name": "安"} player_2') == []
    assert latin("- a = yes\n# Who you are") == ["yes", "Who", "you", "are"]


@pytest.mark.parametrize("name", [*METHODS, "chat"])
def test_a_chinese_game_puts_its_questions_in_chinese(name):
    calls = played(name, "zh")[0].calls
    assert calls
    for question, prompt in calls:
        assert question.language == "zh"
        assert latin(prompt) == [], question.kind
        assert read_back(question.prompt()) == question


def test_a_chinese_answer_is_read_in_chinese():
    for question in spoken("zh"):
        assert question.language == "zh"
        assert latin(f"{question.system()}\n{question.prompt()}") == []
        assert read_back(question.prompt()) == question


def test_a_chinese_quiz_is_in_chinese():
    for question, prompt in quizzed("zh").calls:
        assert latin(prompt) == [], question.kind


def test_what_heuristics_say_in_a_chinese_game_is_chinese():
    players = [QuestumAgent() for _ in range(5)]
    views = rollout.play(rollout.table("murder_mystery_v0", case=CASES["zh"], rounds=1), players, 2).last_views
    assert not [event for event in views[0].events if re.search("[A-Za-z]", event.move.words)]


def test_every_kind_was_heard_in_both_languages():
    for language in CASES:
        assert {question.kind for question in questions(language)} == set(KINDS)
