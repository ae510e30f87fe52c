"""Reading free prose by single words: who is mentioned near what, in English and Chinese.

The fall-back where no sentence is a fact that can be read, as in stories written by hand. It knows no grammar.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from parlour.envs.english import whole_word
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
    found = TOKEN.findall(text.casefold())
    words = {word for word in found if word not in _COMMON and word.isascii()}
    pairs = {a + b for a, b in pairwise(found) if not a.isascii() and not b.isascii()}
    return frozenset(words | {pair for pair in pairs if pair[0] not in _COMMON or pair[1] not in _COMMON})


def overlap(one: str, other: str) -> float:
    """The share of the words of `one` that `other` has as well: 0 .. 1."""
    wanted = tokens(one)
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
        told = counts(text)
        against = sum(min(told[sort], _ENOUGH) for sort in _SUSPICIOUS)
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
    balance = 0
    for text in texts:
        if mentions(scene, person, text):
            balance += counts(text)["fond"] - counts(text)["sour"]
    return (balance > 0) - (balance < 0)
