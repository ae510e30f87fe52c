"""How heuristics answer: the sentences of the own script that a question asks for, three at most; or planned lies.

The same for all methods. A civilian is honest and leaves nothing out but what goes beyond the limit. The murderer of the
victim that is asked about tells what he planned to tell and what falls on others, and keeps silent about the rest. In a
tougher case an innocent with a secret tells what it planned to tell in place of what contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from parlour.envs.murder_mystery.vocabulary.facts import PARAMETERS, Fact, relevant, say
from parlour.policies.agents.murder_mystery import prose
from parlour.policies.agents.murder_mystery.evidence import Death, Excerpts, death_of, facts_of
from parlour.policies.agents.murder_mystery.topics import QuestionTopic, wanted

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
    """The answer to a question.

    Args:
        excerpts: What it is answered from.
        question: In words.
        lies: Sentences that one planned to say though they are not so; used if he killed this victim, or nobody.
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
    """All facts that answer a question and may be told, the most to the point first."""
    scene, me, seat, person = excerpts.scene, excerpts.me, excerpts.seat, excerpts.dead
    if seat < 0 or person < 0:
        return []
    own = excerpts.own()
    asks = wanted(scene, question, seat, person)
    death = death_of(person, excerpts.told())
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
        told = {(f.args[0], f.args[2]) for f in planned if f.kind == "at"}
        return args[0] != me or ((me, args[2]) not in told and args[2] != death.time)
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
    sentences = [found[0].strip() for text in script for found in _SENTENCE.finditer(text) if found[0].strip()]
    if guilty:
        sentences = [sentence for sentence in sentences if not _BETRAYING.search(sentence)]
    shares = [prose.overlap(question, sentence) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda k: -shares[k])[:LIMIT]
    return " ".join(sentences[k] for k in sorted(best) if shares[k] > 0)[:_LONGEST]


def introduction(excerpts: Excerpts) -> str:
    """Who one is, and one's relation to those who died."""
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
