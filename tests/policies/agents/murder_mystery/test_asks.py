"""The questions of Questum, PLAYER* and the methods beside them: what is read strictly, and what heuristics answer.

Decisions 4.4 (sensors), 4.5 (prompts, parsing, failures), 4.6 (memory), 4.7 (baselines) and 5 (PLAYER*).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.vocabulary.facts import Fact, read, say
from parlour.policies.agents.murder_mystery import (
    asks,
    heuristics,
    quiz_answers,
    sensors,
    think_asks,
    wording,
)
from parlour.policies.agents.murder_mystery.evidence import Excerpts, collect, judge
from parlour.policies.agents.murder_mystery.quiz import Reader
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, Talk, named, sentences
from parlour.policies.agents.murder_mystery.sensors import SENSORS, SensorReading, SensorSummary
from parlour.policies.llm.ask import BadReply
from parlour.training.play import rollout

from tests.policies.agents.murder_mystery.players import Scripted

RNG = np.random.default_rng(0)
HONEST = sentences("en").honest
WORDS = {
    "en": {
        "players": ["Ann Lee", "Ben Oak", "Cora May", "Dan Poe"],
        "victims": ["Old Sir Hugh"],
        "places": ["the attic", "the cellar"],
        "times": ["20:00", "21:00"],
        "means": ["the rope", "the gun"],
        "motives": ["jealousy", "the inheritance"],
        "relations": ["the nephew", "a creditor"],
        "items": ["the ring"],
    },
    "zh": {
        "players": ["安李", "本橡", "柯梅", "丹坡"],
        "victims": ["修爵士"],
        "places": ["阁楼", "地窖"],
        "times": ["晚上八点", "晚上九点"],
        "means": ["绳子", "手枪"],
        "motives": ["嫉妒", "遗产"],
        "relations": ["侄子", "债主"],
        "items": ["戒指"],
    },
}
ANN, BEN, CORA, DAN, HUGH = range(5)
ATTIC, CELLAR = 0, 1
EIGHT, NINE = 0, 1
ROPE, GUN = 0, 1
DIED = Fact("died", (HUGH, ATTIC, NINE, ROPE))


@cache
def scene(language: str = "en", victims: int = 1) -> Scene:
    words: dict[str, Any] = dict(WORDS[language])
    words["victims"] = [*words["victims"], *(["Mrs Teal"] if victims == 2 else [])]
    return Scene(language=language, briefing="", aliases=[[]] * (4 + victims), **words)


def me(seat: int = ANN, killed: tuple[int, ...] = (), language: str = "en", victims: int = 1) -> CharacterInfo:
    place = scene(language, victims)
    return CharacterInfo(
        name=place.players[seat], killed=[place.victims[k] for k in killed], objectives=["Find out who did it."]
    )


def script(*facts: Fact, seat: int = ANN, language: str = "en") -> list[str]:
    return [say(fact, scene(language).vocabulary, seat) for fact in facts]


def talk(
    speaker: int, *facts: Fact, question: str = "?", asker: int = ANN, language: str = "en", victim: int = 0
) -> Talk:
    place = scene(language)
    joint = " " if language == "en" else ""
    return Talk(
        asker=place.players[asker],
        speaker=place.players[speaker],
        victim=(*place.victims, "Mrs Teal")[victim],
        question=question,
        answer=joint.join(say(fact, place.vocabulary, speaker) for fact in facts),
    )


# -- names (decisions 4.5) ------------------------------------------------------------------------------------------


def test_a_name_is_read_exactly_and_else_by_a_unique_beginning():
    names = ["Han", "Han the Second", "Lin", "Linda"]
    assert named("Han", names) == "Han"
    assert named(" lin ", names) == "Lin"
    assert named("Han the", names) == "Han the Second"
    assert named("Li", names) is None  # begins two
    assert named("", names) is None
    assert named("Ho", names) is None


# -- letters (FORMAT.md: strict) -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "pick", "picked"),
    [
        ("a", 1, (0,)),
        ("D.", 1, (3,)),
        ("(c)", 1, (2,)),
        ("a,b", 2, (0, 1)),
        ("d、a", 2, (3, 0)),
        ("a,a", 1, (0,)),
        ("", 1, ()),  # upstream scores an empty answer as right
        ("a,b", 1, ()),
        ("a,b,c,d", 2, ()),  # upstream scores it as right
        ("because a", 1, ()),
        ("e", 1, ()),  # there are four options
        ("ab", 2, ()),
        ("选a", 1, ()),
    ],
)
def test_letters_are_read_strictly(words, pick, picked):
    assert quiz_answers.letters_of(words, 4, pick) == picked


# -- sensors (decisions 4.4) ----------------------------------------------------------------------------------------


def sensed(sensor: str, about: int, own: list[str], talks: list[Talk], asked: int = -1, language: str = "en") -> str:
    place = scene(language)
    who = me(language=language)
    known = sensors.known_of(Excerpts(place, who, place.victims[0], own, talks), place.players[about])
    return sensors.sense(sensor, known, asked).choice


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_motive_that_others_tell_of_reads_yes_and_peace_reads_no(language):
    motive, peace = Fact("motive", (BEN, 0, HUGH)), Fact("peace", (BEN, HUGH))
    talks = [talk(CORA, motive, language=language)]
    assert sensed("motivation", BEN, [], [], language=language) == "no"
    assert sensed("motivation", BEN, [], talks, language=language) == "yes"
    assert sensed("motivation", BEN, script(peace, language=language), talks, language=language) == "no"
    assert sensed("motivation", BEN, [], [*talks, talk(BEN, peace, language=language)], language=language) == "yes"


@pytest.mark.parametrize(
    ("own", "speaker", "fact", "read"),
    [
        (DIED, BEN, None, "yes"),
        (DIED, CORA, Fact("saw", (BEN, CELLAR, NINE)), "no"),
        (DIED, BEN, Fact("at", (BEN, CELLAR, NINE)), "yes"),  # his own word
        (DIED, ANN, Fact("lacked", (BEN, ROPE)), "no"),
        (DIED, ANN, Fact("lacked", (BEN, GUN)), "yes"),  # not what killed
        (Fact("died", (HUGH, -1, NINE, ROPE)), ANN, Fact("saw", (BEN, CELLAR, NINE)), "yes"),  # it may have been there
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_alibi_from_others_takes_the_opportunity_away_and_one_of_his_own_does_not(
    own, speaker, fact, read, language
):
    facts = [fact] if fact else []
    known = script(own, *(facts if speaker == ANN else []), language=language)
    talks = [talk(speaker, *facts, language=language)] if facts and speaker != ANN else []
    assert sensed("suspicion", BEN, known, talks, language=language) == read


@pytest.mark.parametrize(("felt", "whom", "read"), [(1, BEN, "positive"), (-1, BEN, "negative"), (-1, CORA, "neutral")])
def test_emotion_is_what_the_own_script_feels(felt, whom, read):
    assert sensed("emotion", BEN, script(Fact("feels", (ANN, felt, whom))), []) == read


def test_the_information_value_falls_with_the_matters_that_were_put():
    put = [wording.put(scene(), topic, "Old Sir Hugh") for topic in (wording.ABLE, wording.REASONS)]
    talks = [talk(BEN, DIED, question=words) for words in put]
    levels = [sensed("information value", BEN, [], talks[:k]) for k in range(3)]
    assert levels[0] == "high"
    assert levels[2] == "low"


def test_player_star_tells_the_information_value_how_many_questions_were_asked():
    assert [sensed("information value", BEN, [], [], asked=k) for k in range(4)] == ["high", "high", "medium", "low"]


def readings(**read: str) -> list[SensorReading]:
    return [SensorReading(sensor=sensor.replace("_", " "), choice=choice, reason="") for sensor, choice in read.items()]


def test_the_distance_to_the_hypothetical_murderer_is_the_number_of_sensors_that_read_otherwise():
    murderer = readings(emotion="negative", motivation="yes", suspicion="yes")
    assert sensors.distance(murderer) == 0
    assert sensors.distance(readings(emotion="neutral", motivation="yes", suspicion="no")) == 2
    assert sensors.distance([*murderer, *readings(information_value="low")]) == 0


# -- who can have done it (section 4.2, rule 3) ----------------------------------------------------------------


def judged(own: list[Fact], talks: list[Talk], *whom: int, victims: int = 1) -> dict[int, Any]:
    place = scene("en", victims)
    return judge(place, HUGH, list(whom), collect(place, [(ANN, script(*own))], talks))


def test_what_a_suspect_says_of_himself_counts_for_nothing():
    known = judged([DIED], [talk(BEN, Fact("lacked", (BEN, ROPE)), Fact("peace", (BEN, HUGH)))], BEN)[BEN]
    assert known.means == 0
    assert not known.peace


def test_a_lie_is_seen_by_what_others_say():
    known = judged([DIED, Fact("saw", (BEN, ATTIC, NINE))], [talk(BEN, Fact("at", (BEN, CELLAR, NINE)))], BEN, CORA)
    assert known[BEN].there
    assert known[BEN].caught == 1
    assert known[CORA].rivals == 1  # somebody else was there
    assert known[BEN].weight > known[CORA].weight


def test_what_was_said_about_another_victim_is_no_alibi():
    """Who killed the other one may have lied then."""
    alibi = talk(CORA, Fact("saw", (BEN, CELLAR, NINE)), victim=1)
    assert not judged([DIED], [alibi], BEN, victims=2)[BEN].elsewhere


# -- replies (rule 3) ------------------------------------------------------------------------------------------

OWN = (
    Fact("at", (ANN, ATTIC, NINE)),
    Fact("at", (ANN, CELLAR, EIGHT)),
    Fact("saw", (BEN, CELLAR, NINE)),
    Fact("saw", (CORA, CELLAR, EIGHT)),
    Fact("motive", (ANN, 0, HUGH)),
    Fact("motive", (BEN, 1, HUGH)),
    Fact("had", (ANN, ROPE)),
    Fact("had", (BEN, ROPE)),
    Fact("lacked", (CORA, ROPE)),
    DIED,
)
LIES = (Fact("at", (ANN, CELLAR, NINE)), Fact("lacked", (ANN, ROPE)))


def answer_of(question: str, killed: tuple[int, ...] = (), language: str = "en") -> list[Fact]:
    place = scene(language)
    lies = script(*LIES, language=language) if killed else []
    who = me(killed=killed, language=language)
    words = heuristics.reply(Excerpts(place, who, place.victims[0], script(*OWN, language=language)), question, lies)
    return read(words, place.vocabulary, ANN)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("topic", range(6))
def test_a_civilian_answers_honestly_with_three_facts_at_most(topic, language):
    question = wording.put(scene(language), topic, scene(language).victims[0])
    said = answer_of(question, language=language)
    assert len(said) <= heuristics.LIMIT == 3
    assert set(said) <= set(OWN)
    assert said or topic == 1  # the script tells no relation


def test_the_answer_is_to_the_point_of_the_question():
    assert answer_of("Where were you at 21:00, Ann?")[0] == Fact("at", (ANN, ATTIC, NINE))
    assert answer_of("Did you see Ben Oak?")[0] == Fact("saw", (BEN, CELLAR, NINE))
    assert answer_of("Who had a reason to kill Old Sir Hugh?") == [
        Fact("motive", (ANN, 0, HUGH)),
        Fact("motive", (BEN, 1, HUGH)),
    ]
    assert answer_of("本橡有什么动机？", language="zh") == [Fact("motive", (BEN, 1, HUGH))]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_murderer_tells_what_he_planned_and_nothing_that_gives_him_away(language):
    place, said = scene(language), []
    for topic in (*range(6), wording.DEATH, wording.ABLE, wording.REASONS):
        said += answer_of(wording.put(place, topic, place.victims[0]), killed=(0,), language=language)
    assert Fact("at", (ANN, CELLAR, NINE)) in said
    true_and_harmful = {OWN[0], OWN[2], OWN[4], OWN[6], OWN[8], DIED}
    assert not true_and_harmful & set(said)
    assert set(said) <= {*LIES, *OWN}


def test_a_murderer_may_lie_only_about_his_own_victim():
    place = scene("en", 2)
    who = me(killed=(1,), victims=2)
    question = wording.put(place, 0, "Old Sir Hugh")
    words = heuristics.reply(Excerpts(place, who, "Old Sir Hugh", script(*OWN)), question, script(*LIES))
    assert not set(LIES) & set(read(words, place.vocabulary, ANN))
    assert asks.stance_of(place, who, "Mrs Teal") == sentences("en").guilty
    assert asks.stance_of(place, who, "Old Sir Hugh") == HONEST == asks.stance_of(place, me(), "Old Sir Hugh")


def test_free_prose_is_answered_with_the_sentences_that_share_most_words():
    story = ["I went to bed early. The gardener shouted at Hugh about money. My tea was cold."]
    words = heuristics.prose_answer("Did anybody shout about money with the gardener?", story, guilty=False)
    assert words == "The gardener shouted at Hugh about money."
    assert (
        heuristics.prose_answer("你在花园看见了谁？", ["我在花园看见了园丁。天很冷。"], guilty=False)
        == "我在花园看见了园丁。"
    )
    assert not heuristics.prose_answer("Who killed him?", ["I killed him with a knife."], guilty=True)


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["en", "zh"]))
def test_no_words_stop_an_answer(question, story, language):
    place = scene(language)
    for killed in ((), (0,)):
        who = me(killed=killed, language=language)
        assert heuristics.reply(Excerpts(place, who, place.victims[0], [story]), question, [story]).strip()
    assert wording.wanted(place, question, ANN, HUGH).topics


# -- questions -------------------------------------------------------------------------------------------------


COMMON: dict[str, Any] = {"scene": scene(), "me": me(), "victim": "Old Sir Hugh", "stance": HONEST}


def question(summary: SensorSummary, *talks: Talk, own: tuple[Fact, ...] = (DIED,), number: int = 1) -> list[str]:
    inputs = {"about": "Ben Oak", "script": script(*own), "dialogue": list(talks), "summary": summary, "number": number}
    ask = asks.Question(**COMMON, **inputs)
    answer = ask.heuristic(RNG)
    ask.check(answer)
    return answer.questions


def summed(*sensors: str) -> SensorSummary:
    return SensorSummary(character="Ben Oak", readings=readings(**dict.fromkeys(sensors, "no")))


def topics_of(words: str) -> set[int]:
    return set(wording.wanted(scene(), words, BEN, HUGH).topics)


def test_each_sensor_sends_the_question_to_its_matter():
    sighting, means, motive, open_ = 3, 4, 2, 5
    assert topics_of(question(summed("suspicion"))[0]) >= {sighting, means}
    assert motive in topics_of(question(summed("motivation"))[0])
    assert topics_of(question(summed("emotion"))[0]) == {1}
    assert topics_of(question(summed())[0]) == {open_}  # without sensors there is nothing to go by


def test_what_was_asked_is_not_asked_again():
    put: list[str] = []
    for _ in range(3):
        put += question(summed("suspicion", "motivation", "emotion"), *(talk(BEN, DIED, question=q) for q in put))
    assert len(set(put)) == 3


def test_every_question_names_the_victim_and_there_are_as_many_as_asked_for():
    assert len(question(summed("suspicion", "motivation"), number=3)) == 3
    ask = asks.Question.model_construct(scene=scene(), victim="Old Sir Hugh", number=1)
    for questions in (["Old Sir Hugh?", "Old Sir Hugh!"], [], [" "]):
        with pytest.raises(ValueError, match="1 to 1"):
            ask.check(asks.Questions(questions=questions))


def test_a_question_that_does_not_name_the_victim_is_put_with_the_death_in_front():
    for language, words, put in (
        ("en", "Where were you?", "About the death of Old Sir Hugh: Where were you?"),
        ("zh", "你在哪里？", "关于修爵士的死：你在哪里？"),
    ):
        victim = scene(language).victims[0]
        assert wording.naming(scene(language), victim, words) == put
        assert wording.naming(scene(language), victim, put) == put


@pytest.mark.parametrize(("said", "missing"), [(OWN[:1], OWN[1:3]), (OWN[:3], OWN[4:5])])
def test_thinkthrice_puts_in_what_its_answer_had_left_out_within_the_limit(said, missing):
    inputs = {"asker": "Ben Oak", "question": "?", "answer": " ".join(script(*said)), "missing": script(*missing)}
    refined = think_asks.ThinkRefine(**COMMON, **inputs).heuristic(RNG).words
    assert read(refined, scene().vocabulary, ANN) == list(OWN[:3])


# -- pruning and voting ----------------------------------------------------------------------------------------


def sums(**read: tuple[str, ...]) -> list[SensorSummary]:
    names = ("emotion", "motivation", "suspicion", "information_value")
    return [
        SensorSummary(character=name, readings=readings(**dict(zip(names, choices, strict=True))))
        for name, choices in read.items()
    ]


def test_pruning_drops_the_cleared_keeps_the_open_and_brings_back_the_newly_implicated():
    read = sums(
        Ben=("neutral", "yes", "no", "high"),  # had no opportunity
        Cora=("negative", "yes", "yes", "low"),  # was dropped before
        Dan=("neutral", "no", "yes", "high"),  # still much to tell
        Eve=("neutral", "no", "yes", "low"),
    )
    assert heuristics.prune(["Ben", "Dan", "Eve"], read) == ["Cora", "Dan"]


CHOICES = [SENSORS[sensor].choices for sensor in ("emotion", "motivation", "suspicion", "information value")]


@given(st.lists(st.tuples(*map(st.sampled_from, CHOICES)), min_size=1, max_size=6))
def test_pruning_never_leaves_nobody(choices):
    read = sums(**{f"p{k}": choice for k, choice in enumerate(choices)})
    kept = heuristics.prune([row.character for row in read], read)
    assert kept
    assert len(set(kept)) == len(kept)


def test_the_vote_goes_to_the_one_against_whom_most_speaks():
    own = script(DIED, Fact("saw", (BEN, CELLAR, NINE)), Fact("lacked", (CORA, ROPE)))
    inputs = {"options": WORDS["en"]["players"][1:], "script": own, "dialogue": [], "suspects": [], "summaries": []}
    ask = asks.Vote(**COMMON, **inputs)
    assert ask.heuristic(RNG).name == "Dan Poe"
    for said in ("dan", " DAN POE.", "dan p"):
        assert ask.read(f'{{"reason": "x", "name": "{said}"}}').name == "Dan Poe"
    with pytest.raises(BadReply, match="'Ann Lee' is not accepted; accepted: Ben Oak"):
        ask.read('{"reason": "myself", "name": "Ann Lee"}')


# -- the quiz --------------------------------------------------------------------------------------------------


def quiz(text: str, options: list[str], pick: int = 1, language: str = "en", story: list[str] | None = None) -> str:
    facts = (*OWN, Fact("relation", (BEN, 0, HUGH)), Fact("took", (CORA, 0)))
    entries = script(*facts, language=language) if story is None else story
    own = [(ANN, entries)]
    return quiz_answers.answer(scene(language), me(language=language), text, options, pick, own, (), RNG)


def test_the_options_tell_what_is_asked_for():
    assert quiz("Where did Old Sir Hugh die?", ["the cellar", "the attic"]) == "b"
    assert quiz("When did Old Sir Hugh die?", ["21:00", "20:00"]) == "a"
    assert quiz("With what was Old Sir Hugh killed?", ["the gun", "the rope"]) == "b"
    assert quiz("What reason did Ben Oak have to kill Old Sir Hugh?", ["jealousy", "the inheritance"]) == "b"
    assert quiz("Who took the ring?", ["Ben Oak", "Cora May", "Dan Poe"]) == "b"
    assert quiz("Where was Cora May at 20:00?", ["the attic", "the cellar"]) == "b"
    assert quiz("Where was Ben Oak at 21:00?", ["the attic", "the cellar"]) == "b"
    assert quiz("Who killed Old Sir Hugh?", ["Ben Oak", "Cora May", "Dan Poe"]) == "c"
    options = ["Ben Oak is a creditor of Old Sir Hugh", "Ben Oak is the nephew of Old Sir Hugh"]
    assert quiz("What is the relation between Ben Oak and Old Sir Hugh?", options) == "b"
    assert quiz("Which relation between Ben Oak and Old Sir Hugh does not exist?", options) == "a"
    assert quiz("修爵士死在哪里？", ["地窖", "阁楼"], language="zh") == "b"
    assert quiz("谁杀了修爵士？", ["本橡", "柯梅", "丹坡"], language="zh") == "c"
    assert quiz("本橡和修爵士是什么关系？", ["本橡是修爵士的债主", "本橡是修爵士的侄子"], language="zh") == "b"


def test_two_are_picked_where_two_may_be():
    picked = quiz("Name the two whom you suspect of killing Old Sir Hugh.", WORDS["en"]["players"][1:], pick=2)
    assert set(picked) >= {"c", ","}


def test_where_nothing_speaks_for_an_option_any_is_drawn():
    drawn = {quiz("Which colour was it?", ["red", "blue", "green"], story=[]) for _ in range(40)}
    assert drawn == {"a", "b", "c"}


@cache
def ended(reference: str) -> tuple[Case, Any]:
    env = rollout.table("murder_mystery_v0", case=reference)
    env.reset(seed=0)
    return find(reference), env.unwrapped.view(1)


def test_a_reply_without_a_letter_is_wrong():
    case, view = ended("seed:3:zh:4:1")
    row = next(question for question in case.questions[1] if question.pick == 1)
    for reply in ("我不知道", "I would say a.", '{"reason": "x", "answer": "a, b"}', '{"reason": "x", "answer": "z"}'):
        assert Reader(view).answer(Scripted(reply), row, 0, 0).picked == ()
    assert Reader(view).answer(Scripted('Well: {"reason": "x", "answer": "B"}'), row, 0, 0).picked == (1,)
    double = row.model_copy(update={"pick": 2})
    assert Reader(view).answer(Scripted('{"reason": "因为", "answer": "a, b"}'), double, 0, 0).picked == (0, 1)


def test_all_scripts_are_told_only_to_the_omniscient():
    case, view = ended("seed:3:en:4:1")
    stories = {character.name: character.script for character in case.characters}
    for scripts, told in (("own", {"x": "y"}), ("all", None)):
        with pytest.raises(ParlourError, match="stories"):
            Reader(view, scripts, told)  # type: ignore[arg-type]
    ask = Reader(view, "own").ask(case.questions[1][0])
    assert ask.script
    assert not ask.stories
    assert not ask.dialogue
    answer = Reader(view, "all", stories).ask(case.questions[1][0])
    assert [story.character for story in answer.stories] == list(stories)
    assert not answer.script
