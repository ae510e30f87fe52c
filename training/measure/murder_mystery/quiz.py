"""The quiz after a game: every seat answers its questions, each several times, the options shuffled again each time.

WellPlay's keys gather at certain letters (all relation questions are keyed to one place), so the order of the options is
drawn for each seat, question and repetition; it is the same for all methods. Answers are strict letters
(`parlour.policies.agents.murder_mystery.quiz_answers.letters_of`): whatever else is said is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.vocabulary.quiz import SORTS, QuizQuestion
from parlour.policies.agents.murder_mystery import Reader
from parlour.policies.agents.murder_mystery.quiz import Scripts
from parlour.policies.agents.murder_mystery.seat_memory import HASHING
from parlour.policies.llm.model import Model
from parlour.policies.retrieval.embedders import Embedder


class Mark(NamedTuple):
    """How one question of one seat was answered."""

    seat: int
    """Who was asked; -1 for the questions to a reader of all scripts."""
    question: str
    """Its id."""
    kind: str
    points: int
    """10, 5 or 2."""
    right: tuple[bool, ...]
    """In each repetition."""

    @property
    def sort(self) -> str:
        """`"objective"`, `"reasoning"` or `"relations"`."""
        return SORTS[self.points]


def shuffled(question: QuizQuestion, rng: np.random.Generator) -> QuizQuestion:
    """The same question with its options in another order; the keys go with their options."""
    order = [int(k) for k in rng.permutation(len(question.options))]
    return question.model_copy(
        update={
            "options": tuple(question.options[k] for k in order),
            "keys": tuple(sorted(order.index(key) for key in question.keys)),
        }
    )


def order_of(seed: int, seat: int, question: QuizQuestion, repetition: int) -> np.random.Generator:
    """Where the order of a question's options is drawn from."""
    return np.random.default_rng((seed, seat + 1, repetition, *question.id.encode()))


def stories_of(case: Case) -> dict[str, str]:
    """Every character's script."""
    return {character.name: character.script for character in case.characters}


def quiz(
    case: Case,
    views: Sequence[Any],
    model: Model,
    *,
    scripts: Scripts = "own+dialogue",
    repetitions: int = 3,
    seed: int = 0,
    seats: Sequence[int] | None = None,
    embedder: Embedder = HASHING,
) -> tuple[Mark, ...]:
    """Ask seats all their questions.

    Args:
        case: Its questions.
        views: Each seat's View at the end of the game.
        model: Who answers.
        scripts: What is read.
        repetitions: How often each question is asked (the papers: 3).
        seed: Seed of the options' order and of random answers.
        seats: Who is asked; everybody by default.
        embedder: Turns texts into vectors.
    """
    stories = stories_of(case) if scripts == "all" else None
    marks: list[Mark] = []
    for seat in range(case.seats) if seats is None else seats:
        reader = Reader(views[seat], scripts, stories, embedder)
        marks += _marks(reader, model, seat, case.questions[seat], repetitions, seed)
    return tuple(marks)


def omniscient(case: Case, views: Sequence[Any], model: Model, repetitions: int = 3, seed: int = 0) -> tuple[Mark, ...]:
    """Ask the questions to a reader of all scripts; empty if the case has none.

    A reader without part in the murders takes them: the first civilian's seat, or the first one if there is none.
    """
    civilians = [seat for seat, character in enumerate(case.characters) if not any(character.murders)]
    reader = Reader(views[civilians[0] if civilians else 0], "all", stories_of(case))
    return tuple(_marks(reader, model, -1, case.omniscient, repetitions, seed))


def _marks(
    reader: Reader, model: Model, seat: int, questions: Sequence[QuizQuestion], repetitions: int, seed: int
) -> list[Mark]:
    """All questions to one reader, each as often as it is repeated: none waits for another."""
    shown = [
        (shuffled(question, order_of(seed, seat, question, repetition)), repetition)
        for question in questions
        for repetition in range(repetitions)
    ]
    answers = zip(shown, reader.answer_all(model, shown, seed), strict=True)
    right = [question.right(quizzed.picked) for (question, _), quizzed in answers]
    return [
        Mark(seat, question.id, question.kind, question.points, tuple(right[k * repetitions : (k + 1) * repetitions]))
        for k, question in enumerate(questions)
    ]
