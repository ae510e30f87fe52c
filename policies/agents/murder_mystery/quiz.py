"""The quiz after the game: one question, its options, and excerpts to answer from (decisions 4.5, 4.6).

The same question and the same budget for every method: what it heard is what it can answer from. PP has the own script
alone; OP has everybody's scripts and heard nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from parlour.envs.core import accept, check_one_of
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS, QuizQuestion
from parlour.policies.agents.murder_mystery import quiz_answers
from parlour.policies.agents.murder_mystery.asks import CaseAsk
from parlour.policies.agents.murder_mystery.scene import Talk, in_one_line, me_of
from parlour.policies.agents.murder_mystery.seat_memory import HASHING, QUIZ, SeatMemory
from parlour.policies.agents.seat import InputPart
from parlour.policies.llm.ask import Answer, Choices
from parlour.policies.llm.model import Answered, Model, RequestContext, mixed
from parlour.policies.retrieval.embedders import Embedder
from parlour.policies.retrieval.memory import SCRIPT, Memory, segments

Scripts = Literal["own", "own+dialogue", "all"]
SCRIPTS: Final = ("own", "own+dialogue", "all")
STORY: Final = 3000
"""Tokens of each character's script, where all of them are read (decisions 4.6)."""


class Story(InputPart):
    """Excerpts of one character's script."""

    character: str
    excerpts: list[str]


class QuizAnswer(Answer):
    """A letter, or two joined by a comma where two may be picked, after the reason."""

    reason: str
    answer: str


class Quiz(CaseAsk[QuizAnswer], kind="questum.quiz"):
    """A question of the quiz."""

    question: str
    options: dict[str, str]
    pick: int
    script: list[str]
    """Excerpts of the player's own script; empty if all scripts are read."""
    stories: list[Story]
    """Stories of all characters; empty if only the own script is read."""
    dialogue: list[Talk]

    def heuristic(self, rng: np.random.Generator) -> QuizAnswer:
        own = [(self.scene.person(self.me.name), self.script)]
        scripts = [(self.scene.person(story.character), story.excerpts) for story in self.stories] or own
        options = list(self.options.values())
        letters = quiz_answers.answer(
            self.scene, self.me, self.question, options, self.pick, scripts, self.dialogue, rng
        )
        return QuizAnswer(reason="", answer=letters)

    def choices(self) -> Choices:
        """The letters and, where two may be picked, all pairs of them in their order."""
        pairs = combinations(self.options, 2) if self.pick > 1 else ()
        return {"answer": {**self.options, **{f"{a},{b}": "" for a, b in pairs}}}

    def settled(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Letters in any order and between other marks count, too."""
        words = reply.get("answer")
        picked = quiz_answers.letters_of(words, len(self.options), self.pick) if isinstance(words, str) else ()
        return super().settled({**reply, "answer": quiz_answers.letters(picked)} if picked else reply)

    def check(self, answer: QuizAnswer) -> None:
        if not quiz_answers.letters_of(answer.answer, len(self.options), self.pick):
            wanted = "one letter" if self.pick == 1 else "one letter or two different ones, as in 'a,b'"
            raise ValueError(f"answer {answer.answer!r}; accepted: {wanted} of {', '.join(self.options)}")


class Quizzed(NamedTuple):
    """An answer of the quiz."""

    picked: tuple[int, ...]
    """Options; none if the model gave no answer that can be used, which is wrong."""
    valid: bool
    """Whether the model's first reply was the answer."""
    calls: tuple[dict[str, Any], ...]
    """For the transcript."""


class Reader:
    """One seat at the quiz, with what it may answer from.

    Args:
        view: Its View at the end of the game.
        scripts: `"own"`, `"own+dialogue"` or `"all"`.
        stories: For `"all"`, the script of every character by its name; nobody's View holds them.
        embedder: Turns texts into vectors.

    Raises:
        ParlourError: `scripts` is none of these, or the stories are missing or superfluous.
    """

    def __init__(
        self,
        view: MysteryView,
        scripts: Scripts = "own+dialogue",
        stories: Mapping[str, str] | None = None,
        embedder: Embedder = HASHING,
    ) -> None:
        check_one_of("scripts", scripts, SCRIPTS)
        if (scripts == "all") != bool(stories):
            raise accept("stories", list(stories or ()), "every character's script with scripts='all', else none")
        self._scripts = scripts
        self._seat_memory = SeatMemory(view, embedder)
        self._me = me_of(view)
        self._stories = {name: _shelved(text, embedder) for name, text in (stories or {}).items()}

    def ask(self, question: QuizQuestion) -> Quiz:
        """The question as it is put to a model."""
        text, seat_memory = question.text, self._seat_memory
        if self._scripts == "all":
            script: list[str] = []
            stories = [
                Story(character=name, excerpts=[in_one_line(excerpt.text) for excerpt in memory.retrieve(text, STORY)])
                for name, memory in self._stories.items()
            ]
        else:
            script, stories = seat_memory.excerpts(text, QUIZ), []
        return Quiz(
            scene=seat_memory.scene,
            me=self._me,
            question=text,
            options=dict(zip(LETTERS, question.options, strict=False)),
            pick=question.pick,
            script=script,
            stories=stories,
            dialogue=seat_memory.dialogue(text, QUIZ) if self._scripts == "own+dialogue" else [],
        )

    def answer(self, model: Model, question: QuizQuestion, repetition: int = 0, seed: int = 0) -> Quizzed:
        """Answer one question. The same seed and repetition give the same answer again."""
        return self.answer_all(model, [(question, repetition)], seed)[0]

    def answer_all(self, model: Model, questions: Sequence[tuple[QuizQuestion, int]], seed: int = 0) -> list[Quizzed]:
        """Answer questions, each with the number of its repetition, in order."""
        asks = [self.ask(question) for question, _ in questions]
        seat = self._seat_memory.seat
        contexts = [
            RequestContext(f"player_{seat}", mixed(seed, seat, repetition, *question.id.encode()), game=seed)
            for question, repetition in questions
        ]
        answers = model.answer_all(list(zip(asks, contexts, strict=True)))
        return [_quizzed(ask, answered) for ask, answered in zip(asks, answers, strict=True)]


def _quizzed(ask: Quiz, answered: Answered[QuizAnswer]) -> Quizzed:
    picked = quiz_answers.letters_of(answered.value.answer, len(ask.options), ask.pick)
    return Quizzed(() if answered.fell_back else picked, answered.valid, answered.calls)


def _shelved(text: str, embedder: Embedder) -> Memory:
    memory = Memory(embedder)
    memory.add([piece for piece in segments(text) if piece.strip()], tag=SCRIPT)
    return memory
