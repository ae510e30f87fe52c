"""A model whose readers err at known rates (`noise`): it answers what was misheard, and restates what it answers.

The words are changed before the question is put, so that a heuristic and a language model err alike, and so do methods that
read one statement at a time and those that read many at once. What was changed stands with the call in the transcript.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.policies.llm.noise import Ear, ReadingNoise

_SEAT = "player_"


class NoisyModel(Model):
    """A model to which questions come as their readers hear them.

    Args:
        inner: Who answers.
        noise: The rates of error.
    """

    def __init__(self, inner: Model, noise: ReadingNoise) -> None:
        self.inner, self.noise = inner, noise
        self.name = f"{inner.name}, noise {noise}" if noise else inner.name
        self.is_language_model = inner.is_language_model  # type: ignore[misc]  # whatever the inner one is
        self.concurrency = inner.concurrency

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        if not self.noise.reaches(context.player) or not question.reads():
            return self.inner.answer(question, context)
        ear = self._ear(question, context)
        heard = question.misheard(ear)
        answered = self.inner.answer(heard, context)
        value = heard.restated(answered.value, ear)
        if not ear.told and value == answered.value:
            return answered
        told: dict[str, Any] = {"misheard": ear.told, "answer": value.model_dump(mode="json")}
        calls = [*answered.calls[:-1], {**(answered.calls or ({},))[-1], "noise": told}]
        return replace(answered, value=value, calls=tuple(calls))

    def _ear(self, question: Ask[Any], context: RequestContext) -> Ear:
        """With what errors the asker reads the question."""
        seat = context.seat.removeprefix(_SEAT)
        return Ear(self.noise, context.game, int(seat) if seat.isdigit() else -1, f"{question.kind} {context.sample}")

    def as_heard(self, question: Ask[A], context: RequestContext) -> Ask[A]:
        if not self.noise.reaches(context.player) or not question.reads():
            return question
        return question.misheard(self._ear(question, context))

    def asks_alone(self, player: str) -> bool:
        return self.noise.reaches(player)

    def settings(self) -> dict[str, Any]:
        return {**self.inner.settings(), **({"noise": str(self.noise)} if self.noise else {})}

    @property
    def meter(self) -> Any:
        """The inner model's; None without one."""
        return getattr(self.inner, "meter", None)
