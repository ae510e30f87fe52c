"""How heuristics ask, answer, prune and vote; the same for all methods.

Questions: a sensor names the topics that would change what it reads. A topic that the character was asked about before is not
put again; after the general questions come those about single suspects, first the one with the most evidence against it.
Answers: the sentences of the own script that a question asks for, three at most. A civilian is honest. The murderer of the
victim that is asked about states what he planned to say and what incriminates others, and keeps silent about the rest. In a
tougher case, an innocent with a secret states its planned lie and omits what contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from parlour.envs.murder_mystery.vocabulary import facts as topics
from parlour.envs.murder_mystery.vocabulary.facts import PARAMETERS, UNKNOWN, Fact, relevant, say
from parlour.policies.agents.murder_mystery import wording
from parlour.policies.agents.murder_mystery.evidence import (
    Death,
    Dossier,
    Excerpts,
    death_of,
    facts_of,
    has_facts,
    judge,
)
from parlour.policies.agents.murder_mystery.sensors import (
    BACKGROUND,
    EMOTION,
    EVIDENCE,
    MOTIVATION,
    SENSORS,
    SUSPICION,
    Known,
    SensorSummary,
    answered,
    distance,
    murderer_of,
    read_by,
    sensor_of,
    topics_put,
    value_of,
)
from parlour.policies.agents.murder_mystery.wording import ABLE, DEATH, REASONS, QuestionTopic, put, wanted

LIMIT: Final = 3
"""Sentences of an answer; as many facts as the game lets one tell in structured form."""
_LONGEST: Final = 500
"""Characters of an answer made of free prose."""
_SENTENCE: Final = re.compile(r"[^。！？!?.\n]+(?:[。！？!?.]+[\"'”’」』）)]*|\n|$)")
_BETRAYING: Final = re.compile(
    r"\b(?:kill|murder|die|death|dead|poison|stab|strangl|weapon|corpse|body|blood|knife|push)\w*|杀|死|毒|刺|勒|凶|尸|血|刀|推",
    re.IGNORECASE,
)


def reply(excerpts: Excerpts, question: str, lies: Sequence[str] = ()) -> str:
    """The answer to a question from excerpts.

    `lies` are sentences that one planned to say though they are not so; used if he killed this victim, or nobody.
    """
    scene = excerpts.scene
    facts = chosen_facts(excerpts, question, lies)
    if facts:
        vocabulary, seat = scene.vocabulary, excerpts.seat
        return scene.join([say(fact, vocabulary, seat) for fact in facts[:LIMIT]])
    if excerpts.guilty and scene.places:  # a case of facts: what is not planned and not harmless is not told
        return scene.say.nothing
    return prose_answer(question, excerpts.script, guilty=excerpts.guilty) or scene.say.nothing


def chosen_facts(excerpts: Excerpts, question: str, lies: Sequence[str] = ()) -> list[Fact]:
    """All facts that answer a question and may be stated, the most relevant first."""
    scene, me, seat, person = excerpts.scene, excerpts.me, excerpts.seat, excerpts.dead
    if seat < 0 or person < 0:
        return []
    own = excerpts.own()
    asks = wanted(scene, question, seat, person)
    death = death_of(person, excerpts.statements())
    if excerpts.guilty:
        planned = facts_of(lies, scene.vocabulary, seat)
        own = planned + [fact for fact in own if harmless(fact, seat, person, death, planned)]
    elif lies and not me.killed:
        planned = facts_of(lies, scene.vocabulary, seat)
        claimed = {(fact.args[0], fact.args[2]) for fact in planned if fact.kind in ("at", "saw")}
        own = planned + [f for f in own if f.kind not in ("at", "saw") or (f.args[0], f.args[2]) not in claimed]
    else:
        killed = {scene.person(name) for name in me.killed}
        own = [fact for fact in own if not killed & set(_persons(fact))]
    fitting = [fact for fact in own if answers(fact, asks, seat, person)]
    return sorted(fitting, key=lambda fact: -_point(fact, asks, death))


def answers(fact: Fact, asks: QuestionTopic, speaker: int, victim: int) -> bool:
    """Whether a fact answers a question, by the topics it touches and the persons it names."""
    return any(relevant(fact, topic, speaker, about, victim) for topic in asks.topics for about in asks.about or (-1,))


def harmless(fact: Fact, me: int, victim: int, death: Death, planned: Iterable[Fact]) -> bool:
    """Whether a murderer may tell a true fact without giving himself away or clearing somebody else."""
    kind, args = fact
    if kind in ("died", "peace", "lacked", "took"):
        return False
    if kind in ("motive", "had"):
        return args[0] != me
    if kind == "feels":
        return args[0] != me or args[1] >= 0
    if kind == "at":
        planned_places = {(f.args[0], f.args[2]) for f in planned if f.kind == "at"}
        return args[0] != me or ((me, args[2]) not in planned_places and args[2] != death.time)
    if kind == "saw":
        return args[0] != victim and (args[2] != death.time or args[1] == death.place)
    return True


def _persons(fact: Fact) -> list[int]:
    return [value for slot, value in zip(PARAMETERS[fact.kind], fact.args, strict=True) if slot in "ab"]


def _point(fact: Fact, asks: QuestionTopic, death: Death) -> float:
    """How much a fact is to the point of a question; of equals, what the script tells first comes first."""
    point = 2.0 * (fact.kind in asks.hinted)
    if fact.kind == "died":
        return point + 2
    for slot, value in zip(PARAMETERS[fact.kind], fact.args, strict=True):
        if slot in "ab":
            point += 3 * (value in asks.about)
        elif slot == "t":
            point += 2 * (value in asks.times if asks.times else value == death.time)
        elif slot == "p":
            point += value in asks.places or (not asks.places and value == death.place)
        elif slot == "m":
            point += 2 * (value == death.means)
    return point


def prose_answer(question: str, script: Sequence[str], *, guilty: bool) -> str:
    """The sentences of a free text that share most words with a question, in its order; empty if none shares any."""
    sentences = [match[0].strip() for text in script for match in _SENTENCE.finditer(text) if match[0].strip()]
    if guilty:
        sentences = [sentence for sentence in sentences if not _BETRAYING.search(sentence)]
    shares = [wording.overlap(question, sentence) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda k: -shares[k])[:LIMIT]
    return " ".join(sentences[k] for k in sorted(best) if shares[k] > 0)[:_LONGEST]


def introduction(excerpts: Excerpts) -> str:
    """The player's identity, and its relation to the victims."""
    scene, me, seat, own = excerpts.scene, excerpts.me, excerpts.seat, excerpts.own()
    words = [scene.say.i_am.format(me.name)]
    for victim in scene.victims:
        person = scene.person(victim)
        kinds = ("relation",) if victim in me.killed else ("relation", "feels")
        words += [
            say(fact, scene.vocabulary, seat)
            for fact in own
            if fact.kind in kinds and {seat, person} <= set(_persons(fact))
        ]
    return scene.join(words[: LIMIT + 1])


