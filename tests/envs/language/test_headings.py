"""The headings of observations by language: a table in Chinese has Chinese ones, and whoever cuts prose finds them."""

from __future__ import annotations

import re

import pytest
from parlour.envs import registry
from parlour.envs.core import Outcome
from parlour.envs.language.headings import LANGUAGES, headings_of, language_of, sections_of
from parlour.envs.language.text import end_of, was
from parlour.policies.by_text import options_in
from parlour.wrappers import TextActions
from parlour.wrappers.shapes import window

ZH = LANGUAGES["zh"]
CASES = {"en": "seed:3:en:4:1", "zh": "seed:3:zh:4:1"}


def opened(language: str, **settings):
    env = registry["murder_mystery_v0"].raw_env(case=CASES[language], info="full", **settings)
    env.reset(seed=1)
    return env


@pytest.mark.parametrize("language", CASES)
def test_a_table_has_the_headings_of_its_language(language):
    env = opened(language)
    headings = LANGUAGES[language]
    assert (language_of(env.text), headings_of(env.text)) == (language, headings)
    now, later = env.observe("player_0")["text"], env.observe("player_1")["text"]
    assert [now.count(heading) for heading in headings[:3]] == [1, 1, 1]
    assert later.endswith(headings.choice + headings.not_your_turn)
    sections = sections_of(now)
    assert sections is not None
    assert sections.language == language
    assert f"{headings.who}{sections.who}{headings.record}{sections.record}{headings.choice}{sections.choice}" == now
    assert options_in(now) == env.infos["player_0"]["options"]


@pytest.mark.parametrize("language", CASES)
def test_the_rules_stand_at_the_end_of_the_first_section_and_in_info(language):
    env = opened(language, rules="player", hearing="two", rounds=2)
    rules = env.infos["player_0"]["rules"]
    sections = sections_of(env.observe("player_0")["text"])
    assert sections is not None
    assert sections.who.endswith(rules + "\n")
    brief, _, whole = rules.partition("\n\n")
    assert len(brief) < 600 < 3 * len(whole)
    for words in {
        "en": ("rounds is 2", "Only the two", "with the most votes is found guilty"),
        "zh": ("一共2轮", "两个人", "得票最多的人被"),
    }[language]:
        assert words in whole
    assert env.text.rules == rules


def test_a_chinese_table_says_nothing_in_english():
    env = TextActions(opened("zh"), on_bad="ask_again")
    env.reset(seed=1)
    env.step("")
    text = env.observe("player_0")["text"]
    assert text.splitlines()[-1].startswith(ZH.refused)
    while env.unwrapped.outcome is None:
        env.step(env.infos[env.agent_selection]["options"][0])
        text = env.observe("player_2")["text"]
        assert not re.search("[A-Za-z]", text), re.findall(".*[A-Za-z].*", text)
    assert not re.search("[A-Za-z]", window(text, 2))
    assert ZH.left_out.split("{")[0] in window(text, 2)


def test_an_end_in_words():
    avalon = registry["avalon_v0"].raw_env()
    assert end_of(avalon.text, Outcome((), "evil", "quests")) == "Evil wins: three quests failed."
    assert end_of(avalon.text, Outcome((), "draw", "forfeit")) == "Nobody wins: a player gave up."
    lost = Outcome((-1.0, 1.0), "evil", "quests")
    assert end_of(avalon.text, lost, 0) == "You lost: evil failed three quests."
    assert end_of(avalon.text, lost, 1) == "You won: evil failed three quests."
    named = Outcome((-1.0, 1.0), "evil", "assassination")
    assert end_of(avalon.text, named, 0) == "You lost: your Merlin was named."
    assert end_of(avalon.text, named, 1) == "You won: the Assassin found Merlin."
    en, zh = (opened(language).text for language in ("en", "zh"))
    assert end_of(en, Outcome((), "murderers", "votes")) == "The murderers win: more victims are missed than solved."
    assert end_of(zh, Outcome((), "murderers", "votes")) == "凶手获胜：破案的死者少于未破的。"
    assert end_of(zh, Outcome((), "draw", "forfeit")) == "不分胜负：有玩家弃权。"


def test_who_somebody_was_in_words():
    en, zh = opened("en"), opened("zh")
    seat = next(seat for seat in range(4) if any(en.view(seat).murders))
    assert was(en.text, en.view(seat)) == f"{en.view(seat).name} (player_{seat}) was a murderer."
    assert "是" in was(zh.text, zh.view(0))
    assert not re.search("[A-Za-z]", was(zh.text, zh.view(0)))
