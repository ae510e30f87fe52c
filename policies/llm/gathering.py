"""Threads that wait for answers, answered together once all of them wait: for models that answer many in the time of one.

Each thread plays games, one after another. Which questions are answered together follows from the games alone: all games in
progress have come to a question, whichever thread was the fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, Protocol


class AnswersTogether(Protocol):
    """Whoever answers many questions at once; hashable: those that are equal are asked together."""

    def together(self, asked: Sequence[Any]) -> Sequence[Any]:
        """An answer for each."""


@dataclass
class _Waiting:
    """A question of a thread."""

    by: AnswersTogether
    question: Any
    order: tuple[int, ...]
    answer: Future[Any] = field(default_factory=Future)


class Gathering:
    """Threads that go along.

    Args:
        members: How many; each enters `member` once.
    """

    def __init__(self, members: int) -> None:
        self._members = members
        self._waiting: list[_Waiting] = []
        self._changed = Condition()

    @contextmanager
    def member(self) -> Iterator[None]:
        """This thread goes along until the block ends: nobody is answered before it asks, too, or leaves."""
        token = _HERE.set(self)
        try:
            yield
        finally:
            _HERE.reset(token)
            with self._changed:
                self._members -= 1
                self._answer()

    def ask(self, by: AnswersTogether, question: Any, order: tuple[int, ...]) -> Any:
        """The answer to a question of this thread. Raises what the answering raised, for all that were asked together."""
        own = _Waiting(by, question, order)
        with self._changed:
            self._waiting.append(own)
            self._answer()
            while not own.answer.done():
                self._changed.wait()
        return own.answer.result()

    def _answer(self) -> None:
        """Answer all, if all wait. Holds the lock: whoever would need it waits for an answer."""
        if not self._waiting or len(self._waiting) < self._members:
            return
        asked, self._waiting = sorted(self._waiting, key=lambda one: one.order), []
        for by in dict.fromkeys(one.by for one in asked):
            own = [one for one in asked if one.by == by]
            try:
                answers = by.together([one.question for one in own])
            except BaseException as error:
                for one in own:
                    one.answer.set_exception(error)
                continue
            for one, answer in zip(own, answers, strict=True):
                one.answer.set_result(answer)
        self._changed.notify_all()


_HERE: ContextVar[Gathering | None] = ContextVar("gathering", default=None)


def ask_along(by: AnswersTogether, question: Any, order: tuple[int, ...]) -> Any:
    """The answer to a question: with those of the threads that go along with this one, or alone.

    Args:
        by: Who answers.
        question: What it takes.
        order: The order of questions that are answered together; of each question another one.
    """
    here = _HERE.get()
    return by.together([question])[0] if here is None else here.ask(by, question, order)
