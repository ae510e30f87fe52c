"""How heuristics find a question: what is not known yet, among what the sensors ask for.

A sensor names the topics that would change what it reads: a motive is looked for under motives and relations, the
opportunity under sightings, what killed the victim and who could get at it. A topic that the character was
asked about before is not put again; after the general questions come those about single suspects, first the one with
the most evidence against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, OPEN, RELATION, SIGHTING, UNKNOWN, WHEREABOUTS
from parlour.policies.agents.murder_mystery.evidence import Dossier, death_of, judge
from parlour.policies.agents.murder_mystery.sensors import (
    BACKGROUND,
    EMOTION,
    EVIDENCE,
    MOTIVATION,
    SUSPICION,
    Known,
    SensorSummary,
    answered,
    sensor_of,
    topics_put,
)
from parlour.policies.agents.murder_mystery.topics import ABLE, DEATH, REASONS, QuestionTopic, put

_TOPICS: Final = {
    SUSPICION: (DEATH, ABLE, WHEREABOUTS),
    EVIDENCE: (ABLE,),
    MOTIVATION: (REASONS, RELATION),
    BACKGROUND: (REASONS, RELATION),
    EMOTION: (RELATION,),
}
"""Sensor -> the topics that can change its reading."""
_FIRST: Final = (DEATH, ABLE, REASONS)
"""The topics asked first: those that can clear people; then single suspects."""
_LAST: Final = (WHEREABOUTS, RELATION)
"""The topics asked last."""


def question_of(known: Known, summary: SensorSummary, number: int) -> list[str]:
    """Questions to a character, the most useful first.

    Args:
        known: What the excerpts say of the character who is asked.
        summary: What the sensors read for it; without readings, the question is an open one.
        number: How many questions.
    """
    scene, victim = known.scene, known.excerpts.victim if known.victim >= 0 else ""
    words = death_of(known.victim, known.told)._asdict()
    asked = answered(known.excerpts, known.person)
    wished = {topic for reading in summary.readings for topic in _TOPICS.get(sensor_of(reading.sensor), ())}
    fresh = wished - _settled(known, asked)
    ranked = _suspects(known)
    first = _by_need(known)
    found = [put(scene, topic, victim, **words) for topic in first if topic in fresh]
    if wished & {ABLE, REASONS}:
        found += [put(scene, ABLE, victim, **words, about=seat) for seat in _not_put(SIGHTING, ranked, asked)]
    found += [put(scene, topic, victim, **words) for topic in _LAST if topic in fresh]
    if RELATION in wished:
        found += [put(scene, RELATION, victim, about=seat) for seat in _not_put(RELATION, ranked, asked)]
    return (found + [put(scene, OPEN, victim)] * number)[:number]


def _by_need(known: Known) -> tuple[int, ...]:
    """The first topics, those in front that fewer players have been asked about."""
    able = reasons = 0
    for seat in range(len(known.scene.players)):
        asked = answered(known.excerpts, seat)
        reasons += MOTIVE in topics_put(asked)
        able += MEANS in topics_put(_not_on(MOTIVE, asked))
    return _FIRST if able <= reasons else (REASONS, DEATH, ABLE)


def _not_on(topic: int, asked: Sequence[QuestionTopic]) -> list[QuestionTopic]:
    return [asks for asks in asked if topic not in asks.topics]


def _settled(known: Known, asked: Sequence[QuestionTopic]) -> set[int]:
    """What need not be asked: what was put to the character, and what is known anyway."""
    done = topics_put(_not_on(MOTIVE, asked))
    death = death_of(known.victim, known.told)
    if {SIGHTING, MEANS} <= done:
        done |= {DEATH, ABLE}
    if UNKNOWN not in death:
        done.add(DEATH)
    if MOTIVE in topics_put(asked):
        done.add(REASONS)
    if any(f.kind == "relation" and f.args[::2] == (known.person, known.victim) for f, _, _, _ in known.told):
        done.add(RELATION)
    return done


def _suspects(known: Known) -> list[int]:
    """The others that a character can be asked about: those not cleared, the most evidence against them first."""
    scene, me = known.scene, known.excerpts.me
    others = [s for s in range(len(scene.players)) if s != known.person and scene.players[s] != me.name]
    dossiers = judge(scene, known.victim, others, known.told)
    return sorted((seat for seat in others if not cleared(dossiers[seat])), key=lambda seat: -dossiers[seat].weight)


def _not_put(topic: int, seats: Sequence[int], asked: Sequence[QuestionTopic]) -> list[int]:
    """The seats about which the character was not asked on a topic."""
    put_about = {person for asks in asked if topic in asks.topics for person in asks.about}
    return [seat for seat in seats if seat not in put_about]


def cleared(dossier: Dossier) -> bool:
    """Whether what others told rules a suspect out: seen elsewhere, without the means, or without a reason left."""
    return (dossier.elsewhere and not dossier.there) or dossier.means < 0 or dossier.peace
