"""What one part of one game takes: questions to the model, calls, tokens, dollars, seconds.

Counted from the calls that every answer brings along, so that games in flight at the same time do not mix. A reply from a
cache counts as when it was first paid for: a second run tells the same cost. Heuristics call nobody: for them a call
is a question.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Self

from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.model import Answered, Model, RequestContext


@dataclass(frozen=True)
class Spent:
    """Sums over questions."""

    questions: int = 0
    """Put to the model."""
    calls: int = 0
    """Replies read; more than questions where a reply could not be used."""
    unusable: int = 0
    """Questions that the heuristic had to answer in the model's place."""
    prompt: int = 0
    """Tokens read and written; 0 for heuristics."""
    completion: int = 0
    dollars: float | None = 0.0
    """None if a call has no known price."""
    seconds: float = field(default=0.0, compare=False)
    """By the clock; the only thing here that differs from run to run."""

    def __add__(self, other: Spent) -> Spent:
        dollars = None if self.dollars is None or other.dollars is None else self.dollars + other.dollars
        return Spent(
            self.questions + other.questions,
            self.calls + other.calls,
            self.unusable + other.unusable,
            self.prompt + other.prompt,
            self.completion + other.completion,
            dollars,
            self.seconds + other.seconds,
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


class CountedModel(Model):
    """A model that counts what it is asked, for one part of one game.

    Args:
        inner: Who answers.
    """

    def __init__(self, inner: Model) -> None:
        self._inner, self.name = inner, inner.name
        self.is_language_model = inner.is_language_model  # type: ignore[misc]  # whatever the inner one is
        self._spent, self._begun = Spent(), perf_counter()

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        return self._counted(self._inner.answer(question, context))

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        return [self._counted(one) for one in self._inner.answers(question, context, n)]

    def settings(self) -> dict[str, Any]:
        return self._inner.settings()

    @property
    def spent(self) -> Spent:
        """So far."""
        return self._spent + Spent(seconds=perf_counter() - self._begun)

    def part(self) -> Self:
        """Another one on the same model, from zero."""
        return type(self)(self._inner)

    def _counted(self, answered: Answered[A]) -> Answered[A]:
        usages = [call.get("usage", {}) for call in answered.calls]
        costs = [call.get("cost", 0.0) for call in answered.calls]
        self._spent += Spent(
            questions=1,
            calls=max(1, len(answered.calls)),
            unusable=int(answered.fell_back),
            prompt=sum(usage.get("prompt", 0) for usage in usages),
            completion=sum(usage.get("completion", 0) for usage in usages),
            dollars=None if None in costs else sum(costs),
        )
        return answered
