"""Words of questions and texts, in English and Chinese: who is mentioned near what, how questions are put, what they ask for.

Topics come from the language of facts: whereabouts, relation, motive, sighting, means, open. One question may touch
several; what it touches is found by words, so that everybody's questions are understood alike. Free prose is read by single
words, without grammar: the fall-back where no sentence is a fact that can be read, as in stories written by hand.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from parlour.envs.language.english import whole_word
from parlour.envs.murder_mystery.vocabulary.facts import ANSWERS, OPEN, TOPICS
from parlour.policies.agents.murder_mystery.scene import Scene

_SIGNS: Final = tomllib.loads(Path(__file__).with_name("data").joinpath("signs.toml").read_text("utf-8"))


def _patterns(table: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile("".join(parts), re.IGNORECASE) for name, parts in _SIGNS[table].items()}


_PATTERNS: Final = _patterns("words")
_SUSPICIOUS: Final = ("reason", "means", "there")
_ENOUGH: Final = 6
"""Mentions of one sort, at which more change nothing."""
TOKEN: Final = re.compile(r"[a-z]{2,}|\d+|[\u3400-\u4dbf\u4e00-\u9fff]")
_COMMON: Final = frozenset(_SIGNS["common"].split())


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


_TOPIC_PATTERNS: Final = {TOPICS.index(name): pattern for name, pattern in _patterns("topics").items()}

DEATH, ABLE, REASONS = 7, 8, 9
"""How the victim died and who could have done it, which belong to sighting and means; who had reasons, and for what."""
_NAMES: Final = {**dict(enumerate(TOPICS)), DEATH: "death", ABLE: "able", REASONS: "reasons"}
"""Topic -> its name among the sentences."""


_HINTED: Final = _patterns("hints")


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

    `target` is a seat, `victim` a number among the persons; -1 for none.
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
