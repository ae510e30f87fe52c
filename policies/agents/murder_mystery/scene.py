"""The inputs of these questions as plain values: the public setting, the own character, and the talk.

Names are how players speak of each other, so the inputs hold names; `Scene.person` gives the
numbers back. A name is read strictly: exactly, or as the beginning of one name and of no other (decisions 4.5).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from parlour.envs.language.language_files import LanguageTable, read_language
from parlour.envs.language.speech import quote
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import CaseVocabulary, Language
from parlour.policies.agents.seat import InputPart
from pydantic import Field, model_serializer, model_validator


class SensorWords(LanguageTable):
    """How a sensor is put."""

    name: str
    question: str
    choices: tuple[str, ...]
    """In the order of `SENSORS`."""


class Sentences(LanguageTable):
    """The sentences of one language; the files explain them."""

    gap: str
    colon: str
    i_am: str
    nothing: str
    all_i_know: str
    unknown: str
    lacking: str
    said_before: str
    new: str
    honest: str
    guilty: str
    secretive: str
    predefined: tuple[str, ...]
    questions: dict[str, str]
    about: dict[str, str]
    unnamed: dict[str, str]
    slots: dict[str, str]
    sensors: dict[str, SensorWords]


@cache
def sentences(language: str) -> Sentences:
    """The sentences of a language. Raises `ParlourError` if its file is missing or not complete."""
    return read_language(__package__, language, Sentences)


_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_EXCHANGE: Final = re.compile(
    rf"(?P<asker>.+?) → (?P<speaker>.+) \((?P<victim>.*)\): (?P<question>{_QUOTED}) (?P=speaker): (?P<answer>{_QUOTED})"
)
_INTRODUCTION: Final = re.compile(rf"(?P<speaker>.+?): (?P<answer>{_QUOTED})")


class Scene(InputPart):
    """What everybody at the table knows: who plays, who died, and the words for places, times and so on."""

    language: Language = Field(default="en", exclude=True)
    """Language of the case; the prompt sets it for the whole question."""
    briefing: str
    players: list[str]
    """Names in turn order."""
    victims: list[str]
    aliases: list[list[str]]
    """Other names of each of them, players first."""
    places: list[str]
    times: list[str]
    means: list[str]
    motives: list[str]
    relations: list[str]
    items: list[str]

    @property
    def vocabulary(self) -> CaseVocabulary:
        """The same as the language of facts takes it. From spoilt inputs it makes the closest valid scene."""
        persons = (*self.players, *self.victims)
        aliases = tuple(tuple(self.aliases[k]) if k < len(self.aliases) else () for k in range(len(persons)))
        listed = (self.places, self.times, self.means, self.motives, self.relations, self.items)
        return CaseVocabulary(self.language, persons, aliases, len(self.players), *map(tuple, listed))

    @property
    def say(self) -> Sentences:
        """The sentences of the heuristics in the language of the case."""
        return sentences(self.language)

    def join(self, said: Iterable[str]) -> str:
        """Sentences in one text, as the language joins them."""
        return self.say.gap.join(said)

    def person(self, name: str) -> int:
        """The number of a player or, behind them, of a victim; -1 for anybody else."""
        persons = [*self.players, *self.victims]
        return persons.index(name) if name in persons else -1


class CharacterInfo(InputPart):
    """The player asked, with what only his script says about him."""

    name: str
    killed: list[str]
    """Names of the victims he killed; empty for a civilian."""
    objectives: list[str]


class Talk(InputPart):
    """A question with its answer, or an introduction, which answers nobody.

    As a plain value it is one line, `Ann → Ben (Hugh): "Where were you?" Ben: "In the attic."` or `Ann: "I am Ann."`, and an
    object where the names are such that the line could not be read back.
    """

    asker: str
    """Who asked; empty for an introduction."""
    speaker: str
    """Who answered."""
    victim: str
    """Whose death the question was about; empty for an introduction."""
    question: str
    answer: str

    @property
    def text(self) -> str:
        """All of it in one segment, for the memory."""
        if not self.asker:
            return f"{self.speaker}: {self.answer}"
        return f"{self.asker} → {self.speaker} ({self.victim}): {self.question} {self.speaker}: {self.answer}"

    @property
    def line(self) -> str:
        """All of it in one line, words in quotation marks."""
        if not self.asker:
            return f"{self.speaker}: {quote(self.answer)}"
        text = f"{self.asker} → {self.speaker} ({self.victim}): {quote(self.question)}"
        return f"{text} {self.speaker}: {quote(self.answer)}"

    @model_serializer(mode="plain")
    def _written(self) -> str | dict[str, str]:
        whole = {name: str(getattr(self, name)) for name in type(self).model_fields}
        return self.line if _talk_in(self.line) == whole else whole

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        fields = _talk_in(value)
        if fields is None:
            raise ValueError("a line of talk is not accepted; accepted: what `Talk.line` writes")
        return fields


def _talk_in(line: str) -> dict[str, str] | None:
    """The talk that a line tells; None if it tells none."""
    match = _EXCHANGE.fullmatch(line) or _INTRODUCTION.fullmatch(line)
    if match is None:
        return None
    fields = {"asker": "", "victim": "", "question": '""', **match.groupdict()}
    try:
        return {**fields, **{name: json.loads(fields[name]) for name in ("question", "answer")}}
    except ValueError:
        return None


def named(words: str, names: Sequence[str]) -> str | None:
    """The name that words mean: exactly, or else as the beginning of it, if it begins no other; None if neither.

    >>> named("ann", ["Ann Lee", "Bob"]), named("B", ["Bob", "Bill"])
    ('Ann Lee', None)
    """
    wanted = words.strip().casefold()
    if not wanted:
        return None
    for name in names:
        if name.casefold() == wanted:
            return name
    begun = [name for name in dict.fromkeys(names) if name.casefold().startswith(wanted)]
    return begun[0] if len(begun) == 1 else None


def all_named(words: Iterable[str], names: Sequence[str]) -> list[str]:
    """The names that several words mean, each once, in their order; words that mean none are skipped."""
    meant = (named(word, names) for word in words)
    return list(dict.fromkeys(name for name in meant if name is not None))


def in_one_line(text: str) -> str:
    """A text from a case without its line breaks, for the lines of a prompt."""
    return text.replace("\n", " ")


def scene_of(view: MysteryView) -> Scene:
    """The setting, from a View."""
    words = view.vocabulary
    return Scene(
        language=view.language,
        briefing=in_one_line(view.briefing),
        players=list(view.names),
        victims=list(view.victims),
        aliases=[list(names) for names in words.aliases],
        places=list(words.places),
        times=list(words.times),
        means=list(words.means),
        motives=list(words.motives),
        relations=list(words.relations),
        items=list(words.items),
    )


def me_of(view: MysteryView) -> CharacterInfo:
    """Who a View belongs to."""
    killed = [name for name, by_me in zip(view.victims, view.murders, strict=True) if by_me]
    return CharacterInfo(name=view.name, killed=killed, objectives=list(view.objectives))
