"""The planner hears a language model: answers in other words than the case's are read by the model, once for all seats."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pytest
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, read, say
from parlour.policies.agents.murder_mystery.asks import ReplyToQuestion, Words
from parlour.policies.agents.murder_mystery.heard import FactSentences, ReadFacts, forms_of
from parlour.policies.agents.murder_mystery.procedure import READING
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.policies.agents.murder_mystery.scene import Talk, scene_of
from parlour.policies.llm.ask import Ask, BadReply, read_back
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.training.play import rollout

from tests.policies.agents.murder_mystery.free_words import FreeSpeaker
from tests.policies.agents.murder_mystery.players import game_of, plans

CASE = "seed:9:en:5:1"
PLAN = "questum:mode=plan"


def played(model, name=PLAN, **options):
    return game_of(name, CASE, model, **options)


def scene(reference=CASE):
    game = rollout.table("murder_mystery_v0", case=reference).game_env.game
    return scene_of(game.view(game.initial(), 0))


def said(words: str, speaker: int = 0) -> ReadFacts:
    now = scene()
    asker, spoke, victim = now.players[1], now.players[speaker], now.victims[0]
    return ReadFacts.of(
        now, Talk(asker=asker, speaker=spoke, victim=victim, question="Whom did you see?", answer=words)
    )


class Witness(OfflineModel):
    """Everybody answers with the same words; whoever is asked what they tell says so."""

    is_language_model: ClassVar[bool] = True

    def __init__(self, words: str, facts: list[str] | None) -> None:
        super().__init__()
        self.words, self.facts = words, facts

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        if isinstance(question, ReplyToQuestion):
            return Answered(Words(words=self.words))
        if isinstance(question, ReadFacts):
            if self.facts is None:
                return Answered(question.heuristic(np.random.default_rng(0)), reason="invalid")
            return Answered(question.read(json.dumps({"facts": self.facts})))
        return super().answer(question, context)


# -- what is heard ---------------------------------------------------------------------------------------------


def test_what_somebody_swears_in_its_own_words_enters_the_posterior():
    """All swear in free words to have seen one player elsewhere: once that is read, the player is cleared."""
    case = find(CASE)
    victim = len(case.names)
    known = [*case.public, *(fact for character in case.characters for fact in character.facts)]
    deaths = [fact.args for fact in known if fact.kind == "died"]
    where, when = (next(args[k] for args in deaths if args[0] == victim and args[k] >= 0) for k in (1, 2))
    innocents = [seat for seat, character in enumerate(case.characters) if not any(character.murders)]
    whom = innocents[-1]
    place = next(k for k in range(len(case.vocabulary.places)) if k != where)
    free = f"I saw {case.names[whom].split()[0]} there at the hour in question, I swear"
    facts = [Fact("died", (victim, where, when, -1)), Fact("saw", (whom, place, when))]
    sentences = [say(fact, case.vocabulary, None) for fact in facts]
    assert read(free, case.vocabulary, 0) == []
    believed = {}
    for way, answer in (("read", sentences), ("not read", []), ("failed", None)):
        players, _ = played(Witness(free, answer), rounds=1)
        plan = next(plan for plan in plans(players) if plan.room.seat_memory.seat != whom)
        (name,) = plan.room.scene.victims
        believed[way] = (plan.table_view(name).beliefs.chances.get(whom, 0.0), players)
        read_facts = [statement.fact for statement in plan.own_view(name).statements if not statement.sure]
        assert set(read_facts) == (set(facts) if way == "read" else set())
    assert believed["read"][0] < believed["not read"][0] == believed["failed"][0]
    for player in believed["failed"][1]:
        answers = sum(bool(talk.asker) for talk in player.procedure.room.seat_memory.talks)
        is_planner = isinstance(player.procedure, PlannedInterview)
        assert player.failed == ({READING: answers} if is_planner else {})
    assert not any(player.failed for player in believed["read"][1])


@pytest.mark.parametrize("reference", [CASE, "seed:5:zh:5:1"])
def test_a_table_that_speaks_freely_is_understood_as_one_that_speaks_in_the_forms_of_the_case(reference):
    forms, read, unread = (
        [(plan.chances(victim), plan.vote(victim)) for plan in planned for victim in plan.room.scene.victims]
        for planned in (
            plans(game_of(PLAN, reference, model)[0])
            for model in (OfflineModel(), FreeSpeaker(), FreeSpeaker(reads=False))
        )
    )
    assert read == forms != unread


# -- what is asked ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["plan", "random"])
def test_each_answer_in_free_words_is_read_once_for_all_seats_and_nothing_else_is(mode):
    model = FreeSpeaker()
    players, _ = played(model, f"questum:mode={mode}")
    memory = plans(players)[0].room.seat_memory
    free = [talk for talk in memory.talks if talk.asker and talk.answer != memory.scene.say.nothing]
    assert len(plans(players)) > 1
    assert [question.words for question in model.read()] == [talk.answer for talk in free]
    assert all(question.asker and question.victim for question in model.read())  # no introduction


def test_seats_that_are_asked_at_once_share_the_answers_and_who_pays_does_not_depend_on_threads():
    games = []
    for concurrency in (1, 8, 8):
        model = FreeSpeaker()
        model.concurrency = concurrency
        _, episode = played(model)
        readings = [(ask.words, context.seat) for ask, context in model.asked if isinstance(ask, ReadFacts)]
        assert len({words for words, _ in readings}) == len(readings) > 0
        games.append((sorted(readings), [event.move for event in episode.last_views[0].events]))
    assert games[0][1] == games[1][1]
    assert games[1] == games[2]


def test_words_with_facts_nothing_to_say_and_blanks_are_not_asked_about():
    case, nothing = find(CASE), scene().say.nothing
    for words in (f"Let me think. {say(case.public[0], case.vocabulary, None)}", nothing, f" {nothing} "):
        players, _ = played(Witness(words, None), rounds=1)  # who is asked fails
        assert not any(player.failed for player in players)


def test_the_question_holds_nothing_of_the_seat_that_asks():
    model = FreeSpeaker()
    players, _ = played(model)
    question = model.read()[0]
    assert set(question.inputs()) == {"scene", "forms", "asker", "speaker", "victim", "question", "words"}
    prompt = question.prompt()
    assert read_back(prompt) == question
    for player in players:
        assert not any(piece in prompt for piece in player.procedure.room.seat_memory.script)


# -- what is accepted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", [CASE, "seed:5:zh:5:1"])
def test_every_kind_of_fact_has_a_form_and_every_form_is_read_once_it_is_filled(reference):
    now = scene(reference)
    words, slots = now.vocabulary, now.say.slots
    kinds: Counter[str] = Counter()
    for form in forms_of(now):
        assert re.search("<.+>", form)
        for letter in "abptmyri":
            form = form.replace(slots[letter], words.words(letter)[letter == "b"])
        (fact,) = read(form, words, 2)
        kinds[fact.kind] += 1
    assert set(kinds) == set(KINDS)
    assert (kinds["died"], kinds["feels"]) == (5, 3)  # known in full, and in parts
    assert not any("took" in form for form in forms_of(scene().model_copy(update={"items": []})))


def test_sentences_that_cannot_be_read_are_refused_with_the_reason_and_an_empty_list_is_an_answer():
    question = said("I saw her there.")
    name, (place, *_), (time, *_) = question.scene.players[2], question.scene.places, question.scene.times
    good = f"{name} was seen in {place} at {time}."
    assert question.read(json.dumps({"facts": [good]})) == FactSentences(facts=[good])
    assert question.read_in([good]) == [Fact("saw", (2, 0, 0))]
    assert question.read('{"facts": []}').facts == []
    for bad in (f"{name} was in the orchard at noon.", f"{name} was not in {place} at {time}.", "", "Nothing."):
        with pytest.raises(BadReply, match="cannot be read; accepted: the forms"):
            question.read(json.dumps({"facts": [good, bad]}))
    with pytest.raises(BadReply, match="does not fit the schema"):
        question.read(json.dumps({"facts": [good] * 13}))


def test_without_a_model_it_finds_what_the_forms_of_the_case_say():
    case = find(CASE)
    facts = [fact for fact in case.characters[0].facts if fact.kind in ("saw", "at", "relation", "died")][:12]
    question = said(" ".join(say(fact, case.vocabulary, 0) for fact in facts))
    answer = question.heuristic(np.random.default_rng(0))
    assert question.read_in(answer.facts) == list(dict.fromkeys(facts))
    assert question.read(answer.model_dump_json()) == answer
    assert said("I swear it was her.").heuristic(np.random.default_rng(0)).facts == []
