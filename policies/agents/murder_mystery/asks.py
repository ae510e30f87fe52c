"""The questions of Questum and PLAYER*: introduction, sensors, question, reply, pruning, vote (SPEC 4.4, 4.5, 5).

Every question tells its setting (`scene`), who is asked (`me`) and the excerpts that the memory found. `stance` says
whether he may lie: only the murderer of the victim in question may, about that death.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Generic

import numpy as np
from parlour.policies.agents.murder_mystery import question_selection, replies, voting
from parlour.policies.agents.murder_mystery.evidence import Excerpts
from parlour.policies.agents.murder_mystery.prose import mentions
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, ScenePart, Talk, all_named, named
from parlour.policies.agents.murder_mystery.sensors import (
    SENSORS,
    Known,
    SensorReading,
    SensorSummary,
    choice_of,
    known_of,
    sense,
)
from parlour.policies.llm.ask import A, Answer, Ask

HONEST: Final = (
    "You did not kill this victim and want to find out who did: you do not lie, you hold nothing back that bears on this "
    "death, and you bear in mind that the murderer may lie."
)
GUILTY: Final = (
    "You killed this victim and nobody may find out: you may invent and deny about this death, behave as though you were "
    "looking for the murderer, and turn suspicion to others."
)


def stance_of(me: CharacterInfo, victim: str) -> str:
    """What somebody may say about a victim's death: only his own victim's murderer may lie (rule 3)."""
    return GUILTY if victim in me.killed else HONEST


class Words(Answer):
    """What somebody says aloud."""

    words: str


class SensorAnswer(Answer):
    """What one sensor reads."""

    choice: str
    reason: str


class SensorAnswers(Answer):
    """What several sensors read."""

    readings: list[SensorReading]


class Questions(Answer):
    """What somebody asks."""

    questions: list[str]


class Suspicion(Answer):
    """The list of suspects, the strongest first."""

    suspicion: list[str]


class Ballot(Answer):
    """A vote."""

    name: str
    reason: str


class SensorCard(ScenePart):
    """A sensor as a question tells it."""

    sensor: str
    question: str
    choices: list[str]


def card(sensor: str) -> SensorCard:
    """What a question tells of a sensor."""
    return SensorCard(sensor=sensor, question=SENSORS[sensor].question, choices=list(SENSORS[sensor].choices))


def refuse_unnamed(questions: Sequence[str], number: int, scene: Scene, victim: str) -> None:
    """Refuse questions that are too many, or do not name the victim. Raises `ValueError`."""
    if not 1 <= len([one for one in questions if one.strip()]) <= number:
        raise ValueError(f"{len(questions)} questions; accepted: 1 to {number}, none of them blank")
    person = scene.person(victim)
    if person >= 0 and not all(mentions(scene, person, one) for one in questions):
        raise ValueError(f"a question does not name the victim; accepted: questions with the words {victim!r}")


def refuse_blank(words: str) -> None:
    """Refuse words that say nothing. Raises `ValueError`."""
    if not words.strip():
        raise ValueError("the words are blank; accepted: at least one sentence")


class CaseAsk(Ask[A], Generic[A]):
    """The first inputs of every question in a case."""

    scene: Scene
    me: CharacterInfo

    @property
    def excerpts(self) -> Excerpts:
        """What it is answered from; empty where the question has no such input."""
        given: list[Any] = [getattr(self, name, "") for name in ("victim", "script", "dialogue")]
        return Excerpts(self.scene, self.me, *given)

    @property
    def known(self) -> Known:
        """What the excerpts say of the character that the question is about."""
        return known_of(self.excerpts, getattr(self, "about", self.me.name))

    def check(self, answer: A) -> None:
        if isinstance(answer, Words):
            refuse_blank(answer.words)


class VictimAsk(CaseAsk[A], Generic[A]):
    """... and a question about a victim's death."""

    victim: str


class CharacterAsk(VictimAsk[A], Generic[A]):
    """... and about another character."""

    about: str


