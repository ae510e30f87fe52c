"""The questions of Questum and PLAYER*: introduction, sensors, question, reply, pruning, vote (decisions 4.4, 4.5, 5).

Every question tells its setting (`scene`), who is asked (`me`) and the excerpts that the memory found, in this order, so
that the prompts of a seat begin alike. `stance` says whether he may lie: only the murderer of the victim in question may,
about that death.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Generic

import numpy as np
from parlour.policies.agents.murder_mystery import heuristics
from parlour.policies.agents.murder_mystery.evidence import Excerpts
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, Talk, all_named, named
from parlour.policies.agents.murder_mystery.sensors import (
    SENSORS,
    Known,
    SensorCard,
    SensorReading,
    SensorSummary,
    known_of,
    murderer_of,
    read_by,
    sense,
    sensor_of,
)
from parlour.policies.llm import reading
from parlour.policies.llm.ask import A, Answer, Ask, Choices, Fraction, SaidWords
from parlour.policies.llm.reading import with_length
from pydantic import BaseModel, model_validator

_FIXED: Final = ("scene", "forms", "me", "script", "stories")
_RECORD: Final = ("dialogue",)


def stance_of(scene: Scene, me: CharacterInfo, victim: str) -> str:
    """What somebody may say about a victim's death: only his own victim's murderer may lie (rule 3)."""
    return scene.say.guilty if victim in me.killed else scene.say.honest


class Words(Answer):
    """What somebody says aloud."""

    words: SaidWords


class SensorAnswer(Answer):
    """What one sensor reads."""

    reason: str
    choice: str


class SensorAnswers(Answer):
    """What several sensors read, by their names in the question."""

    readings: dict[str, SensorAnswer]


class Questions(Answer):
    """What somebody asks."""

    questions: list[str]


class Grades(Answer):
    """How strongly each is suspected."""

    reason: str
    grades: dict[str, Fraction]


class Suspicion(Answer):
    """The list of suspects, the strongest first."""

    reason: str
    suspicion: list[str]


class Ballot(Answer):
    """A vote."""

    reason: str
    name: str


def refuse_number(questions: Sequence[str], number: int) -> None:
    """Refuse questions that are too many or none. Raises `ValueError`."""
    if not 1 <= len([question for question in questions if question.strip()]) <= number:
        raise ValueError(f"{len(questions)} questions; accepted: 1 to {number}, none of them blank")


class SceneAsk(Ask[A], Generic[A]):
    """The first input of every question in a case."""

    scene: Scene

    @classmethod
    def __pydantic_init_subclass__(cls, **given: Any) -> None:
        super().__pydantic_init_subclass__(**given)
        cls.fixed = tuple(name for name in _FIXED if name in cls.model_fields)
        cls.record = tuple(name for name in _RECORD if name in cls.model_fields)

    @model_validator(mode="before")
    @classmethod
    def _in_one_language(cls, given: Any) -> Any:
        """A question has the language of its case; one that was read back gives its own to the case."""
        scene = given.get("scene") if isinstance(given, dict) else None
        if isinstance(scene, Scene):
            return {**given, "language": scene.language}
        if isinstance(scene, dict):
            return {**given, "scene": {**scene, "language": given.get("language", "en")}}
        return given


class CaseAsk(SceneAsk[A], Generic[A]):
    """... and who is asked."""

    me: CharacterInfo

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return isinstance(entry, Talk)

    @property
    def excerpts(self) -> Excerpts:
        """What it is answered from; empty where the question has no such input."""
        given: list[Any] = [getattr(self, name, "") for name in ("victim", "script", "dialogue")]
        return Excerpts(self.scene, self.me, *given)

    @property
    def known(self) -> Known:
        """What the excerpts say about the character that the question is about."""
        return known_of(self.excerpts, getattr(self, "about", self.me.name))

    def schema_of_answer(self) -> dict[str, Any]:
        schema = super().schema_of_answer()
        number = getattr(self, "number", None)
        return schema if number is None else with_length(schema, "questions", 1, number)

    def check(self, answer: A) -> None:
        if isinstance(answer, Questions):
            refuse_number(answer.questions, getattr(self, "number", len(answer.questions)))


class VictimAsk(CaseAsk[A], Generic[A]):
    """... and a question about a victim's death."""

    victim: str


