"""What one part of one game takes: questions to the model, calls, tokens, dollars, seconds.

Counted from the calls that every answer brings along, so that concurrent games do not mix. A reply from a
cache counts as when it was first paid for: a second run tells the same cost. Heuristics call nobody: for them a call
is a question.
"""

from __future__ import annotations

from threading import Lock
from time import perf_counter
from typing import Any, Self

from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.decisions import Decisions, tokens_of
from parlour.policies.llm.model import Answered, Model, RequestContext


class CountedModel(Model):
    """A model that counts what it is asked, for one part of one game; the inner one answers."""

    def __init__(self, inner: Model) -> None:
        self._inner, self.name = inner, inner.name
        self.is_language_model = inner.is_language_model  # type: ignore[misc]  # whatever the inner one is
        self.concurrency = inner.concurrency
        self._lock = Lock()
        self._spent, self._begun = Decisions(), perf_counter()

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        return self._counted(self._inner.answer(question, context))

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        return [self._counted(answer) for answer in self._inner.answers(question, context, n)]

    def settings(self) -> dict[str, Any]:
        return self._inner.settings()

    @property
    def meter(self) -> Any:
        """The inner model's; None without one."""
        return getattr(self._inner, "meter", None)

    @property
    def spent(self) -> Decisions:
        """So far; seconds by the clock."""
        return self._spent + Decisions(seconds=perf_counter() - self._begun)

    def part(self) -> Self:
        """Another one on the same model, from zero."""
        return type(self)(self._inner)

    def _counted(self, answered: Answered[A]) -> Answered[A]:
        used = tokens_of(answered.calls)
        costs = [call.get("cost", 0.0) for call in answered.calls]
        calls = max(1, len(answered.calls))
        count = Decisions(
            requests=calls,
            prompt=used.prompt,
            completion=used.completion,
            cached=used.cached,
            dollars=None if None in costs else sum(costs),
            first=int(calls == 1 and not answered.fell_back),
            again=int(calls > 1 and not answered.fell_back),
            heuristic={} if answered.reason is None else {answered.reason: 1},
            cut=answered.cut,
            replies=calls,
        )
        with self._lock:
            self._spent += count
        return answered
