"""The language of facts: the canonical sentences, that they are read back, and what is not read as a fact."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.vocabulary.facts import (
    KINDS,
    MEANS,
    MOTIVE,
    OPEN,
    PARAMETERS,
    RELATION,
    SIGHTING,
    WHEREABOUTS,
    CaseVocabulary,
    Fact,
    check_fact,
    forms_of,
    read,
    relevant,
    say,
)

EN = CaseVocabulary(
    "en",
    ("Ada Vane", "Han Wu (Han the Attendant or Han the Crew Member)", "Mrs. Tan", "Cy Low"),
    (("Ada",), ("Han Wu", "Han the Attendant"), (), ("Cy",)),
    3,
    ("the library", "the tea room"),
    ("20:00", "21:00"),
    ("the rat poison", "the old revolver"),
    ("revenge for an old wrong", "jealousy"),
    ("the nephew", "an old friend"),
    ("the ring", "the ring box"),
)
ZH = CaseVocabulary(
    "zh",
    ("林若安", "周博（阿博）", "阮太太（玉珠）", "何老爷"),
    (("若安",), ("阿博",), ("玉珠",), ()),
    3,
    ("书房", "茶室"),
    ("晚上八点", "晚上八点半"),
    ("老鼠药", "旧手枪"),
    ("复仇", "嫉妒"),
    ("侄子", "老朋友"),
    ("戒指", "戒指盒"),
)
ADA, HAN, TAN, CY = range(4)
LANGUAGES = pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])


def every_fact(words):
    """All facts that the vocabulary can say, nobody related to himself."""
    for kind, parameters in PARAMETERS.items():
        ranges = []
        for parameter in parameters:
            if parameter == "f":
                ranges.append(range(-1, 2))
            else:
                least = -1 if kind == "died" and parameter != "a" else 0
                ranges.append(range(least, len(words.words(parameter))))
        for args in product(*ranges):
            alone = kind in ("relation", "feels", "motive", "peace") and args[0] == args[-1]
            if not alone and not (kind == "died" and set(args[1:]) == {-1}):
                yield Fact(kind, args)


def mouths(fact, words):
    """Who may say it: anybody and nobody; nobody sees himself."""
    seats = [seat for seat in range(words.seats) if fact.kind != "saw" or fact.args[0] != seat]
    return [None, *seats]


@LANGUAGES
def test_every_fact_is_read_back_from_every_form_and_mouth(words):
    count = 0
    for fact in every_fact(words):
        for speaker in mouths(fact, words):
            for form in range(forms_of(fact, words, speaker)):
                sentence = say(fact, words, speaker, form)
                assert read(sentence, words, speaker) == [fact], sentence
                count += 1
    assert count > 1200
    assert {fact.kind for fact in every_fact(words)} == set(KINDS)


@pytest.mark.parametrize(
    ("fact", "speaker", "english", "chinese"),
    [
        (Fact("at", (ADA, 0, 1)), ADA, "At 21:00 I was in the library.", "晚上八点半，我在书房。"),
        (Fact("at", (ADA, 0, 1)), TAN, "At 21:00 Ada Vane was in the library.", "晚上八点半，林若安在书房。"),
        (Fact("saw", (TAN, 1, 0)), ADA, "At 20:00 I saw Mrs. Tan in the tea room.", "晚上八点，我在茶室看见了阮太太（玉珠）。"),
        (Fact("saw", (TAN, 1, 0)), None, "Mrs. Tan was seen in the tea room at 20:00.", "晚上八点，有人在茶室看见了阮太太（玉珠）。"),
        (Fact("relation", (ADA, 0, CY)), ADA, "I am the nephew of Cy Low.", "我是何老爷的侄子。"),
        (Fact("relation", (ADA, 1, TAN)), TAN, "Ada Vane is my old friend.", "林若安是我的老朋友。"),
        (Fact("motive", (ADA, 1, CY)), TAN, "Ada Vane had a reason to kill Cy Low: jealousy.", "林若安有理由杀何老爷：嫉妒。"),
        (Fact("had", (TAN, 1)), TAN, "I could get at the old revolver.", "我拿得到旧手枪。"),
        (Fact("lacked", (TAN, 1)), None, "Mrs. Tan could not get at the old revolver.", "阮太太（玉珠）拿不到旧手枪。"),
        (Fact("died", (CY, 0, -1, -1)), ADA, "Cy Low died in the library.", "何老爷死在书房。"),
        (Fact("died", (CY, 0, 1, 1)), None, "Cy Low died in the library at 21:00, killed with the old revolver.",
         "何老爷晚上八点半死在书房，是被旧手枪害死的。"),
        (Fact("feels", (ADA, -1, CY)), ADA, "I hate Cy Low.", "我恨何老爷。"),
        (Fact("feels", (TAN, 0, ADA)), ADA, "Mrs. Tan does not care for me.", "阮太太（玉珠）对我没有好恶。"),
        (Fact("feels", (ADA, 1, TAN)), None, "Ada Vane is fond of Mrs. Tan.", "林若安喜欢阮太太（玉珠）。"),
        (Fact("took", (ADA, 1)), ADA, "I took the ring box.", "我拿走了戒指盒。"),
        (Fact("peace", (TAN, CY)), ADA, "Mrs. Tan had made peace with Cy Low.", "阮太太（玉珠）已经和何老爷和好了。"),
    ],
)  # fmt: skip
def test_the_canonical_sentence(fact, speaker, english, chinese):
    assert say(fact, EN, speaker) == english
    assert say(fact, ZH, speaker) == chinese


@LANGUAGES
@given(data=st.data())
def test_a_text_of_many_sentences_gives_its_facts_once_each_in_order(words, data):
    facts = data.draw(st.lists(st.sampled_from([f for f in every_fact(words) if f.kind != "saw"]), max_size=6))
    gap = data.draw(st.sampled_from([" ", "\n"]))
    text = gap.join(say(fact, words, ADA, data.draw(st.integers(0, 4))) for fact in facts)
    assert read(text, words, ADA) == list(dict.fromkeys(facts))


AT = Fact("at", (ADA, 0, 0))


@pytest.mark.parametrize(
    "text",
    [
        "I was not in the library at 20:00.",
        "Were you in the library at 20:00?",
        "It is not true that at 20:00 I was in the library.",
        "If at 20:00 I was in the library, nobody saw me.",
        "Mrs. Tan said that at 20:00 I was in the library.",
        "He told Dr. Hu and Mrs. Tan that at 20:00 I was in the library.",
        "At 20:00 I was in the cellar.",
        "At 20:00 she was in the library.",
        "晚上八点，我不在书房。",
        "晚上八点，我在书房吗？",
        "如果晚上八点，我在书房。",
        "阮太太（玉珠）说：晚上八点，我在书房。",
        "并非晚上八点，我在书房。",
        "晚上八点，我在书房外面。",
    ],
)
def test_denials_questions_suppositions_and_reports_are_no_facts(text):
    assert read(text, EN if text.isascii() else ZH, ADA) == []


@pytest.mark.parametrize(
    "text",
    [
        "At 20:00 I was in the library.",
        "at 20:00 i was in the Library",
        "Well, I was at the library at 20:00, reading.",
        "I can tell you that at 20:00 I was in the library, and it was cold.",
        "Nobody believes me. At 20:00 I was in the library. Is that so strange?",
        "I must say that at 20:00 Ada was in the library.",
        "晚上八点，我在书房",
        "晚上八点我在书房。",
        "老实说，我晚上八点在书房，看书。",
    ],
)
def test_small_variations_are_read(text):
    assert read(text, EN if text.isascii() else ZH, ADA) == [AT]


def test_the_longest_name_counts():
    # "the ring" is part of "the ring box", 八点 of 八点半, and "Han Wu" of the full name
    assert read("I took the ring box.", EN, ADA) == [Fact("took", (ADA, 1))]
    assert read("晚上八点半，我在书房。", ZH, ADA) == [Fact("at", (ADA, 0, 1))]
    name = "Han Wu (Han the Attendant or Han the Crew Member)"
    assert read(f"{name} took the ring.", EN) == read("Han Wu took the ring.", EN) == [Fact("took", (HAN, 0))]


def test_the_first_person_is_the_speaker_and_nobody_without_one():
    assert read("I took the ring.", EN, TAN) == [Fact("took", (TAN, 0))]
    assert read("I took the ring.", EN) == []
    assert read("我拿走了戒指。", ZH) == []
    assert read("Mrs. Tan is my nephew. Ada hates me.", EN) == []


def test_a_vocabulary_without_words_reads_what_it_can():
    # WellPlay cases have names only
    bare = CaseVocabulary("en", EN.persons, EN.aliases, 3, *[()] * 6)
    assert read("At 20:00 I was in the library. I hate Cy Low.", bare, ADA) == [Fact("feels", (ADA, -1, CY))]


@LANGUAGES
def test_each_argument_of_a_fact_is_checked(words):
    for fact in every_fact(words):
        check_fact(fact, words)
        for place in range(len(fact.args)):
            wrong = fact._replace(args=(*fact.args[:place], 99, *fact.args[place + 1 :]))
            with pytest.raises(ParlourError, match="99 is not accepted; accepted: "):
                check_fact(wrong, words)
        with pytest.raises(
            ParlourError, match=f"{fact.kind} takes {len(fact.args)} arguments, not {len(fact.args) + 1}"
        ):
            check_fact(fact._replace(args=(*fact.args, 0)), words)


def test_what_does_not_fit_the_vocabulary_cannot_be_said():
    for fact in (Fact("at", (0, 2, 0)), Fact("at", (9, 0, 0)), Fact("at", (0, 0)), Fact("sang", (0,))):
        with pytest.raises(ParlourError):
            say(fact, EN, 0)


@pytest.mark.parametrize(
    ("fact", "topic", "about", "answers"),
    [
        (Fact("at", (ADA, 0, 0)), WHEREABOUTS, -1, True),
        (Fact("at", (TAN, 0, 0)), WHEREABOUTS, -1, False),  # somebody else's whereabouts only if asked about
        (Fact("at", (TAN, 0, 0)), WHEREABOUTS, TAN, True),
        (Fact("relation", (ADA, 0, CY)), RELATION, -1, True),
        (Fact("relation", (ADA, 0, TAN)), RELATION, -1, False),  # the topic is the relation to the victim
        (Fact("relation", (ADA, 0, TAN)), RELATION, TAN, True),
        (Fact("feels", (ADA, -1, CY)), RELATION, -1, True),
        (Fact("motive", (TAN, 0, CY)), MOTIVE, -1, True),
        (Fact("motive", (TAN, 0, CY)), MOTIVE, HAN, False),
        (Fact("motive", (TAN, 0, ADA)), MOTIVE, TAN, False),  # no motive against this victim
        (Fact("peace", (TAN, CY)), MOTIVE, TAN, True),
        (Fact("saw", (TAN, 0, 0)), SIGHTING, -1, True),
        (Fact("saw", (TAN, 0, 0)), SIGHTING, HAN, False),
        (Fact("died", (CY, 0, -1, -1)), SIGHTING, TAN, True),
        (Fact("died", (CY, 0, -1, -1)), MEANS, -1, False),
        (Fact("died", (CY, -1, -1, 1)), MEANS, -1, True),
        (Fact("had", (TAN, 1)), MEANS, -1, True),
        (Fact("lacked", (TAN, 1)), MEANS, TAN, True),
        (Fact("lacked", (TAN, 1)), MEANS, HAN, False),
        (Fact("took", (TAN, 1)), OPEN, -1, True),
    ],
)
def test_what_answers_a_question(fact, topic, about, answers):
    assert relevant(fact, topic, ADA, about, CY) == answers