class WithExcerpts(BaseModel):
    """What the memory finds, of the own script and of the talk."""

    script: list[str]
    dialogue: list[Talk]


class CharacterAsk(VictimAsk[A], Generic[A]):
    """... and about another character."""

    about: str


class AnswerAsk(VictimAsk[A], Generic[A]):
    """... and how to answer what somebody asked about it."""

    asker: str
    question: str


class Introduce(CaseAsk[Words], kind="questum.introduce"):
    """Who one is, before the first round."""

    script: list[str]
    lies: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=heuristics.introduction(self.excerpts))


class Sense(WithExcerpts, CharacterAsk[SensorAnswer], kind="questum.sense"):
    """One sensor about one character, before a question to it."""

    sensor: SensorCard
    stance: str

    def heuristic(self, rng: np.random.Generator) -> SensorAnswer:
        return _sensed(self.sensor, self.known)

    def choices(self) -> Choices:
        return {"choice": dict.fromkeys(self.sensor.choices, "")}

    def settled(self, reply: dict[str, Any]) -> dict[str, Any]:
        return super().settled(_worded(reply, self.sensor))


class ReadingAsk(VictimAsk[SensorAnswers]):
    """A question with several sensors."""

    sensors: list[SensorCard]

    def choices(self) -> Choices:
        return {f"readings.{sensor.sensor}.choice": dict.fromkeys(sensor.choices, "") for sensor in self.sensors}

    def schema_of_answer(self) -> dict[str, Any]:
        """Each sensor is a field of its own, held to its own choices."""
        by_sensor = {card.sensor: SensorAnswer.model_json_schema() for card in self.sensors}
        return reading.with_choices(_object({"readings": _object(by_sensor)}), self.choices())

    def settled(self, reply: dict[str, Any]) -> dict[str, Any]:
        readings = reply.get("readings")
        if not isinstance(readings, dict):
            return reply  # the schema will say what is wrong
        cards = {card.sensor: card for card in self.sensors}
        worded = {name: _worded(answer, cards[name]) if name in cards else answer for name, answer in readings.items()}
        return super().settled({**reply, "readings": worded})

    def check(self, answer: SensorAnswers) -> None:
        wanted = [sensor.sensor for sensor in self.sensors]
        if set(answer.readings) != set(wanted):
            raise ValueError(f"readings of {', '.join(answer.readings)}; accepted: one of each of {', '.join(wanted)}")


class SenseAll(WithExcerpts, ReadingAsk, CharacterAsk[SensorAnswers], kind="questum.sense_all"):
    """All sensors about one character, for pruning."""

    asked: int | None
    """PLAYER*: how many questions the character has answered about this victim; None where that is not told."""
    before: list[SensorReading]
    """PLAYER*: the last readings, for what has changed since; empty where that is not told."""
    stance: str

    def heuristic(self, rng: np.random.Generator) -> SensorAnswers:
        known, asked = self.known, -1 if self.asked is None else self.asked
        return SensorAnswers(readings={sensor.sensor: _sensed(sensor, known, asked) for sensor in self.sensors})


class Profile(WithExcerpts, ReadingAsk, kind="questum.profile"):
    """What sensors would read for the murderer, given the talk so far."""

    stance: str

    def heuristic(self, rng: np.random.Generator) -> SensorAnswers:
        """The first profile. Cases of facts have no accidents, so that it stands."""
        answers = {card.sensor: card.worded(murderer_of(card.sensor) or card.choices[-1]) for card in self.sensors}
        return SensorAnswers(readings={name: SensorAnswer(reason="", choice=read) for name, read in answers.items()})


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _sensed(card: SensorCard, known: Known, asked: int = -1) -> SensorAnswer:
    sensor = sensor_of(card.sensor)
    if sensor not in SENSORS:  # one's own: there is no heuristic for it
        return SensorAnswer(reason=known.scene.say.unknown, choice=card.choices[-1])
    reading = sense(sensor, known, asked)
    return SensorAnswer(reason=reading.reason, choice=card.worded(reading.choice))


