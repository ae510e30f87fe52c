"""Calls that wait for somebody else: carried out at once, shared by several who wait, or answered together.

Threads, not tasks: whoever asks a model is plain code, and an SDK's client serves many threads over one pool of connections.
For models that answer many questions in the time of one, threads are answered together once all of them wait: which questions
these are follows from the games alone, whichever thread was the fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Lock
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]], most: int) -> list[Future[T]]:
    """Carry out calls in threads, at most `most` at a time.

    Returns:
        A future for each call, in order, when all have ended: what a call raised, its `result()` raises.
    """
    if not calls:
        return []
    with ThreadPoolExecutor(min(most, len(calls)), "asks") as pool:
        return [pool.submit(call) for call in calls]


@dataclass
class _Shared(Generic[T]):
    """A call that several may need."""

    owner: str
    result: Future[T] | None = None
    """None until somebody makes the call."""
    told: bool = False

    def make(self, call: Callable[[str], T]) -> None:
        assert self.result is not None
        try:
            self.result.set_result(call(self.owner))
        except BaseException as error:
            self.result.set_exception(error)
            raise

    @property
    def done(self) -> bool:
        return self.result is not None and self.result.done() and self.result.exception() is None


class SharedCalls(Generic[T]):
    """Calls whose results are the same for all who share them: each is made once, by whoever needs it first.

    It belongs to the first owner that claimed it, which is fixed beforehand (`claim`), so it does not depend on the fastest
    thread. Safe for threads; pickled are the results, without what is under way.
    """

    def __init__(self) -> None:
        self._calls: dict[str, _Shared[T]] = {}
        self._lock = Lock()

    def claim(self, owner: str, keys: Iterable[str]) -> None:
        """`owner` will need these calls: those that nobody has claimed belong to it."""
        with self._lock:
            for key in keys:
                self._calls.setdefault(key, _Shared(owner))

    def results(self, owner: str, calls: Mapping[str, Callable[[str], T]], most: int = 1) -> list[T]:
        """The results of calls that `owner` needs, in order.

        Args:
            owner: Who needs them.
            calls: By name of the call: a function of its owner.
            most: Most calls at the same time.

        Raises:
            BaseException: What a call raised, for all who share it.
        """
        self.claim(owner, calls)
        for batch in [calls] if most > 1 else [{key: call} for key, call in calls.items()]:
            missing = self._begin(batch)
            if len(missing) > 1:
                at_once(missing, most)
            elif missing:
                missing[0]()
        return [self._calls[key].result.result() for key in calls]  # type: ignore[union-attr]

    def _begin(self, calls: Mapping[str, Callable[[str], T]]) -> list[Callable[[], None]]:
        """Those that nobody has made yet, to be made by the caller."""
        with self._lock:
            missing: list[Callable[[], None]] = []
            for key, call in calls.items():
                shared = self._calls[key]
                if shared.result is None:
                    shared.result = Future()
                    missing.append(partial(shared.make, call))
            return missing

    def news(self, owner: str) -> list[T]:
        """The results of the calls that belong to `owner`, in the order of the claims, each told once."""
        with self._lock:
            calls = [call for call in self._calls.values() if call.owner == owner and call.done and not call.told]
            for shared in calls:
                shared.told = True
            return [call.result.result() for call in calls if call.result is not None]

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            done = {key: call for key, call in self._calls.items() if call.done}
        return {
            "done": {key: (call.owner, call.result.result(), call.told) for key, call in done.items() if call.result}
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._calls, self._lock = {}, Lock()
        for key, (owner, value, news) in state["done"].items():
            result: Future[T] = Future()
            result.set_result(value)
            self._calls[key] = _Shared(owner, result, news)


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
        """Flush the batch when every thread is blocked on an answer. The caller holds the lock."""
        if not self._waiting or len(self._waiting) < self._members:
            return
        asked, self._waiting = sorted(self._waiting, key=lambda waiting: waiting.order), []
        for by in dict.fromkeys(waiting.by for waiting in asked):
            own = [waiting for waiting in asked if waiting.by == by]
            try:
                answers = by.together([waiting.question for waiting in own])
            except BaseException as error:
                for waiting in own:
                    waiting.answer.set_exception(error)
                continue
            for waiting, answer in zip(own, answers, strict=True):
                waiting.answer.set_result(answer)
        self._changed.notify_all()


_HERE: ContextVar[Gathering | None] = ContextVar("gathering", default=None)


def ask_along(by: AnswersTogether, question: Any, order: tuple[int, ...]) -> Any:
    """The answer to a question: batched with the questions of other threads, or alone.

    Args:
        by: Who answers.
        question: What it takes.
        order: The order of questions in a batch; unique for each question.
    """
    here = _HERE.get()
    return by.together([question])[0] if here is None else here.ask(by, question, order)