_TOPICS: Final = {
    SUSPICION: (DEATH, ABLE, topics.WHEREABOUTS),
    EVIDENCE: (ABLE,),
    MOTIVATION: (REASONS, topics.RELATION),
    BACKGROUND: (REASONS, topics.RELATION),
    EMOTION: (topics.RELATION,),
}
"""Sensor -> the topics that can change its reading."""
_FIRST: Final = (DEATH, ABLE, REASONS)
"""The topics asked first: those that can clear people; then single suspects."""
_LAST: Final = (topics.WHEREABOUTS, topics.RELATION)
"""The topics asked last."""


def question_of(known: Known, summary: SensorSummary, number: int) -> list[str]:
    """So many questions to a character, the most useful first; if the sensors read nothing for it, open ones."""
    scene, victim = known.scene, known.excerpts.victim if known.victim >= 0 else ""
    words = death_of(known.victim, known.statements)._asdict()
    asked = answered(known.excerpts, known.person)
    wished = {topic for reading in summary.readings for topic in _TOPICS.get(sensor_of(reading.sensor), ())}
    fresh = wished - _settled(known, asked)
    ranked = _suspects(known)
    first = _by_need(known)
    questions = [put(scene, topic, victim, **words) for topic in first if topic in fresh]
    if wished & {ABLE, REASONS}:
        fresh_seats = _not_put(topics.SIGHTING, ranked, asked)
        questions += [put(scene, ABLE, victim, **words, about=seat) for seat in fresh_seats]
    questions += [put(scene, topic, victim, **words) for topic in _LAST if topic in fresh]
    if topics.RELATION in wished:
        fresh_seats = _not_put(topics.RELATION, ranked, asked)
        questions += [put(scene, topics.RELATION, victim, about=seat) for seat in fresh_seats]
    return (questions + [put(scene, topics.OPEN, victim)] * number)[:number]


def _by_need(known: Known) -> tuple[int, ...]:
    """The first topics, those in front that fewer players have been asked about."""
    able = reasons = 0
    for seat in range(len(known.scene.players)):
        asked = answered(known.excerpts, seat)
        reasons += topics.MOTIVE in topics_put(asked)
        able += topics.MEANS in topics_put(_not_on(topics.MOTIVE, asked))
    return _FIRST if able <= reasons else (REASONS, DEATH, ABLE)


