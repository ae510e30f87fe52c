"""Questions in words: how heuristics put them, and what any question asks for, in English and Chinese.

Topics are those of the language of facts: whereabouts, relation, motive, sighting, means, open. One question may touch
several; what it touches is found by words, so that everybody's questions are understood alike.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.vocabulary.facts import (
    ANSWERS,
    MEANS,
    MOTIVE,
    OPEN,
    RELATION,
    SIGHTING,
    TOPICS,
    WHEREABOUTS,
)
from parlour.policies.agents.murder_mystery import prose
from parlour.policies.agents.murder_mystery.scene import Scene

_SIGNS: Final = {
    WHEREABOUTS: r"\bwhere (?:were|was|did)|\bwhereabouts|\btimeline|\balibi\b|\bwhat (?:were|was) you doing"
    r"|你(?:当时)?在哪|在什么地方|行踪|时间线|在做什么|在干什么|不在场",
    RELATION: r"\brelation|\bhow well|\bfeel\w*|\bthink of\b|\bknow (?:the victim|him|her)\b|\bstand (?:with|to)\b|\bfond\b|\bget on\b"
    r"|关系|感情|怎么看|喜欢|讨厌|交情|认识",
    MOTIVE: r"\bmotiv|\breasons?\b|\bquarrel|\benem|\bconflict|\bwhy\b|\bgain\w*\b|\bgrudge|\bwant\w* .{0,40}\bdead\b"
    r"|\bworried\b|\bfearful\b|\bafraid\b|动机|理由|过节|仇|矛盾|冲突|为什么|为何|争吵|害怕|担心",
    SIGHTING: r"\bsaw\b|\bsee\b|\bseen\b|\bnotice\w*|\bwitness|\bmeet\b|\bmet\b|\bscene\b|看见|看到|见到|见过|注意到|目击|现场|碰见",
    MEANS: r"\bweapon|\bmeans\b|\bget at\b|\baccess\b|\blay hands\b|\bkilled with\b|\bitems?\b|\bremains\b|\btook\b"
    r"|凶器|拿到|拿得到|接触|工具|东西|物品|拿走|弄到|毒",
    OPEN: r"\banything\b|\bopinion|\btheor|\bsecrets?\b|\bwhat (?:else )?do you know|\bwhat (?:else )?can you tell|\bpersonal life"
    r"|任何|看法|推测|秘密|知道(?:些)?什么|还有什么|想法",
}
_PATTERNS: Final = {topic: re.compile(signs, re.IGNORECASE) for topic, signs in _SIGNS.items()}

DEATH, ABLE, REASONS = 7, 8, 9
"""How the victim died and who could have done it, which belong to sighting and means; who had reasons, and for what."""
_NAMES: Final = {**dict(enumerate(TOPICS)), DEATH: "death", ABLE: "able", REASONS: "reasons"}
"""Topic -> its name among the sentences."""


_HINTS: Final = {
    "took": r"\btook\b|\btaken\b|\bstole\w*|\bsecrets?\b|\bitems?\b|拿走|偷|秘密|东西",
    "peace": r"\bpeace\b|\bany ?more\b|\bno quarrel\b|和好|不再|已经没有",
    "motive": r"\breason|\bmotiv|\benem|\bconflict|\bquarrel|动机|理由|过节|仇",
    "lacked": r"\bcould not\b|\bcouldn't\b|拿不到",
    "saw": r"\b(?:whom?|what) did you (?:see|notice)\b|\bwhere did you see\b|看见了|看到了|注意到",
    "died": r"\bdie\b|\bdied\b|\bkilled with\b|害死|死于|死在",
}
_HINTED: Final = {kind: re.compile(signs, re.IGNORECASE) for kind, signs in _HINTS.items()}


class QuestionTopic(NamedTuple):
    """What a question asks for."""

    topics: tuple[int, ...]
    about: tuple[int, ...]
    """Persons named, apart from the victim and from who is asked."""
    places: tuple[int, ...]
    times: tuple[int, ...]
    hinted: tuple[str, ...]
    """Kinds of facts that words of the question mean by themselves."""

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of facts that answer it."""
        return frozenset(kind for topic in self.topics for kind in ANSWERS[topic])


def put(
    scene: Scene, topic: int, victim: str, *, place: int = -1, time: int = -1, means: int = -1, about: int = -1
) -> str:
    """A question in words. With `about`, it is about that person, where the topic has such a form."""
    forms, name = scene.say, _NAMES[topic]
    persons = [*scene.players, *scene.victims]
    values = {"v": victim, "x": persons[about] if 0 <= about < len(persons) else ""}
    for slot, number, listed in (("p", place, scene.places), ("t", time, scene.times), ("m", means, scene.means)):
        values[slot] = listed[number] if 0 <= number < len(listed) else forms.unnamed[slot]
    form = (forms.about.get(name) if values["x"] else None) or forms.questions[name]
    return re.sub(r"\{(\w)\}", lambda found: values[found[1]], form)


def naming(scene: Scene, victim: str, words: str) -> str:
    """A question that names the victim: as it is if it does, else with the death it is about in front (SPEC 4.5)."""
    person = scene.person(victim)
    if person < 0 or prose.mentions(scene, person, words):
        return words
    opening = put(scene, OPEN, victim).partition(scene.say.colon)[0]
    return f"{opening}{scene.say.colon}{words}"


def wanted(scene: Scene, question: str, target: int, victim: int) -> QuestionTopic:
    """What a question to `target` about `victim` asks for; everything, if no word of it tells.

    Args:
        scene: The setting.
        question: In words, anybody's.
        target: Seat of who is asked.
        victim: The victim's number among the persons; -1 for none.
    """
    topics = _topics(question)
    persons = len(scene.players) + len(scene.victims)
    about = tuple(
        person
        for person in range(persons)
        if person not in (target, victim) and prose.mentions(scene, person, question)
    )
    return QuestionTopic(
        topics or (OPEN,), about, _numbers(scene.places, question), _numbers(scene.times, question), _hints(question)
    )


@lru_cache(maxsize=1 << 12)
def _topics(question: str) -> tuple[int, ...]:
    return tuple(topic for topic, pattern in _PATTERNS.items() if pattern.search(question))


@lru_cache(maxsize=1 << 12)
def _hints(question: str) -> tuple[str, ...]:
    return tuple(kind for kind, pattern in _HINTED.items() if pattern.search(question))


def _numbers(words: list[str], text: str) -> tuple[int, ...]:
    small = text.casefold()
    return tuple(number for number, word in enumerate(words) if word and word.casefold() in small)
