"""An OpenAI-compatible chat endpoint: OpenAI itself, Azure, OpenRouter, Groq, vLLM, Ollama, a llama.cpp server, `parlour serve endpoint`.

The SDK tries again what another attempt may not meet: rate limits, errors of the server, lost connections, slow and unreadable
answers (`client`). What no call will fare better with ends in `ModelUnavailable`, everything else in `CallFailed`, which costs one
decision. A server that stops answering ends a run after `patience` calls in a row. A server that has refused `REFUSALS` calls, and
has answered none, ends it with its own words.

Servers differ in what they take. A refusal that names an optional parameter drops that parameter for this endpoint from then on; a
warning is logged, and every reply says what was dropped (`payload`). A call with a schema that is refused for another reason is
made without the schema's bounds on texts, then without the schema. So is a call with a schema that this server has not taken yet, after two errors of the server in a row that
say neither why nor to wait. If that is answered at once, it was the schema. What counts is what a refusal says, not its status.

A reply that was cut while the model was thinking is asked for again with twice the tokens (`learned`). The key comes from the
environment and goes into the header of the request, nowhere else: replies and errors are cleaned of it.
"""

from __future__ import annotations

import logging
import os
import re
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.reading import MAX_LENGTH, answer_in, set_aside
from parlour.policies.llm.transport.address import OPENAI, Fetched, read_address, secret, served_at
from parlour.policies.llm.transport.answers import Failure, read_answer
from parlour.policies.llm.transport.learned import Learned
from parlour.policies.llm.transport.payload import (
    DONE,
    bounds_texts,
    is_unexplained,
    may_be_schema,
    parameters,
    refused,
)
from parlour.policies.llm.transport.request import (
    INPUTS,
    CallFailed,
    Completion,
    Locked,
    ModelUnavailable,
    Request,
    ServedModel,
)

if TYPE_CHECKING:
    from parlour.policies.llm.transport.client import Connection

PATIENCE: Final = 25
"""Calls in a row without an answer after which a server is taken to be gone, where the settings do not say."""
REFUSALS: Final = 5
"""Calls refused, and none answered, after which a server is taken to refuse all; unreadable answers count as well. Refusals in a row
that speak of the key or the model end a run that had answers, too."""
_UNREADABLE: Final = 3
"""How many answers that are no completion end a call."""
_ERRORS: Final = 2
"""How many unexplained errors in a row put a schema in doubt."""
_LOOKS: Final = 2
"""How often a server is looked for again before the first call."""
_MOST_ROOM: Final = 8
"""A model that thinks gets at most so many times the tokens that a question has for its reply."""
_SHORTEST_SECRET: Final = 8
"""Keys with fewer characters are no secrets but stopgaps such as `EMPTY`."""

_LOG: Final = logging.getLogger(__name__)


_UNNAMED: Final = "model"
"""Name of the model in the settings of an endpoint that was given as an address: each request names its own."""