class AnswerAsk(VictimAsk[A], Generic[A]):
    """... and how to answer what somebody asked about it."""

    asker: str
    question: str


class Introduce(CaseAsk[Words]):
    """Who one is, before the first round."""

    kind: ClassVar[str] = "questum.introduce"

    script: list[str]
    lies: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=replies.introduction(self.excerpts))


class Sense(CharacterAsk[SensorAnswer]):
    """One sensor about one character, before a question to it."""

    kind: ClassVar[str] = "questum.sense"

    sensor: SensorCard
    script: list[str]
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> SensorAnswer:
        found = sense(self.sensor.sensor, self.known)
        return SensorAnswer(choice=found.choice, reason=found.reason)

    def check(self, answer: SensorAnswer) -> None:
        _check_choice(answer.choice, self.sensor)


class SenseAll(CharacterAsk[SensorAnswers]):
    """All sensors about one character, for pruning."""

    kind: ClassVar[str] = "questum.sense_all"

    sensors: list[SensorCard]
    asked: int
    """PLAYER*: how many questions the character has answered about this victim; -1 where that is not told."""
    script: list[str]
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> SensorAnswers:
        known = self.known
        return SensorAnswers(readings=[sense(one.sensor, known, self.asked) for one in self.sensors])

    def check(self, answer: SensorAnswers) -> None:
        told = {reading.sensor: reading.choice for reading in answer.readings}
        for one in self.sensors:
            if one.sensor not in told:
                raise ValueError(f"sensor {one.sensor!r} is missing; accepted: one reading for each sensor")
            _check_choice(told[one.sensor], one)


def _check_choice(choice: str, sensor: SensorCard) -> None:
    if choice_of(choice, sensor.choices) is None:
        raise ValueError(f"choice {choice!r} of {sensor.sensor!r}; accepted: {', '.join(sensor.choices)}")


class Question(CharacterAsk[Questions]):
    """What to ask a character, from what the sensors read and the excerpts."""

    kind: ClassVar[str] = "questum.question"

    script: list[str]
    dialogue: list[Talk]
    summary: SensorSummary
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        return Questions(questions=question_selection.question_of(self.known, self.summary, self.number))

    def check(self, answer: Questions) -> None:
        refuse_unnamed(answer.questions, self.number, self.scene, self.victim)


class ReplyToQuestion(AnswerAsk[Words]):
    """The answer to a question. Murderers answer with it in all methods; so do the civilians of Questum and O-CoT."""

    kind: ClassVar[str] = "questum.reply"

    script: list[str]
    dialogue: list[Talk]
    lies: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=replies.reply(self.excerpts, self.question, self.lies))


class Prune(VictimAsk[Suspicion]):
    """Who stays on the list of suspects, or comes back onto it."""

    kind: ClassVar[str] = "questum.prune"

    suspects: list[str]
    summaries: list[SensorSummary]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Suspicion:
        return Suspicion(suspicion=voting.prune(self.suspects, self.summaries))

    def check(self, answer: Suspicion) -> None:
        others = [one.character for one in self.summaries]
        if not all_named(answer.suspicion, others):
            raise ValueError(f"nobody is named who can be a suspect; accepted: {', '.join(others)}")


class Vote(VictimAsk[Ballot]):
    """Who killed a victim: a direct question, with the other players as options."""

    kind: ClassVar[str] = "questum.vote"

    options: list[str]
    script: list[str]
    dialogue: list[Talk]
    suspects: list[str]
    """The own list of suspects, the strongest first; empty for a method without one."""
    summaries: list[SensorSummary]
    """What the sensors read last; empty for a method without sensors."""
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Ballot:
        return Ballot(name=voting.vote(self.excerpts, self.options, self.suspects), reason="")

    def check(self, answer: Ballot) -> None:
        if named(answer.name, self.options) is None:
            raise ValueError(f"{answer.name!r} is no option; accepted: {', '.join(self.options)}")
