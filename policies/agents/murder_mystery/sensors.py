"""Sensors: what each asks, what it can answer, how heuristics answer it, and how far a suspect is from a murderer.

Questum, section 2.2 and appendix C.4: emotion, motivation and suspicion (the opportunity to do it) in both stages, the
information value when pruning; evidence and background were tried and left out of the three. The paper only sketches the
hypothetical murderer: a point with negative emotion, a motive and the opportunity. Here the distance of a suspect to it is
the number of sensors that differ.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.vocabulary.facts import LANGUAGES, MEANS, MOTIVE, SIGHTING, Fact, say
from parlour.policies.agents.murder_mystery import wording
from parlour.policies.agents.murder_mystery.evidence import Dossier, Excerpts, SourcedFact, has_facts, judge
from parlour.policies.agents.murder_mystery.scene import Scene, sentences
from parlour.policies.agents.murder_mystery.wording import QuestionTopic, wanted
from parlour.policies.agents.seat import InputPart

EMOTION, MOTIVATION, SUSPICION = "emotion", "motivation", "suspicion"
EVIDENCE, BACKGROUND, VALUE = "evidence", "background", "information value"
DEFAULT: Final[tuple[str, ...]] = ("emotion", "motivation", "suspicion")


class Sensor(NamedTuple):
    """What a sensor can read of one character. Its wording in each language is with the sentences (`data/`)."""

    choices: tuple[str, ...]
    murderer: str
    """What it reads for the hypothetical murderer; empty if it does not tell murderers from others."""


SENSORS: Final[Mapping[str, Sensor]] = {
    EMOTION: Sensor(("positive", "neutral", "negative"), "negative"),
    MOTIVATION: Sensor(("yes", "no"), "yes"),
    SUSPICION: Sensor(("yes", "no"), "yes"),
    EVIDENCE: Sensor(("yes", "no"), "yes"),
    BACKGROUND: Sensor(("yes", "no"), "yes"),
    VALUE: Sensor(("high", "medium", "low"), ""),
}
_IN_CHINESE: Final = {
    "正面": "positive", "积极": "positive", "中性": "neutral", "中立": "neutral", "负面": "negative", "消极": "negative",
    "是": "yes", "有": "yes", "否": "no", "不是": "no", "没有": "no", "高": "high", "中": "medium", "中等": "medium", "低": "low",
    "natural": "neutral",
}  # fmt: skip


QUESTIONING: Final = tuple(sensor for sensor in SENSORS if sensor != VALUE)
"""Sensors of the question stage."""
OWN: Final = ".toml"
"""What the file of a new sensor ends with: for each language it has a table with `question` and `choices`."""


class SensorCard(InputPart):
    """A sensor as a question tells it, in the language of the table."""

    sensor: str
    question: str
    choices: list[str]

    def worded(self, choice: str) -> str:
        """A choice in the words of this card; what is none of them stays as it is."""
        known = SENSORS[sensor_of(self.sensor)].choices if sensor_of(self.sensor) in SENSORS else ()
        meant = choice_of(choice, known)
        return self.choices[known.index(meant)] if meant and len(self.choices) == len(known) else choice


def card(sensor: str, language: str) -> SensorCard:
    """The information in a question about a sensor. Raises `ParlourError` for a file that holds none."""
    if sensor not in SENSORS:
        return _own_card(sensor, language)
    words = sentences(language).sensors[sensor]
    return SensorCard(sensor=words.name, question=words.question, choices=list(words.choices))


@cache
def _own_card(file: str, language: str) -> SensorCard:
    try:
        words = tomllib.loads(Path(file).read_text("utf-8"))[language]
        return SensorCard(sensor=Path(file).stem, question=words["question"], choices=words["choices"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ParlourError(
            f"sensor {file!r} cannot be read ({type(error).__name__}); accepted: TOML with question and choices for {language!r}"
        ) from None


class SensorReading(InputPart):
    """What one sensor reads for one character, by the names of `SENSORS` or in the words of a card."""

    sensor: str
    choice: str
    reason: str


class SensorSummary(InputPart):
    """What all sensors read for one character."""

    character: str
    readings: list[SensorReading]


@cache
def _by_name() -> dict[str, str]:
    return {words.name: sensor for language in LANGUAGES for sensor, words in sentences(language).sensors.items()}


def sensor_of(name: str) -> str:
    """The sensor that a name means in any language; the name itself if it means none."""
    return _by_name().get(name, name)


def read_by(readings: Iterable[SensorReading]) -> dict[str, str]:
    """What sensors read: sensor -> choice, both by the names of `SENSORS`, or as the file of a new sensor has them; empty for what is
    no choice of it.
    """
    choices = ((sensor_of(reading.sensor), reading.choice) for reading in readings)
    return {
        sensor: (choice_of(choice, SENSORS[sensor].choices) or "") if sensor in SENSORS else choice
        for sensor, choice in choices
    }


def choice_of(words: str, choices: Sequence[str]) -> str | None:
    """The choice that words mean, in letters of any case, in English or Chinese; None if none."""
    said = words.strip().strip(".。\"'").casefold()
    said = _IN_CHINESE.get(said, said)
    return said if said in choices else None


def murderer_of(name: str) -> str:
    """What a sensor reads for the hypothetical murderer at first; empty for a sensor that tells no murderers from others."""
    sensor = SENSORS.get(sensor_of(name))
    return "" if sensor is None else sensor.murderer


def distance(readings: Iterable[SensorReading], murderer: Mapping[str, str] = MappingProxyType({})) -> int:
    """Number of sensors that differ from the hypothetical murderer's: the first profile, but where `murderer` has a reading."""
    pairs = ((murderer.get(sensor) or murderer_of(sensor), read) for sensor, read in read_by(readings).items())
    return sum(profile not in ("", read) for profile, read in pairs)