class Endpoint(Locked):
    """A transport to a server.

    Args:
        config: Where it is, the variable that holds its key, which for OpenAI must be set, and how long it is waited for; or
            its base URL alone.
        remembered: File in which is kept what calls show about the server; None for none.
        first_wait: Seconds before the second attempt at a call whose answer does not say when; doubled before each further one.

    Raises:
        ParlourError: The address cannot be used, or the file holds something else.
    """

    def __init__(self, config: ModelConfig | str, remembered: Path | None = None, *, first_wait: float = 0.5) -> None:
        super().__init__()
        self.config = ModelConfig(model=_UNNAMED, base_url=config) if isinstance(config, str) else config
        self._address, self._first_wait = read_address(self.config.base_url), first_wait
        self.address = self._address.base
        """Scheme, host, port and path of the server: what tells it from others, without any secret."""
        self.learned = Learned(self.address, remembered)
        self._completed = False
        self._in_vain = self._refusals = 0
        self._served: dict[str, ServedModel] = {}
        self._connected: tuple[int, Connection, Callable[[], object]] | None = None
        """The process, its connection, and what closes that."""

    def complete(self, request: Request) -> Completion:
        """Call the server, as often as it takes and is allowed.

        Raises:
            CallFailed: There is no usable answer after all retries, or the server refuses this call.
            ModelUnavailable: The server refuses all calls, cannot be reached, or has given no answer for a long time.
            ParlourError: No key is set, and one is needed.
        """
        if request.inputs and self.served_model(request.model).is_parlours:
            request = replace(request, extra_body={**request.extra_body, INPUTS: dict(request.inputs)})
        room = self.learned.room(request.ask, request.max_tokens)
        reply = self._call(replace(request, max_tokens=room))
        while _is_cut_in_thought(reply) and 2 * room <= self._most_room(request):
            room *= 2
            try:
                reply = _after(reply, self._call(replace(request, max_tokens=room)))
            except CallFailed:
                break
            if not _is_cut_in_thought(reply) and self.learned.needs_room(request.ask, room):
                _LOG.warning(
                    "%s: the model thinks before it answers, and %s took %d tokens; --max-tokens %d saves the calls that were cut",
                    *(self._address.host, request.ask or "a question", room, room),
                )
        return reply

    def _most_room(self, request: Request) -> int:
        context = self.served_model(request.model).context
        most = _MOST_ROOM * request.max_tokens
        return most if context is None else min(most, context // 2)

    def _call(self, request: Request) -> Completion:
        started, retries = time.monotonic(), 0
        with_schema: Failure | None = None
        left_out = frozenset[str]()  # of the schema, or with it
        while True:
            form = parameters(request, self.learned.off | left_out)
            outcomes = self._outcomes(form.sent, max(0, self.config.max_retries - retries))
            outcome, retries = outcomes[-1], retries + len(outcomes) - 1
            if isinstance(outcome, Completion):
                self._count_completion(request, form.sent, with_schema if len(outcomes) == 1 else None, left_out)
                dropped = tuple(sorted({*form.dropped, *outcome.dropped}))
                return replace(outcome, retries=retries, seconds=time.monotonic() - started, dropped=dropped)
            if name := refused(outcome, form.sent):
                self._drop(name, outcome)
            elif may_be_schema(outcome, form.sent) or self._doubts_schema(form.sent, outcomes):
                with_schema, retries = outcome, retries + outcome.again
                bounds = bounds_texts(form.sent) and not (outcome.again or self.learned.refused_schemas)
                left_out = frozenset({MAX_LENGTH if bounds else "response_format"})
            else:
                raise self._error(request, with_schema if with_schema and not with_schema.again else outcome, retries)

    def _outcomes(self, sent: dict[str, Any], retries: int) -> list[Any]:
        """What the attempts at a call in one form came to."""

        def again(outcomes: list[Any]) -> bool:
            last = outcomes[-1]
            if isinstance(last, Completion) or not last.again or refused(last, sent) or may_be_schema(last, sent):
                return False
            return sum(of.unreadable for of in outcomes) < _UNREADABLE and not self._doubts_schema(sent, outcomes)

        def call(sdk: Any) -> object:
            return sdk.chat.completions.with_raw_response.create(**sent)

        def read(response: Any) -> Completion | Failure:
            return read_answer(response.status_code, response.text, response.headers, self._clean)

        return self._connection().make(call, retries, read, again)

    def _doubts_schema(self, sent: dict[str, Any], outcomes: list[Any]) -> bool:
        """Whether unexplained errors may be about a schema, which the server has never taken."""
        last = outcomes[-_ERRORS:]
        return self.learned.has_to_prove(sent) and len(last) == _ERRORS and all(map(is_unexplained, last))

    def _count_completion(
        self, request: Request, sent: dict[str, Any], with_schema: Failure | None, left_out: frozenset[str]
    ) -> None:
        with self._lock:
            self._completed, self._in_vain, self._refusals = True, 0, 0
        self.learned.takes(sent)
        if with_schema and left_out == {MAX_LENGTH}:
            self._drop(MAX_LENGTH, with_schema)
        elif with_schema and "response_format" in (before := parameters(request, self.learned.off).sent):
            self._drop(self.learned.refused_schema(before), with_schema)  # unless another call learned it meanwhile

    def served_model(self, model: str) -> ServedModel:
        """The server's description of a model; asked once. Without a server, or a word of it, only the address is known."""
        with self._lock:
            known = self._served.get(model)
        if known is None:
            known = served_at(self._address, model, self._fetch)
        with self._lock:
            return self._served.setdefault(model, known)

    def _fetch(self, address: str, body: dict[str, Any] | None = None) -> Fetched:
        """What stands at an address of the server besides completions."""

        def call(sdk: Any) -> object:
            return sdk.get(address, cast_to=str) if body is None else sdk.post(address, cast_to=str, body=body)

        def read(response: Any) -> Fetched:
            return Fetched.from_text(self._clean(response.text) if response.is_success else "")

        fetched = self._connection().make(call, _LOOKS, read)[-1]
        return fetched if isinstance(fetched, Fetched) else Fetched(False, None)

    def require_key(self) -> str:
        """The key, or what the SDK sends to servers that need none.

        Raises:
            ParlourError: A key is needed and not set, or is no key.
        """
        key = secret(self.config.key_env)
        if not key and self.address == OPENAI:
            raise ParlourError(
                f"environment variable {self.config.key_env} is not set; accepted: the key of the endpoint"
            )
        if not key.isascii() or not key.isprintable():
            raise ParlourError(
                f"environment variable {self.config.key_env} holds no key; accepted: printable ASCII characters"
            )
        return key or "none"

    def close(self) -> None:
        """Close all connections. The next call opens new ones."""
        with self._lock:
            if self._connected is not None:
                self._connected[-1]()
            self._connected = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_connected": None}

    def _connection(self) -> Connection:
        """The connection of this process; it must not be shared with a forked one."""
        with self._lock:
            if self._connected is None or self._connected[0] != os.getpid():
                key = self.require_key()
                from parlour.policies.llm.transport.client import Connection

                made = Connection(self._address, key, self.config.timeout, self._first_wait)
                self._connected = os.getpid(), made, weakref.finalize(self, made.close)
            return self._connected[1]

    def _clean(self, text: str) -> str:
        key = secret(self.config.key_env)
        return re.sub(re.escape(key), "[key]", text, flags=re.IGNORECASE) if len(key) >= _SHORTEST_SECRET else text

    def _drop(self, name: str, failure: Failure) -> None:
        if self.learned.leave_out(name):
            done = DONE.get(name, "it is left out")
            _LOG.warning("%s does not take %r; from now on %s: %s", self._address.host, name, done, failure.line())

    def _error(self, request: Request, failure: Failure, retries: int) -> ModelUnavailable:
        tried = f"{retries + 1} attempt{'s' if retries else ''}"
        message = f"no answer of {request.model!r} at {self._address.host} after {tried}: {failure.line()}"
        lost, about_all = failure.kind in ("server", "timeout"), failure.kind in ("key", "model")
        with self._lock:
            completed, reached = self._completed, self._connected is not None and self._connected[1].answered
            self._in_vain = self._in_vain + 1 if lost else 0
            self._refusals += about_all if completed else failure.unreadable or not (lost or failure.kind == "context")
            in_vain, refusals = self._in_vain, self._refusals
        ends = failure.status is None and failure.kind == "server" and not (completed or reached)
        if in_vain >= (self.config.patience or PATIENCE):
            message, ends = f"{message}; so ended {in_vain} calls in a row", True
        elif refusals >= REFUSALS and not completed:
            message, ends = f"{message}; so ended {refusals} calls, and none was answered", True
        elif about_all and completed and refusals < REFUSALS:
            failure = replace(failure, kind="refused")  # a gateway may say so once
        error = ModelUnavailable(message) if ends else failure.error(message)
        error.retries = retries
        return error


def _is_cut_in_thought(reply: Completion) -> bool:
    """Whether all texts of a reply were cut before they held an answer, by a model that thinks or has said nothing."""
    return all(
        reply.finish[k : k + 1] == ("length",)
        and bool(not text.strip() or set_aside(text, cut=True)[0] or any(reply.thinking[k : k + 1]))
        and answer_in(text, cut=True)[0] is None
        for k, text in enumerate(reply.texts)
    )


def _after(cut: Completion, reply: Completion) -> Completion:
    """A reply, with what the one before it took that was cut."""
    return replace(
        reply,
        usage=cut.usage + reply.usage,
        retries=cut.retries + 1 + reply.retries,
        seconds=cut.seconds + reply.seconds,
        dropped=tuple(sorted({*cut.dropped, *reply.dropped})),
    )