def _worded(answer: Any, card: SensorCard) -> Any:
    """A reading of a reply in the words of the card, where it has those of another language, or the paper's."""
    choice = answer.get("choice") if isinstance(answer, dict) else None
    return {**answer, "choice": card.worded(choice)} if isinstance(choice, str) else answer


class Question(WithExcerpts, CharacterAsk[Questions], kind="questum.question"):
    """What to ask a character, from what the sensors read and the excerpts."""

    summary: SensorSummary
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        return Questions(questions=heuristics.question_of(self.known, self.summary, self.number))


class ReplyToQuestion(WithExcerpts, AnswerAsk[Words], kind="questum.reply"):
    """The answer to a question. Murderers answer with it in all methods; so do the civilians of Questum and O-CoT."""

    lies: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=heuristics.reply(self.excerpts, self.question, self.lies))


class PruningAsk(VictimAsk[A], Generic[A]):
    """What a pruner is asked from."""

    suspects: list[str]
    summaries: list[SensorSummary]
    murderer: list[SensorReading]
    """What sensors would read for the murderer; empty where that is not asked."""
    stance: str

    @property
    def others(self) -> list[str]:
        """Who can be a suspect."""
        return [summary.character for summary in self.summaries]


class Prune(PruningAsk[Suspicion], kind="questum.prune"):
    """Who stays on the list of suspects, or comes back onto it."""

    def heuristic(self, rng: np.random.Generator) -> Suspicion:
        return Suspicion(reason="", suspicion=heuristics.prune(self.suspects, self.summaries, read_by(self.murderer)))

    def ranked(self, answer: Suspicion) -> list[str]:
        """The new list, the strongest suspect first."""
        return all_named(answer.suspicion, self.others)

    def choices(self) -> Choices:
        return {"suspicion": dict.fromkeys(self.others, "")}

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "suspicion", 1, len(self.others))

    def settled(self, reply: dict[str, Any]) -> dict[str, Any]:
        """A unique beginning of a name counts, too; other names are skipped if at least one counts (decisions 4.5)."""
        names = reply.get("suspicion")
        texts = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        known = all_named(texts, self.others)
        return super().settled({**reply, "suspicion": known} if known else reply)

    def check(self, answer: Suspicion) -> None:
        if not answer.suspicion:
            raise ValueError(f"nobody is named; accepted: {', '.join(self.others)}")


class Grade(PruningAsk[Grades], kind="questum.grade"):
    """How strongly everybody is suspected, from 0 to 1 (PLAYER*, section 2.1)."""

    def heuristic(self, rng: np.random.Generator) -> Grades:
        return Grades(reason="", grades=heuristics.grades(self.summaries, read_by(self.murderer)))

    def ranked(self, answer: Grades) -> list[str]:
        """Those with half of the highest grade or more, the strongest suspect first."""
        grades, least = answer.grades, max(answer.grades.values()) / 2
        return [name for name in sorted(grades, key=lambda name: -grades[name]) if grades[name] >= least]

    def schema_of_answer(self) -> dict[str, Any]:
        grades = _object({name: {"type": "number", "minimum": 0, "maximum": 1} for name in self.others})
        return _object({"reason": {"type": "string"}, "grades": grades})

    def check(self, answer: Grades) -> None:
        if set(answer.grades) != set(self.others):
            raise ValueError(f"grades of {', '.join(answer.grades)}; accepted: one of each of {', '.join(self.others)}")


class Vote(WithExcerpts, VictimAsk[Ballot], kind="questum.vote", spare=("summaries",)):
    """Who killed a victim: a direct question, with the other players as options."""

    options: list[str]
    suspects: list[str]
    """The own list of suspects, the strongest first; empty for a method without one."""
    summaries: list[SensorSummary]
    """What the sensors read last; empty for a method without sensors."""
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Ballot:
        return Ballot(reason="", name=heuristics.vote(self.excerpts, self.options, self.suspects))

    def choices(self) -> Choices:
        return {"name": dict.fromkeys(self.options, "")}

    def settled(self, reply: dict[str, Any]) -> dict[str, Any]:
        """A unique beginning of a name counts, too (decisions 4.5)."""
        text = reply.get("name")
        name = named(text, self.options) if isinstance(text, str) else None
        return super().settled(reply if name is None else {**reply, "name": name})
