"""The shipped cases: six stories in two languages, made by the generator and edited; they must stay fair and readable."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from parlour.envs.murder_mystery.cases.case import dump, load
from parlour.envs.murder_mystery.cases.find import find, shipped
from parlour.envs.murder_mystery.vocabulary.facts import read

from tests.envs.murder_mystery.fair_cases import assert_same_story, assert_told_as_known, faults, sentences_of

STORIES = sorted({name.rsplit("_", 1)[0] for name in shipped()})
CASES = pytest.mark.parametrize("name", shipped())


def raw(name) -> bytes:
    return (files("parlour.envs.murder_mystery.cases") / "data" / f"{name}.json").read_bytes()


@CASES
def test_the_file_is_written_as_dump_writes_it_and_is_small(name):
    case = find(name)
    assert case.id == name
    assert case.language == name[-2:]
    assert raw(name).decode("utf-8") == dump(case)
    assert load(json.loads(dump(case))) == case
    assert len(raw(name)) < 60_000


@CASES
def test_the_solver_proves_it_and_scripts_and_briefing_say_what_the_facts_say(name):
    case = find(name)
    assert faults(case) == ()
    assert_told_as_known(case)


@CASES
def test_no_script_of_an_innocent_states_who_did_it(name):
    case = find(name)
    for seat, character in enumerate(case.characters):
        if not any(character.murders):
            for sentence in sentences_of(character.script):
                if re.search(r"kill|murder|wish .* dead|杀|凶手|害死", sentence):
                    kinds = {fact.kind for fact in read(sentence, case.vocabulary, seat)}
                    assert kinds <= {"motive", "died"}, sentence
                    assert kinds or not any(other in sentence for other in case.names), sentence


@CASES
def test_every_script_has_a_beginning_of_its_own(name):
    # the edited part: a paragraph before the facts, told in the first person
    case = find(name)
    beginnings = [character.script.splitlines()[0] for character in case.characters]
    assert len(set(beginnings)) == case.seats
    for seat, text in enumerate(beginnings):
        assert len(text) > (300 if case.language == "en" else 100)
        assert read(text, case.vocabulary, seat) == []
        assert re.search(r"\b(?:I|my)\b|我", text)


@pytest.mark.parametrize("story", STORIES)
def test_both_languages_tell_the_same_story(story):
    english, chinese = find(f"{story}_en"), find(f"{story}_zh")
    assert_same_story(english, chinese)
    assert [len(person.objectives) for person in english.characters] == [len(p.objectives) for p in chinese.characters]


def test_six_stories_are_in_both_languages_with_titles_of_their_own_and_one_has_two_victims():
    assert len(STORIES) == 6
    assert set(shipped()) == {f"{story}_{language}" for story in STORIES for language in ("en", "zh")}
    assert len({find(name).title for name in shipped()}) == 12
    english, chinese = ([find(f"{story}_{language}") for story in STORIES] for language in ("en", "zh"))
    assert sorted(len(case.victims) for case in english) == [1, 1, 1, 1, 1, 2]
    assert {case.seats for case in english} == {4, 5}
    assert not any(re.search(r"[\u4e00-\u9fff]", dump(case)) for case in english)
    assert not any(re.search(r"[A-Za-z]{2,}", person.script) for case in chinese for person in case.characters)