def value_of(readings: Iterable[SensorReading]) -> str:
    """What the information-value sensor read; empty if it was not asked."""
    return read_by(readings).get(VALUE, "")


# -- heuristics ----------------------------------------------------------------------------------------------


_MATTERS: Final = frozenset({SIGHTING, MEANS, MOTIVE})
"""Topics that bear most on who did it."""


class Known(NamedTuple):
    """What the excerpts say about one character and one victim."""

    excerpts: Excerpts
    statements: list[SourcedFact]
    dossier: Dossier
    person: int

    @property
    def scene(self) -> Scene:
        return self.excerpts.scene

    @property
    def victim(self) -> int:
        """The victim's number among the persons."""
        return self.excerpts.dead


def known_of(excerpts: Excerpts, about: str) -> Known:
    """Read the excerpts for one character."""
    scene, statements, victim = excerpts.scene, excerpts.statements(), excerpts.dead
    person = scene.person(about)
    texts = [*excerpts.script, *(talk.answer for talk in excerpts.dialogue if talk.speaker != about)]
    others = [seat for seat in range(len(scene.players)) if scene.players[seat] != excerpts.me.name]
    hints = wording.suspicion(scene, victim, others, texts).get(person, 0.0) if not has_facts(statements) else 0.0
    dossier = judge(scene, victim, [person], statements)[person]
    return Known(excerpts, statements, dossier._replace(hints=hints, weight=dossier.weight + hints), person)


def sense(sensor: str, known: Known, asked: int = -1) -> SensorReading:
    """The reading of a sensor of `SENSORS`, from statements about the character.

    `asked`: how many questions the character has answered about this victim; -1 to count those in the excerpts.
    """
    reader = _READERS.get(sensor)
    choice, facts = (_value(known, asked), []) if reader is None else reader(known)
    return SensorReading(sensor=sensor, choice=choice, reason=_reason(known.scene, facts))


def _reason(scene: Scene, facts: Sequence[Fact]) -> str:
    if not facts:
        return scene.say.unknown
    return scene.join(say(fact, scene.vocabulary, None) for fact in list(dict.fromkeys(facts))[:2])


def _emotion(known: Known) -> tuple[str, list[Fact]]:
    pair = (known.excerpts.seat, known.person)
    own = [f for f, _, _, _ in known.statements if f.kind == "feels" and f.args[::2] == pair]
    if own:
        return ("negative", "neutral", "positive")[own[-1].args[1] + 1], own
    suspicious = known.dossier.there or known.dossier.caught > 0
    mood = -1 if suspicious else wording.liking(known.scene, known.person, known.excerpts.script)
    return ("negative", "neutral", "positive")[mood + 1], []


def _motivation(known: Known) -> tuple[str, list[Fact]]:
    dossier, facts = known.dossier, _facts(known, ("motive", "peace"))
    if dossier.peace:
        return "no", [fact for fact in facts if fact.kind == "peace"]
    if dossier.motives or dossier.admitted:
        return "yes", facts
    return ("yes" if dossier.hints > 0.5 else "no"), []


def _suspicion(known: Known) -> tuple[str, list[Fact]]:
    dossier = known.dossier
    if dossier.means < 0:
        return "no", _facts(known, ("lacked",))
    if dossier.elsewhere and not dossier.there:
        return "no", _facts(known, ("saw",))
    return "yes", _facts(known, ("saw", "had"))


def _evidence(known: Known) -> tuple[str, list[Fact]]:
    tied = known.dossier.there or known.dossier.caught > 0 or known.dossier.means > 0
    return ("yes" if tied else "no"), _facts(known, ("saw", "had")) if tied else []


def _background(known: Known) -> tuple[str, list[Fact]]:
    feelings = [f for f, _, _, _ in known.statements if f.kind == "feels" and known.person in f.args[::2]]
    hates = [fact for fact in feelings if fact.args[1] < 0]
    return ("yes" if hates or known.dossier.motives else "no"), hates


def _facts(known: Known, kinds: Sequence[str]) -> list[Fact]:
    """What others told of the character, of these kinds."""
    return [f for f, teller, _, _ in known.statements if f.kind in kinds and f.args[0] == known.person != teller]


_READERS: Final[Mapping[str, Callable[[Known], tuple[str, list[Fact]]]]] = {
    EMOTION: _emotion,
    MOTIVATION: _motivation,
    SUSPICION: _suspicion,
    EVIDENCE: _evidence,
    BACKGROUND: _background,
}


def answered(excerpts: Excerpts, person: int) -> list[QuestionTopic]:
    """What every question about the victim that a character has answered asked for, in order."""
    scene, dead = excerpts.scene, excerpts.dead
    name, victim = _name(scene, person), _name(scene, dead)
    return [
        wanted(scene, talk.question, person, dead)
        for talk in excerpts.dialogue
        if talk.asker and talk.speaker == name and talk.victim == victim
    ]


def topics_put(asked: Sequence[QuestionTopic]) -> set[int]:
    """The topics of those questions that were about nobody in particular."""
    return {topic for asks in asked if not asks.about for topic in asks.topics}


def _name(scene: Scene, person: int) -> str:
    persons = [*scene.players, *scene.victims]
    return persons[person] if 0 <= person < len(persons) else ""


def _value(known: Known, asked: int) -> str:
    """From the number of important topics that were never put to the character; low if a lie or presence gave it away.

    If the questions are counted, as in PLAYER*, their number limits it too.
    """
    if known.dossier.there or known.dossier.caught:
        return "low"
    left = len(_MATTERS - topics_put(answered(known.excerpts, known.person)))
    if asked >= 0:
        left = min(left, len(_MATTERS) - asked)
    return "high" if left > 1 else "medium" if left else "low"
