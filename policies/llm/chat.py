"""A language model at the table: questions go to a chat endpoint, replies are read, invalid replies are reported back.

A question is put as prose with its inputs and the schema of its answer. A reply that is no answer is followed by what is
wrong with it and the request to try again; when the tries are used up, the heuristic answers, which is counted. A
model of which nothing but such replies comes is given up.

Nothing here depends on time, on the cache or on retries, so that a game replayed from a cache gives the same transcript.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import A, Ask, BadReply, system_prompt
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.policies.llm.transport.meter import Meter, Outcome
from parlour.policies.llm.transport.request import CallSettings, ChatMessage, Completion, ModelUnusable, Request, Usage

_LONGEST_SHOWN: Final = 2000
"""Characters of an unusable reply that the model is shown again."""


class _Said(NamedTuple):
    """A text the model wrote, and the call for the transcript."""

    text: str
    call: dict[str, Any]


class ChatModel(Model):
    """Answers questions by a chat endpoint. Safe for threads, and picklable.

    Args:
        name: The model's name, as the endpoint and the prices know it.
        meter: Where calls go; the outermost transport.
        temperature: Of sampling.
        tries: How many replies are read, at most, before the heuristic answers.
        patience: After so many answers in a row by heuristic, without a valid one in any game, the model is given up.
        call_settings: What goes into every call.
        made_from: What `settings` adds; plain values without secrets.
    """

    is_language_model: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        meter: Meter,
        *,
        temperature: float = 0.3,
        tries: int = 3,
        patience: int = 25,
        call_settings: CallSettings | None = None,
        made_from: Mapping[str, Any] | None = None,
    ) -> None:
        if tries < 1 or patience < 1:
            raise ParlourError(f"tries {tries}, patience {patience} are not accepted; accepted: >= 1")
        self.name, self.meter = name, meter
        self.temperature, self.tries, self.patience = temperature, tries, patience
        self._call_settings = call_settings or CallSettings()
        self._made_from = dict(made_from or {})
        self._in_vain = 0
        self._lock = Lock()

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        """The model's answer, or the heuristic's.

        Raises:
            ModelUnusable: No valid answer for `patience` questions in a row.
            ParlourError: What the transport raises: unavailable, budget spent, not in the cache.
        """
        talk = _opening(question)
        return self._settle(question, context, talk, self._say(question, context, talk)[0])

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        """`n` independent answers: from one request, and single ones for what the server left out.

        The k-th one stands for the same sample as with any other model. The first one's calls hold the usage of the
        common request.
        """
        if n < 2:
            return super().answers(question, context, n)
        talk = _opening(question)
        said = self._say(question, context, talk, n)
        found = []
        for k in range(n):
            single = context.other(k)
            first = said[k] if k < len(said) else self._say(question, single, talk)[0]
            found.append(self._settle(question, single, talk, first))
        return found

    def settings(self) -> dict[str, Any]:
        """Plain values from which the same model can be made again; no secrets."""
        told = {"temperature": self.temperature, "tries": self.tries, "patience": self.patience}
        return {"model": self.name, **told, **self._made_from}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = Lock()

    def _settle(
        self, question: Ask[A], context: RequestContext, talk: tuple[ChatMessage, ...], first: _Said
    ) -> Answered[A]:
        """Read the first reply, and ask again until there is an answer or no try left."""
        calls: list[dict[str, Any]] = []
        said = first
        for tried in range(1, self.tries + 1):
            if tried > 1:
                said = self._say(question, context, talk)[0]
            try:
                value = question.read(said.text)
            except BadReply as error:
                fault = " ".join(str(error).split())
                calls.append({**said.call, "fault": fault})
                talk = (*talk, ChatMessage("assistant", _shortened(said.text)), ChatMessage("user", _again(fault)))
            else:
                calls.append(said.call)
                self._note(question, context, "valid" if tried == 1 else "repaired", tried)
                return Answered(value, tried == 1, False, tuple(calls))
        self._note(question, context, "fallback", self.tries)
        value = question.heuristic(np.random.default_rng(context.sample))
        return Answered(value, False, True, tuple(calls))

    def _say(
        self, question: Ask[Any], context: RequestContext, talk: tuple[ChatMessage, ...], n: int = 1
    ) -> list[_Said]:
        request = Request(
            model=self.name,
            messages=talk,
            temperature=self.temperature if question.temperature is None else question.temperature,
            max_tokens=question.max_tokens,
            n=n,
            sample=context.sample,
            schema=question.schema_of_answer(),
            schema_name=question.answer_type().__name__,
            ask=question.kind,
            seat=context.seat,
        )
        return self._told(question, talk, self.meter.complete(self._call_settings.applied(request)))

    def _told(self, question: Ask[Any], talk: tuple[ChatMessage, ...], reply: Completion) -> list[_Said]:
        """The texts of a reply with their calls; what the reply cost stands with the first one."""
        prompt = [message._asdict() for message in talk]
        found = []
        for k, text in enumerate(reply.texts):
            usage = reply.usage if k == 0 else Usage(0, 0)
            cost = self.meter.cost(self.name, reply) if k == 0 else 0.0
            call = {"ask": question.kind, "prompt": prompt, "reply": text, "usage": usage._asdict(), "cost": cost}
            found.append(_Said(text, call))
        return found

    def _note(self, question: Ask[Any], context: RequestContext, outcome: Outcome, replies: int) -> None:
        self.meter.note(context.seat, question.kind, outcome, replies)
        with self._lock:
            self._in_vain = self._in_vain + 1 if outcome == "fallback" else 0
            given_up = self._in_vain >= self.patience
        if given_up:
            raise ModelUnusable(
                f"{self.name!r} gave no valid answer to {self.patience} questions in a row, the last one "
                f"{question.kind!r}; accepted: a model that answers with the JSON it is asked for"
            )


def _opening(question: Ask[Any]) -> tuple[ChatMessage, ...]:
    return ChatMessage("system", system_prompt()), ChatMessage("user", question.prompt())


def _again(fault: str) -> str:
    """One line: it must not pass for a prompt that holds a block of inputs."""
    return f"That cannot be used: {fault} Answer the same question again, with exactly one JSON object that fits the schema."


def _shortened(text: str) -> str:
    if not text.strip():
        return "(nothing)"  # some servers refuse empty messages
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + " […]"
