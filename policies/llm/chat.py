"""A language model at the table: questions go to a chat endpoint, replies are read, invalid replies are reported back.

A question is put as two messages (`prompt`), cut to the model's context where that is known (`fit`). If a reply is no valid
answer, the model gets the error and is asked again; a truncated reply gets more tokens. If all tries fail, or the server refuses
the question for good, the heuristic answers, and that is counted with its reason.
A model that never gives a valid reply is given up.

Nothing here depends on time, on the cache or on retries, so that a game replayed from a cache gives the same transcript.
"""

from __future__ import annotations

from threading import BoundedSemaphore, Lock
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from parlour.envs.language.transcript_lines import BY_HEURISTIC, BY_PAPER
from parlour.policies.llm import fit, prompt, reading
from parlour.policies.llm.ask import A, Ask, BadReply
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import CONCURRENCY, Answered, Model, RequestContext
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.reading import LENGTH, answer_in
from parlour.policies.llm.transport.meter import Label, Meter, Taken
from parlour.policies.llm.transport.request import (
    CallFailed,
    ChatMessage,
    Completion,
    ModelUnusable,
    PromptTooLong,
    Request,
    TokenLogProbs,
    Usage,
)

_LONGEST_SHOWN: Final = 2000
"""Characters of an unusable reply that the model is shown again."""
_SHARE: Final = 0.9
"""Share of the context that a second, shorter prompt takes, by the server's own count."""
_REPLY: Final = 4
"""A reply takes at most this part of a known context, a fourth."""
_COMPLAINT: Final = 192
"""Tokens of a known context that are kept free for a word on what was wrong with a reply."""
_BRIEF: Final = 8
"""Where that leaves too little for the facts, a reply takes this part of the context, an eighth, and nothing is kept free."""
_AT_MOST: Final = 0.75
"""Estimates err to the long side: a prompt whose tokens may be this part of the estimate is sent, and the server decides."""


class _Said(NamedTuple):
    """A text the model wrote, why it ended, and the call for the transcript."""

    text: str
    finish: str
    call: dict[str, Any]
    logprobs: TokenLogProbs = ()

    @property
    def cut(self) -> bool:
        """Whether it used up its room."""
        return self.finish == LENGTH


class _Talk(NamedTuple):
    """The messages of a question so far, and how many tokens a reply may take."""

    question: Ask[Any]
    """What the prompt puts, without what was left out of it."""
    opening: tuple[ChatMessage, ChatMessage]
    messages: tuple[ChatMessage, ...]
    room: int
    most: int
    """The room of a reply that is asked for again because it was cut."""


