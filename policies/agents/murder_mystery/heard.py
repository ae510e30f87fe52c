"""What was said at the table, read once: the facts of each answer, and what its question asked for.

A planner goes back to all that it heard before each of its questions. What was heard does not change, so that each answer is
read when it comes. Where nothing of the case can be read in an answer, the model may be asked what it tells (`ReadFacts`): the
question holds nothing of the seat that asks, so that all seats share one answer. Facts are given back as sentences in the forms
of the language of facts, which are then read as anybody's sentences are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple, Self

import numpy as np
from parlour.envs.murder_mystery.vocabulary.facts import (
    FEELINGS,
    PARAMETERS,
    UNKNOWN,
    CaseVocabulary,
    Fact,
    Language,
    say,
)
from parlour.policies.agents.murder_mystery.asks import SceneAsk
from parlour.policies.agents.murder_mystery.evidence import SourcedFact, collect, facts_of
from parlour.policies.agents.murder_mystery.heuristics import LIMIT
from parlour.policies.agents.murder_mystery.scene import Scene, Talk, sentences
from parlour.policies.agents.murder_mystery.seat_memory import SeatMemory
from parlour.policies.agents.murder_mystery.wording import wanted
from parlour.policies.llm.ask import Answer
from pydantic import Field

FACTS: Final = 12
"""Facts that are read from one answer, at most."""


class FactSentences(Answer):
    """Facts as sentences in given forms; none where nothing of the sort was said."""

    facts: list[str] = Field(max_length=FACTS)


class ReadFacts(SceneAsk[FactSentences], kind="questum.read"):
    """Which facts an answer, or an introduction, tells."""

    forms: list[str]
    """The forms of the sentences, with named slots."""
    asker: str
    """Empty for an introduction, as are the victim and the question."""
    speaker: str
    victim: str
    question: str
    words: str

    @classmethod
    def of(cls, scene: Scene, talk: Talk) -> Self:
        """The question about a piece of talk."""
        return cls(
            scene=scene,
            forms=forms_of(scene),
            asker=talk.asker,
            speaker=talk.speaker,
            victim=talk.victim,
            question=talk.question,
            words=talk.answer,
        )

    def heuristic(self, rng: np.random.Generator) -> FactSentences:
        """The text of the slot in the forms of the case."""
        facts = self.read_in([self.words])[:FACTS]
        return FactSentences(facts=[say(fact, self.scene.vocabulary, None) for fact in facts])

    def check(self, answer: FactSentences) -> None:
        for sentence in answer.facts:
            if not self.read_in([sentence]):
                raise ValueError(
                    f"fact {sentence!r} cannot be read; accepted: the forms with words of the scene, or no fact"
                )

    def read_in(self, texts: list[str]) -> list[Fact]:
        """The facts of sentences of the speaker, each once."""
        seat = self.scene.person(self.speaker)
        return facts_of(texts, self.scene.vocabulary, seat) if seat >= 0 else []


def forms_of(scene: Scene) -> list[str]:
    """The forms of all facts that a case has words for, with slots in angle brackets."""
    given = scene.vocabulary
    has = frozenset(letter for letter in "ptmyri" if given.words(letter))
    return list(_forms(scene.language, has))


@lru_cache(maxsize=256)
def _forms(language: Language, has: frozenset[str]) -> tuple[str, ...]:
    names = sentences(language).slots
    person, *listed = ((names[letter],) for letter in "aptmyri")
    blank = CaseVocabulary(language, (*person, names["b"]), ((), ()), 1, *listed)
    forms = []
    for kind, letters in PARAMETERS.items():
        if set(letters) & set("ptmyri") <= has:
            forms += [say(Fact(kind, args), blank, None) for args in _blank_arguments(kind)]
    return tuple(forms)


def _blank_arguments(kind: str) -> list[tuple[int, ...]]:
    """The arguments of a kind of facts in a vocabulary with two persons and one word of each sort."""
    if kind == "died":
        known = ((0, 0, 0), (0, 0, UNKNOWN), (0, UNKNOWN, UNKNOWN), (UNKNOWN, 0, UNKNOWN), (UNKNOWN, UNKNOWN, 0))
        return [(0, *args) for args in known]
    letters = PARAMETERS[kind]
    second = int("a" in letters)
    return [
        tuple(second if letter == "b" else feeling if letter == "f" else 0 for letter in letters)
        for feeling in (FEELINGS if "f" in letters else (0,))
    ]


class HeardAnswer(NamedTuple):
    """One answer, or an introduction."""

    speaker: int
    victim: str
    """Whose death it is about; empty for an introduction."""
    statements: tuple[SourcedFact, ...]
    kinds: frozenset[str]
    """Kinds of facts that the question asked for; empty for an introduction."""
    topics: tuple[int, ...]
    about: tuple[int, ...]
    """Persons that the question named."""
    times: tuple[int, ...]
    """Hours that the question named."""

    @property
    def full(self) -> bool:
        """Whether it was as long as answers may be, so that there may be more."""
        return len(self.statements) >= LIMIT


AnswerReader = Callable[[Sequence[Talk]], Iterable[Sequence[Fact]]]
"""Finds the facts of each of several answers in other words."""


class HeardTalk:
    """All that a seat heard, and what its script and the briefing say.

    Args:
        memory: The seat's memory.
        reader: Reads answers in which no fact is found; None: they are ignored.
    """

    def __init__(self, memory: SeatMemory, reader: AnswerReader | None = None) -> None:
        self._memory, self.seat = memory, memory.seat
        self._reader = reader
        self.in_other_words = False
        """Whether any answer was for the reader."""
        self._sure: list[SourcedFact] | None = None
        self._answers: list[HeardAnswer] = []

    @property
    def answers(self) -> list[HeardAnswer]:
        """Introductions and answers, oldest first."""
        new, free = self._new, self.unread()
        readings = dict(zip(free, self._reader(free), strict=True)) if self._reader and free else {}
        self.in_other_words |= bool(free)
        for talk in new:
            self._answers.append(self._heard(talk, readings.get(talk, ())))
        return self._answers

    @property
    def _new(self) -> list[Talk]:
        return self._memory.talks[len(self._answers) :]

    def unread(self) -> list[Talk]:
        """New answers that are for the reader. What introductions tell is said about no death, and is not used."""
        return [talk for talk in self._new if talk.asker and self._is_free(talk)] if self._reader else []

    def _is_free(self, talk: Talk) -> bool:
        """Whether it says something in words of which no fact can be read."""
        scene, said = self._memory.scene, talk.answer.strip()
        return said not in ("", scene.say.nothing) and not self._facts(talk)

    def _facts(self, talk: Talk) -> tuple[SourcedFact, ...]:
        return tuple(statement for statement in collect(self._memory.scene, [], [talk]) if not statement.sure)

    def statements(self, victim: int) -> list[SourcedFact]:
        """All that the seat knows, and heard about a victim (person number); each once."""
        memory = self._memory
        if self._sure is None:
            self._sure = collect(memory.scene, [(memory.seat, memory.script)], [])
        said = chain.from_iterable(answer.statements for answer in self.answers)
        return list(dict.fromkeys((*self._sure, *(statement for statement in said if statement.victim == victim))))

    def put(self, seat: int, victim: str) -> Iterator[HeardAnswer]:
        """What a seat answered about a victim when it was asked."""
        return (
            answer for answer in self.answers if answer.kinds and answer.speaker == seat and answer.victim == victim
        )

    def _heard(self, talk: Talk, read: Sequence[Fact]) -> HeardAnswer:
        scene = self._memory.scene
        speaker, victim = scene.person(talk.speaker), scene.person(talk.victim)
        statements = self._facts(talk) or tuple(SourcedFact(fact, speaker, False, victim) for fact in read)
        if not talk.asker:
            return HeardAnswer(speaker, talk.victim, statements, frozenset(), (), (), ())
        asks = wanted(scene, talk.question, speaker, victim)
        return HeardAnswer(speaker, talk.victim, statements, asks.kinds, asks.topics, asks.about, asks.times)
