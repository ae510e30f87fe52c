"""Words of questions and texts, in English and Chinese: who is mentioned near what, how questions are put, what they ask for.

Topics come from the language of facts: whereabouts, relation, motive, sighting, means, open. One question may touch
several; what it touches is found by words, so that everybody's questions are understood alike. Free prose is read by single
words, without grammar: the fall-back where no sentence is a fact that can be read, as in stories written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from parlour.envs.language.english import whole_word
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
from parlour.policies.agents.murder_mystery.scene import Scene

_WORDS: Final = {
    "reason": (
        r"\b(?:hat(?:e[ds]?|red)|reveng\w*|jealous\w*|debt\w*|blackmail\w*|threat\w*|quarrel\w*|argu(?:ed|ment)\w*|"
        r"inherit\w*|betray\w*|insult\w*|humiliat\w*|affair|angry|anger|resent\w*|grudge\w*|enem(?:y|ies))\b"
        r"|恨|报仇|复仇|嫉妒|欠债|债|勒索|威胁|吵架|争吵|争执|遗产|继承|背叛|侮辱|羞辱|外遇|愤怒|生气|仇"
    ),
    "means": (
        r"\b(?:kni(?:fe|ves)|gun|pistol|shot|poison\w*|rope|stab\w*|strangl\w*|push\w*|blood\w*|weapon\w*|dagger|"
        r"drug\w*|pill\w*|kill\w*|murder\w*)\b"
        r"|刀|枪|毒|绳|刺|勒|推下|血|凶器|药|杀|砸"
    ),
    "there": (
        r"\b(?:saw|seen|sneak\w*|left|leaving|entered|footsteps|scene|near|door|corridor|hurried\w*|secretly|hid|"
        r"hiding|followed)\b"
        r"|看见|看到|偷偷|悄悄|离开|进了|进入|脚步|现场|附近|门口|走廊|匆忙|慌张|躲|跟踪"
    ),
    "fond": r"\b(?:love[ds]?|lover|friend\w*|fond|kind|help(?:ed|s)?|trust\w*|grateful)\b|爱|朋友|喜欢|帮助|信任|感激|关心",
    "sour": r"\b(?:hate[ds]?|dislike\w*|despise\w*|enem(?:y|ies)|disgust\w*|angry|jealous\w*)\b|恨|讨厌|厌恶|鄙视|敌人|生气|嫉妒",
}
_PATTERNS: Final = {sort: re.compile(pattern, re.IGNORECASE) for sort, pattern in _WORDS.items()}
_SUSPICIOUS: Final = ("reason", "means", "there")
_ENOUGH: Final = 6
"""Mentions of one sort, at which more change nothing."""
TOKEN: Final = re.compile(r"[a-z]{2,}|\d+|[\u3400-\u4dbf\u4e00-\u9fff]")
_COMMON_WORDS: Final = (
    "an and are as at be been but by did do does for from had has have he her him his how if in is it its me my not of on "
    "or our she so that the their them they this to us was we were what when where which who whom why will with you your "
    "的 了 是 在 我 你 他 她 它 们 这 那 不 就 也 都 和 与 有 吗 呢 吧 啊 谁 什 么 哪 个 为 何 怎 样 里"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


@lru_cache(maxsize=1 << 14)
def counts(text: str) -> Mapping[str, int]:
    """How often words of each sort occur in a text."""
    return {sort: len(pattern.findall(text)) for sort, pattern in _PATTERNS.items()}


@lru_cache(maxsize=1 << 14)
def tokens(text: str) -> frozenset[str]:
    """Words of a text that carry meaning, Chinese by pairs of characters."""
    matches = TOKEN.findall(text.casefold())
    words = {word for word in matches if word not in _COMMON and word.isascii()}
    pairs = {a + b for a, b in pairwise(matches) if not a.isascii() and not b.isascii()}
    return frozenset(words | {pair for pair in pairs if pair[0] not in _COMMON or pair[1] not in _COMMON})


def overlap(text: str, other: str) -> float:
    """The share of the words of `one` that `other` has as well: 0 .. 1."""
    wanted = tokens(text)
    return len(wanted & tokens(other)) / len(wanted) if wanted else 0.0


def names_of(scene: Scene, person: int) -> tuple[str, ...]:
    """All that a person is called, in small letters."""
    persons = (*scene.players, *scene.victims)
    if not 0 <= person < len(persons):
        return ()
    aliases = scene.aliases[person] if person < len(scene.aliases) else ()
    return tuple(name.casefold() for name in (persons[person], *aliases) if name.strip())


def mentions(scene: Scene, person: int, text: str) -> bool:
    """Whether a text names a person; a name in Latin letters as a whole word."""
    small = text.casefold()
    return any(name in small and whole_word(name).search(small) for name in names_of(scene, person))


def suspicion(scene: Scene, victim: int, suspects: Sequence[int], texts: Sequence[str]) -> dict[int, float]:
    """How much the words around each suspect's name speak against him, 0 .. 1; next to the victim's name twice.

    Shares of what is said against all of them, so that being mentioned often is not enough to look worst.
    """
    raw = dict.fromkeys(suspects, 0.0)
    for text in texts:
        frequencies = counts(text)
        against = sum(min(frequencies[sort], _ENOUGH) for sort in _SUSPICIOUS)
        if not against:
            continue
        named = [suspect for suspect in suspects if mentions(scene, suspect, text)]
        weight = against * (2 if mentions(scene, victim, text) else 1)
        for suspect in named:
            raw[suspect] += weight / len(named)
    highest = max(raw.values(), default=0.0)
    return {suspect: value / highest for suspect, value in raw.items()} if highest else {}


def liking(scene: Scene, person: int, texts: Sequence[str]) -> int:
    """What the words around a person's name sound like: -1, 0, 1."""
    near = [counts(text) for text in texts if mentions(scene, person, text)]
    balance = sum(frequencies["fond"] - frequencies["sour"] for frequencies in near)
    return (balance > 0) - (balance < 0)


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
_TOPIC_PATTERNS: Final = {topic: re.compile(signs, re.IGNORECASE) for topic, signs in _SIGNS.items()}

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
    """A question in words. With `about`, the question is about that person, if the topic has this form."""
    forms, name = scene.say, _NAMES[topic]
    persons = [*scene.players, *scene.victims]
    values = {"v": victim, "x": persons[about] if 0 <= about < len(persons) else ""}
    for slot, number, listed in (("p", place, scene.places), ("t", time, scene.times), ("m", means, scene.means)):
        values[slot] = listed[number] if 0 <= number < len(listed) else forms.unnamed[slot]
    form = (forms.about.get(name) if values["x"] else None) or forms.questions[name]
    return re.sub(r"\{(\w)\}", lambda match: values[match[1]], form)


def naming(scene: Scene, victim: str, words: str) -> str:
    """A question that names the victim: as it is if it does, else with the death it is about in front (decisions 4.5)."""
    person = scene.person(victim)
    if person < 0 or mentions(scene, person, words):
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
        person for person in range(persons) if person not in (target, victim) and mentions(scene, person, question)
    )
    return QuestionTopic(
        topics or (OPEN,), about, _numbers(scene.places, question), _numbers(scene.times, question), _hints(question)
    )


@lru_cache(maxsize=1 << 12)
def _topics(question: str) -> tuple[int, ...]:
    return tuple(topic for topic, pattern in _TOPIC_PATTERNS.items() if pattern.search(question))


@lru_cache(maxsize=1 << 12)
def _hints(question: str) -> tuple[str, ...]:
    return tuple(kind for kind, pattern in _HINTED.items() if pattern.search(question))


def _numbers(words: list[str], text: str) -> tuple[int, ...]:
    small = text.casefold()
    return tuple(number for number, word in enumerate(words) if word and word.casefold() in small)
