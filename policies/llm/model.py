"""Who answers questions: the Model, the offline one, and the SeatModel through which one seat asks in one game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, NamedTuple

import numpy as np
from parlour.policies.llm.ask import A, Ask

OFFLINE: Final = "offline"


class RequestContext(NamedTuple):
    """On whose behalf a question is put."""

    seat: str
    """Who pays: `"player_3"`, or another name for the meter."""
    sample: int = 0
    """Which of several samples of the same question this is; the same number gives the same answer again."""

    rules: str = ""
    """The rules of its table in words, for the system message."""

    def other(self, k: int) -> RequestContext:
        """The same asker with the k-th of several samples; number 0 is the sample itself."""
        return self._replace(sample=mixed(self.sample, k)) if k else self


@dataclass(frozen=True)
class Answered(Generic[A]):
    """An answer, with how it came about."""

    value: A
    tries: int = 1
    """Replies that were read."""
    reason: str | None = None
    """Why the heuristic answered in the model's place; None if the model did."""
    calls: tuple[dict[str, Any], ...] = field(default=())
    """For the transcript, a call each: `ask`, `answer` or `prompt`, `reply`, `usage`, `cost`."""
    cut: int = 0
    """Lines that were left out of the prompt for want of room."""

    @property
    def valid(self) -> bool:
        """Whether the model's first reply was the answer."""
        return self.reason is None and self.tries == 1

    @property
    def fell_back(self) -> bool:
        """Whether the heuristic had to answer in the model's place."""
        return self.reason is not None


class Model(ABC):
    """Answers questions. One model serves all seats of all concurrent games; it is safe for threads, and picklable."""

    name: str
    """What results call it."""
    is_language_model: ClassVar[bool]

    @abstractmethod
    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        """Answer one question."""

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        """`n` independent answers to the same question."""
        return [self.answer(question, context.other(k)) for k in range(n)]

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Plain values from which the same model can be made again; no secrets."""


class OfflineModel(Model):
    """Answers every question by its heuristic: the embedded default. It is not a language model."""

    name = OFFLINE
    is_language_model: ClassVar[bool] = False

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        value = question.heuristic(np.random.default_rng(context.sample))
        return Answered(value, calls=({"ask": question.kind, "answer": value.model_dump(mode="json")},))

    def settings(self) -> dict[str, Any]:
        return {"model": OFFLINE}


class SeatModel:
    """The questions of one seat in one game. Numbers them, so that the same game asks for the same samples again.

    Args:
        model: Who answers.
        seat: The seat's number.
        seed: The game's seed.
    """

    def __init__(self, model: Model, seat: int, seed: int) -> None:
        self._model, self._seat, self._seed = model, seat, seed
        self.rules = ""
        """The rules of the table in words, as the game tells them."""
        self._asked = 0
        self._calls: list[dict[str, Any]] = []

    def ask(self, question: Ask[A]) -> A:
        """The model's answer."""
        return self.hear(question).value

    def hear(self, question: Ask[A]) -> Answered[A]:
        """The whole answer, with whether the model itself gave it."""
        answered = self._model.answer(question, self._context())
        self._calls += answered.calls
        return answered

    def calls(self) -> list[dict[str, Any]]:
        """What was asked since the last time, for the transcript."""
        told, self._calls = self._calls, []
        return told

    def _context(self) -> RequestContext:
        self._asked += 1
        return RequestContext(f"player_{self._seat}", mixed(self._seed, self._seat, self._asked), self.rules)


def mixed(*numbers: int) -> int:
    """One number of 31 bits from several; what servers take for a seed."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0]) >> 1
