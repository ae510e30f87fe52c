"""The question of the planner: which facts of the case somebody tells in words of his own.

It holds nothing of the seat that asks, so that all seats share one answer. Facts are given back as sentences in the forms of
the language of facts, which are then read as anybody's sentences are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Final, Self

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
from parlour.policies.agents.murder_mystery import mishearing
from parlour.policies.agents.murder_mystery.asks import SceneAsk
from parlour.policies.agents.murder_mystery.evidence import facts_of
from parlour.policies.agents.murder_mystery.scene import Scene, Talk
from parlour.policies.agents.murder_mystery.sentences import sentences
from parlour.policies.llm.ask import Answer
from parlour.policies.llm.noise import Ear
from pydantic import Field

FACTS: Final = 12
"""Facts that are read from one answer, at most."""


class FactSentences(Answer):
    """Facts as sentences in given forms; none where nothing of the sort was said."""

    facts: list[str] = Field(max_length=FACTS)


class ReadFacts(SceneAsk[FactSentences]):
    """Which facts an answer, or an introduction, tells."""

    kind: ClassVar[str] = "questum.read"

    forms: list[str]
    """The forms of the sentences, with names of what stands in them."""
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
        """What stands there in the forms of the case."""
        found = self.read_in([self.words])[:FACTS]
        return FactSentences(facts=[say(fact, self.scene.vocabulary, None) for fact in found])

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

    def misheard(self, ear: Ear) -> Self:
        """The words are misread as they are in a dialogue, unless they are the reader's own."""
        if self.scene.person(self.speaker) == ear.seat:
            return self
        talk = Talk(
            asker=self.asker, speaker=self.speaker, victim=self.victim, question=self.question, answer=self.words
        )
        (heard,) = mishearing.heard([talk], ear, self.scene, "")
        return self.model_copy(update={"words": heard.answer})


def forms_of(scene: Scene) -> list[str]:
    """The forms of all facts that a case has words for, with what stands in them in angle brackets."""
    given = scene.vocabulary
    has = frozenset(letter for letter in "ptmyri" if given.words(letter))
    return list(_forms(scene.language, has))


@lru_cache(maxsize=256)
def _forms(language: Language, has: frozenset[str]) -> tuple[str, ...]:
    names = sentences(language).slots
    person, *listed = ((names[letter],) for letter in "aptmyri")
    blank = CaseVocabulary(language, (*person, names["b"]), ((), ()), 1, *listed)
    found = []
    for kind, letters in PARAMETERS.items():
        if set(letters) & set("ptmyri") <= has:
            found += [say(Fact(kind, args), blank, None) for args in _blank_arguments(kind)]
    return tuple(found)


def _blank_arguments(kind: str) -> list[tuple[int, ...]]:
    """The arguments of a kind of facts in a vocabulary with two persons and one word of each sort."""
    if kind == "died":
        known = ((0, 0, 0), (0, 0, UNKNOWN), (0, UNKNOWN, UNKNOWN), (UNKNOWN, 0, UNKNOWN), (UNKNOWN, UNKNOWN, 0))
        return [(0, *one) for one in known]
    letters = PARAMETERS[kind]
    second = int("a" in letters)
    return [
        tuple(second if letter == "b" else feeling if letter == "f" else 0 for letter in letters)
        for feeling in (FEELINGS if "f" in letters else (0,))
    ]