class ChatModel(Model):
    """Answers questions by a chat endpoint. Safe for threads, and picklable.

    Args:
        chosen: How it is asked, and its name, as the endpoint and the prices know it.
        meter: Where calls go; the outermost transport.
        without_cached: Whether calls leave out how many tokens the server had in its prompt cache; the meter counts them in any case.
    """

    is_language_model: ClassVar[bool] = True

    def __init__(self, chosen: ModelConfig, meter: Meter, *, without_cached: bool = False) -> None:
        self.name, self.meter, self.chosen, self.without_cached = chosen.model, meter, chosen, without_cached
        self.templates = Templates(chosen.prompts)
        self._in_vain = 0
        self.concurrency = chosen.concurrency or CONCURRENCY
        """Calls under way at once; `free` is held by each of them."""
        self._lock, self.free = Lock(), BoundedSemaphore(self.concurrency)

    def measured_apart(self) -> ChatModel:
        return ChatModel(self.chosen, self.meter, without_cached=True)

    @property
    def context(self) -> int | None:
        """Tokens of a prompt and its reply together that the model takes; None if nobody tells."""
        return self.meter.served_model(self.name).context

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        """The model's answer, or that of the heuristic or a paper's rule.

        Raises:
            ModelUnusable: No valid answer for `patience` questions in a row.
            ParlourError: What ends a run at once: no server, key, model or quota; budget spent; not in the cache.
        """
        return _Question(self, question, context).answered()

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        """`n` independent answers: from one request, and single ones for what the server left out.

        The k-th one stands for the same sample as with any other model. The calls of the first question hold the usage of the
        common request.
        """
        if n < 2:
            return super().answers(question, context, n)
        said = _Question(self, question, context).said_at_once(n)
        return [
            _Question(self, question, context.other(k)).answered(said[k] if k < len(said) else None) for k in range(n)
        ]

    def ask_ahead(self, question: Ask[Any], context: RequestContext) -> Completion | None:
        """The first reply to a question that will be put later, which then takes it and makes no call; None if it does not fit.

        It counts when the question is put. Raises as the call does.
        """
        return _Question(self, question, context).ask_ahead()

    def settings(self) -> dict[str, Any]:
        """Plain values from which the same model can be made again; no secrets."""
        plain = self.chosen.plain()
        return {**{name: plain[name] for name in ("model", "temperature", "tries", "patience", "concurrency")}, **plain}

    def note(self, question: Ask[Any], context: RequestContext, answered: Answered[Any]) -> None:
        """Count a question. Raises `ModelUnusable` after too many in a row that the heuristic answered."""
        count = Decisions(**answered.counted, replies=answered.tries, cut=answered.cut)
        self.meter.add(Taken({Label(context.seat, question.kind): count}))
        with self._lock:
            unread = answered.reason in ("invalid", "empty", LENGTH)
            self._in_vain = self._in_vain + 1 if unread else 0 if not answered.fell_back else self._in_vain
            given_up = self.chosen.patience is not None and self._in_vain >= self.chosen.patience
        if given_up:
            raise ModelUnusable(
                f"{self.name!r} gave no valid answer to {self.chosen.patience} questions in a row, the last one "
                f"{question.kind!r}; accepted: a model that answers with the JSON it is asked for"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_lock": None, "free": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock, self.free = Lock(), BoundedSemaphore(self.concurrency)


class _Question:
    """One question on its way to an answer."""

    def __init__(self, model: ChatModel, question: Ask[Any], context: RequestContext) -> None:
        self.model, self.question, self.context = model, question, context
        self.words = prompt.layout(question.language)
        self.calls: list[dict[str, Any]] = []
        self.tries = self.cut = 0
        self.logprobs: TokenLogProbs = ()

    def answered(self, first: _Said | None = None) -> Answered[Any]:
        """The answer, after as many tries as it takes and is allowed; `first` is a reply that is there already."""
        (value, reason), rule = self._value(first), ""
        if reason is not None:
            value = self.question.fallback(self.context.unclear, np.random.default_rng(self.context.sample))
            rule = "" if value is None else f"unclear={self.context.unclear}"
            if value is None:
                value = self.question.heuristic(np.random.default_rng(self.context.sample))
            call: dict[str, Any] = {
                "ask": self.question.kind,
                "by": BY_PAPER if rule else BY_HEURISTIC,
                "reason": reason,
            }
            call |= ({"rule": rule} if rule else {}) | ({"decides": True} if self.question.decides else {})
            self.calls.append({**call, "answer": value.model_dump(mode="json")})
        answered = Answered(value, self.tries, reason, tuple(self.calls), self.cut, self.logprobs, rule)
        self.model.note(self.question, self.context, answered)
        return answered

    def said_at_once(self, n: int) -> list[_Said]:
        """Several first replies from one request; none if the server refuses it, or it does not fit."""
        talk = self._opening(self.model.context)
        try:
            return self._say(talk, n) if talk else []
        except CallFailed:
            return []

    def _value(self, first: _Said | None) -> tuple[Any, str | None]:
        """The model's answer, or why there is none."""
        talk = self._opening(self.model.context)
        if talk is None:
            return None, "context"
        reason = "invalid"
        while self.tries < self.model.chosen.tries:
            try:
                said, talk = (first, talk) if first else self._asked(talk)
            except CallFailed as error:
                self._failed(talk, error)
                return None, error.reason
            first = None
            self.tries += 1
            try:
                value = self.question.read(said.text, cut=said.cut)
            except BadReply as error:
                talk, reason = self._complained(talk, said, error)
            else:
                self.logprobs = said.logprobs
                self.calls.append({**said.call, "mended": True} if answer_in(said.text, cut=said.cut)[2] else said.call)
                return value, None
        return None, reason

    def _opening(self, limit: int | None, *, try_anyway: bool = True) -> _Talk | None:
        """The first messages, cut to a limit in tokens where there is one; None if they cannot be.

        Args:
            limit: Tokens of the prompt and its reply.
            try_anyway: Whether the shortest prompt is put where only our estimate says that it may be too long.
        """
        asked = (self.question, self.context.rules, self.model.templates)
        reply = self.model.chosen.max_tokens or self.question.max_tokens
        if limit is None:
            return self._talk(fit.opening(*asked), reply)
        put = fit.fitted(*asked, limit - min(reply, limit // _REPLY) - _COMPLAINT)
        if put is not None:
            return self._talk(put, min(reply, limit // _REPLY))
        reply = min(reply, limit // _BRIEF)
        put = fit.fitted(*asked, limit - reply)
        if put is None and try_anyway:
            put = fit.shortest(*asked)
            put = put if put.tokens() * _AT_MOST <= limit - reply else None
        rooms = (limit - reply, int((limit - reply) / _AT_MOST) if try_anyway else 0)
        put = put or next(filter(None, (fit.newest(*asked, room) for room in rooms)), None)
        return self._talk(put, reply) if put else None

    def _talk(self, put: fit.Opening, reply: int) -> _Talk:
        messages = ChatMessage("system", put.system), ChatMessage("user", put.user)
        self.cut = put.cut
        return _Talk(put.question, messages, messages, reply, 2 * reply)

    def _asked(self, talk: _Talk) -> tuple[_Said, _Talk]:
        """A reply; a prompt that the server finds too long is shortened once by what the server says of its length."""
        try:
            return self._say(talk)[0], talk
        except PromptTooLong as error:
            shorter = self._shorter(talk, error)
            if shorter is None or len(talk.messages) > 2:
                raise
            self._failed(talk, error)
        return self._say(shorter)[0], shorter

    def _shorter(self, talk: _Talk, error: PromptTooLong) -> _Talk | None:
        """The question within the server's limit: our estimate is scaled by the length that the server counted."""
        estimated = sum(fit.estimated_tokens(message.content) for message in talk.messages)
        limit = error.limit or self.model.context or estimated // 2
        scale = min(1.0, estimated / error.tokens) if error.tokens else 1.0
        return self._opening(int(limit * _SHARE * scale), try_anyway=False)

    def _complained(self, talk: _Talk, said: _Said, error: BadReply) -> tuple[_Talk, str]:
        """What follows an unusable reply: the talk with what is wrong with it, and what the fault is called."""
        fault = " ".join(str(error).split())
        self.calls.append({**said.call, "fault": fault})
        if said.cut:
            more = talk._replace(room=self._more_room(talk))
            return self._after(more, said, self.words["again_shorter"]), LENGTH
        fault_named = (
            fault if self.question.language == "en" else prompt.fill(self.words[error.fault], {"place": error.place})
        )
        complaint = self.words["again"].replace("{fault}", fault_named)
        return self._after(talk, said, complaint), "invalid" if said.text.strip() else "empty"

    def _more_room(self, talk: _Talk) -> int:
        """Tokens for a reply that was cut: twice as many as at first, as far as the context has them."""
        if self.model.context is None:
            return talk.most
        used = sum(fit.estimated_tokens(message.content) for message in talk.messages)
        return max(talk.room, min(talk.most, self.model.context - used - _COMPLAINT))

    def _after(self, talk: _Talk, said: _Said, complaint: str) -> _Talk:
        """The talk with a reply and what is wrong with it; without the reply where the context has no room for it."""
        shown = said.text.strip() or self.words["nothing"]  # some servers refuse empty messages
        shown = shown if len(shown) <= _LONGEST_SHOWN else shown[:_LONGEST_SHOWN] + " […]"
        more = (*talk.messages, ChatMessage("assistant", shown), ChatMessage("user", complaint))
        tokens = sum(fit.estimated_tokens(message.content) for message in more)
        if self.model.context is None or tokens + talk.room <= self.model.context:
            return talk._replace(messages=more)
        system, user = talk.opening
        return talk._replace(messages=(system, user._replace(content=f"{user.content}\n{complaint}\n")))

    def _failed(self, talk: _Talk, error: CallFailed) -> None:
        messages = [message._asdict() for message in talk.messages]
        self.calls.append({"ask": self.question.kind, "prompt": messages, "fault": " ".join(str(error).split())})

    def ask_ahead(self) -> Completion | None:
        """The first reply, which the meter keeps for the question; None if the prompt does not fit."""
        talk = self._opening(self.model.context)
        if talk is None:
            return None
        with self.model.free:
            return self.model.meter.ask_ahead(self._request(talk))

    def _say(self, talk: _Talk, n: int = 1) -> list[_Said]:
        request = self._request(talk, n)
        with self.model.free:
            reply = self.model.meter.complete(request)
        return self._told(talk, reply)

    def _request(self, talk: _Talk, n: int = 1) -> Request:
        question, chosen = self.question, self.model.chosen
        schema = reading.in_steps(question.schema_of_answer())
        if chosen.reason_length:
            last = None if question.max_tokens > Ask.max_tokens else 2 * chosen.reason_length
            schema = reading.with_lengths(schema, chosen.reason_length, last)
        own = self.context.temperature if question.temperature is None else question.temperature
        return Request(
            model=self.model.name,
            messages=talk.messages,
            temperature=chosen.temperature if own is None else own,
            max_tokens=talk.room,
            n=n,
            sample=self.context.sample,
            logprobs=question.logprobs,
            reasoning_effort=chosen.reasoning_effort,
            stop=chosen.stop,
            extra_body=chosen.further,
            schema=schema,
            schema_name=question.answer_type().__name__,
            ask=question.kind,
            seat=self.context.seat,
            inputs={"kind": question.kind, "inputs": talk.question.model_dump(mode="json")},
        )

    def _told(self, talk: _Talk, reply: Completion) -> list[_Said]:
        """The texts of a reply with their calls; what the reply cost stands with the first one."""
        messages = [message._asdict() for message in talk.messages]
        replies = []
        for k, text in enumerate(reply.texts):
            usage = reply.usage if k == 0 else Usage(0, 0)
            cost = self.model.meter.prices.cost(self.model.name, reply.usage) if k == 0 else 0.0
            finish = reply.finish[k] if k < len(reply.finish) else "stop"
            call: dict[str, Any] = {"ask": self.question.kind, "prompt": messages, "reply": text, "finish": finish}
            thought = "\n".join(
                part for part in (*reply.thinking[k : k + 1], reading.set_aside(text, cut=finish == LENGTH)[0]) if part
            )
            more = {"thinking": thought, "cut": self.cut, "served": reply.served}
            more["dropped"] = list(reply.dropped) if k == 0 else []
            call |= {name: value for name, value in more.items() if value}
            tokens = usage._asdict()
            if self.model.without_cached:
                del tokens["cached"]
            logprobs = reply.logprobs[k] if k < len(reply.logprobs) else ()
            replies.append(_Said(text, finish, {**call, "usage": tokens, "cost": cost}, logprobs))
        return replies