def _not_on(topic: int, asked: Sequence[QuestionTopic]) -> list[QuestionTopic]:
    return [asks for asks in asked if topic not in asks.topics]


def _settled(known: Known, asked: Sequence[QuestionTopic]) -> set[int]:
    """What need not be asked: what was put to the character, and what is known anyway."""
    done = topics_put(_not_on(topics.MOTIVE, asked))
    death = death_of(known.victim, known.statements)
    if {topics.SIGHTING, topics.MEANS} <= done:
        done |= {DEATH, ABLE}
    if UNKNOWN not in death:
        done.add(DEATH)
    if topics.MOTIVE in topics_put(asked):
        done.add(REASONS)
    if any(f.kind == "relation" and f.args[::2] == (known.person, known.victim) for f, _, _, _ in known.statements):
        done.add(topics.RELATION)
    return done


def _suspects(known: Known) -> list[int]:
    """The others that a character can be asked about: those not cleared, the most evidence against them first."""
    scene, me = known.scene, known.excerpts.me
    others = [s for s in range(len(scene.players)) if s != known.person and scene.players[s] != me.name]
    dossiers = judge(scene, known.victim, others, known.statements)
    return sorted((seat for seat in others if not cleared(dossiers[seat])), key=lambda seat: -dossiers[seat].weight)


def _not_put(topic: int, seats: Sequence[int], asked: Sequence[QuestionTopic]) -> list[int]:
    """The seats about which the character was not asked on a topic."""
    put_about = {person for asks in asked if topic in asks.topics for person in asks.about}
    return [seat for seat in seats if seat not in put_about]


def cleared(dossier: Dossier) -> bool:
    """Whether what others told rules a suspect out: seen elsewhere, without the means, or without a reason left."""
    return (dossier.elsewhere and not dossier.there) or dossier.means < 0 or dossier.peace


NEAR: Final = 1
"""How many sensors may differ from a murderer's before a suspect is dropped."""


def prune(
    suspects: Sequence[str], summaries: Sequence[SensorSummary], murderer: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """The new list, nearest to the hypothetical murderer first; never empty.

    Characters without an opportunity are dropped. Others stay on the list if at most `NEAR` sensors separate them from a
    murderer, or if they may still know much. If nobody qualifies, the nearest stay. Among equals, present suspects come first.
    """
    order = {name: place for place, name in enumerate(suspects)}
    ranked = sorted(
        summaries, key=lambda summary: (distance(summary.readings, murderer), order.get(summary.character, len(order)))
    )
    able = [summary for summary in ranked if not _without_opportunity(summary)] or ranked
    readings = [(summary.character, summary.readings) for summary in able]
    near = [who for who, read in readings if distance(read, murderer) <= NEAR or value_of(read) in ("high", "medium")]
    return near or [who for who, read in readings if distance(read, murderer) == distance(readings[0][1], murderer)]


def grades(summaries: Sequence[SensorSummary], murderer: Mapping[str, str]) -> dict[str, float]:
    """How strongly each is suspected: the share of sensors that read as of a murderer, at least a half of whoever may still know
    much; 0 without an opportunity.
    """
    sensors = {sensor for row in summaries for sensor in read_by(row.readings) if murderer_of(sensor)}
    graded = {}
    for row in summaries:
        alike = 1 - distance(row.readings, murderer) / max(1, len(sensors))
        knowing = 0.5 * (value_of(row.readings) in ("high", "medium"))
        graded[row.character] = 0.0 if _without_opportunity(row) else round(max(alike, knowing), 3)
    return graded


def _without_opportunity(summary: SensorSummary) -> bool:
    murderous = SENSORS[SUSPICION].murderer
    return read_by(summary.readings).get(SUSPICION, murderous) != murderous


def vote(excerpts: Excerpts, options: Sequence[str], suspects: Sequence[str]) -> str:
    """The option with the most evidence against it; of equals, first a suspect.

    A murderer of the victim votes for the option that looks worst, as he is no option himself.
    """
    scene, statements = excerpts.scene, excerpts.statements()
    seats = [scene.person(option) for option in options]
    texts = [*excerpts.script, *(talk.answer for talk in excerpts.dialogue)] if not has_facts(statements) else []
    dossiers = judge(scene, excerpts.dead, seats, statements, texts)
    place = {name: k for k, name in enumerate(suspects)}

    def standing(option: str) -> tuple[float, int, int]:
        named = sum(wording.mentions(scene, scene.person(option), text) for text in texts)
        return (-round(dossiers[scene.person(option)].weight, 6), place.get(option, len(place)), -named)

    return min(options, key=standing)
