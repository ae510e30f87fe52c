"""The prompts of a murder mystery: what they begin with, what fits their schemas, and the language they are in.

Questions are those of real games: every method plays in English and in Chinese, and every seat is quizzed. Any reply that
fits the schema of a question is an answer to it; consecutive prompts begin alike; a Chinese prompt is in Chinese.
"""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies import ChatPlayer
from parlour.policies.agents.murder_mystery import AGENTS, Reader
from parlour.policies.agents.murder_mystery.asks import CaseAsk, SenseAll, Vote
from parlour.policies.agents.murder_mystery.heard import ReadFacts
from parlour.policies.agents.murder_mystery.quiz import Quiz
from parlour.policies.agents.murder_mystery.scene import Talk
from parlour.policies.llm import fit
from parlour.policies.llm.ask import ASKS, Ask, BadReply, read_back
from parlour.policies.llm.prompt import Templates
from parlour.training.play import rollout

from tests.policies.agents.murder_mystery.free_words import FreeSpeaker
from tests.policies.agents.murder_mystery.players import Listener, game_of, seats_of
from tests.policies.llm.schema_fuzz import SchemaPlayer, refused

CASES = {"en": "seed:3:en:5:1", "zh": "seed:3:zh:5:1"}
METHODS = [*(agent.name for agent in AGENTS), "player_star:suspicion=graded,murderer=updated"]
KINDS = sorted(kind for kind in ASKS if kind.startswith("questum."))


@cache
def played(name: str, language: str) -> tuple[list[tuple[Ask[Any], str]], tuple[Any, ...]]:
    """What was asked in a game of one method, with the whole prompts that would be sent, and the last views."""
    model, reference = Listener(), CASES[language]
    players = [ChatPlayer(model) for _ in range(5)] if name == "chat" else seats_of(name, model, reference)
    table = rollout.table("murder_mystery_v0", case=reference, rounds=2)
    views = rollout.play(table, players, 1).last_views
    return [(ask, f"{ask.system(context.rules)}\n\n{ask.prompt()}") for context, ask, _ in model.calls], tuple(views)


@cache
def quizzed(language: str) -> list[Quiz]:
    """Every seat's questions of the quiz, from what it heard and, for the first seat, from all scripts."""
    views, case = played("questum", language)[1], find(CASES[language])
    stories = {character.name: character.script for character in case.characters}
    own = [Reader(view).ask(row) for seat, view in enumerate(views) for row in case.questions[seat]]
    return [*own, *(Reader(views[0], "all", stories).ask(row) for row in case.questions[0])]


@cache
def spoken(language: str) -> tuple[ReadFacts, ...]:
    """What planners ask at a table that answers in words of its own."""
    model = FreeSpeaker()
    game_of("questum:mode=plan", CASES[language], model, rounds=1)
    return tuple(model.read())


@cache
def questions(language: str) -> tuple[Ask[Any], ...]:
    calls = [call for name in METHODS for call in played(name, language)[0]]
    return (*(question for question, _ in calls), *quizzed(language), *spoken(language))


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
    _, episode = game_of("questum", CASES["zh"], SchemaPlayer(), seed=3, rounds=2)
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


@pytest.mark.parametrize(
    ("kind", "field", "said", "read"),
    [
        ("questum.sense", "choice", "NEGATIVE.", "negative"),
        ("questum.sense", "choice", "负面", "negative"),
        ("questum.sense", "choice", "Natural", "neutral"),  # a misprint in the paper's sensor
        ("questum.quiz", "answer", "(B)", "b"),
        ("questum.quiz", "answer", "b。", "b"),
    ],
)
def test_what_is_unmistakable_is_read(kind, field, said, read):
    question = next(q for q in of_kind(kind) if getattr(q, "pick", 1) == 1)
    assert getattr(question.read(json.dumps({"reason": "", field: said})), field) == read
    with pytest.raises(BadReply):
        question.read(json.dumps({"reason": "", field: "rather high"}))


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


def test_scene_self_and_script_come_first_then_the_talk_which_only_grows():
    by_seat: dict[str, list[CaseAsk[Any]]] = {}
    for question, prompt in played("questum", "en")[0]:
        assert isinstance(question, CaseAsk)
        assert not re.search(r"\d\.\d{4}", prompt)
        assert prompt.count(json.dumps(question.scene.places)) == 1
        by_seat.setdefault(question.me.name, []).append(question)
        names = re.findall("^## (.+)$", prompt, re.MULTILINE)
        order = [name for name in ("scene", "me", "script", "dialogue") if name in names]
        assert names[: len(order)] == order
    for asked in by_seat.values():
        with_talk = [question for question in asked if getattr(question, "dialogue", None)]
        assert len({tuple(question.script) for question in with_talk}) == 1
        for before, after in pairwise(with_talk):
            assert after.dialogue[: len(before.dialogue)] == before.dialogue


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


@pytest.mark.parametrize("name", [*METHODS, "chat", "spoken", "quiz"])
def test_a_chinese_game_puts_its_questions_in_chinese(name):
    asked = {"spoken": spoken, "quiz": quizzed}.get(name)
    calls = [(q, f"{q.system()}\n{q.prompt()}") for q in asked("zh")] if asked else played(name, "zh")[0]
    assert calls
    for question, prompt in calls:
        assert question.language == "zh"
        assert latin(prompt) == [], question.kind
        assert read_back(question.prompt()) == question


def test_what_heuristics_say_in_a_chinese_game_is_chinese():
    assert not [event for event in played("questum", "zh")[1][0].events if re.search("[A-Za-z]", event.move.words)]


def test_every_kind_was_heard_in_both_languages():
    for language in CASES:
        assert {question.kind for question in questions(language)} == set(KINDS)
