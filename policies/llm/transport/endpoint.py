"""An OpenAI-compatible chat endpoint: OpenAI itself, Azure, OpenRouter, Groq, vLLM, Ollama, a llama.cpp server, `parlour serve`.

Retries. What another attempt may not meet is tried again: rate limits, errors of the server, lost connections, slow and
unreadable answers. All calls of an endpoint obey Retry-After, whichever call received it (`gate`). Until a server has
answered once, each retry is logged in one line, the first within `CONNECT_SECONDS`.

Failures. What no call will fare better with ends in `ModelUnavailable`, everything else in `CallFailed`, which costs one
decision (`failures`). A server that stops answering ends a run after `patience` calls in a row. A server that has refused
`REFUSALS` calls, and has answered none, ends it with its own words.

Parameters. Servers differ in what they take. A refusal that names an optional parameter drops that parameter for this
endpoint from then on; a warning is logged, and every reply says what was dropped (`payload`). A call with a schema that is
refused for another reason is made once without the schema. So is a call with a schema after two errors of the server in a row that
say neither why nor to wait. What counts is what a refusal says, not its status.

Room. A reply that was cut while the model was thinking is asked for again with twice the tokens; how many a kind of question
needs is remembered (`learned`).

The key comes from the environment and goes into the header of the request, nowhere else: what a server says is cleaned
of it before it reaches a reply or an error.
"""

from __future__ import annotations

import logging
import os
import re
import time
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.llm.reading import answer_in, set_aside
from parlour.policies.llm.transport.address import OPENAI, PLACEHOLDER, Fetched, read_address, secret, served_at
from parlour.policies.llm.transport.answers import Failure, read_error, read_reply
from parlour.policies.llm.transport.gate import Gate
from parlour.policies.llm.transport.learned import DONE, Learned
from parlour.policies.llm.transport.payload import dropped_from, is_unexplained, may_be_schema, parameters, refused
from parlour.policies.llm.transport.request import (
    INPUTS,
    CallFailed,
    Completion,
    Locked,
    ModelUnavailable,
    Request,
    ServedModel,
)

KEY_ENV: Final = "OPENAI_API_KEY"
PATIENCE: Final = 25
"""Calls in a row without an answer after which a server is taken to be gone."""
REFUSALS: Final = 5
"""Calls refused, and none answered, after which a server is taken to refuse all; unreadable answers count as well. Refusals in a row
that speak of the key or the model end a run that had answers, too."""
_UNREADABLE: Final = 2
"""How often a call is tried again at most because its answer was no completion; other retries do not count."""
_ERRORS: Final = 2
"""Unexplained errors in a row of a call with a schema. The next attempt is made without the schema."""
_MOST_ROOM: Final = 8
"""A model that thinks gets at most so many times the tokens that a question has for its reply."""
_SHORTEST_SECRET: Final = 8
"""Keys with fewer characters are no secrets but stopgaps such as `EMPTY`."""
_LONGEST_WAIT: Final = 8.0
"""Seconds between attempts, where the server asks for no other wait."""
_NO_CONNECTION: Final = "no connection, or it broke off"

log = logging.getLogger(__name__)


class Endpoint(Locked):
    """A transport to a server.

    Args:
        base_url: Where it is, such as `"http://localhost:8000/v1"`; None for OpenAI.
        key_env: The environment variable that holds the key. For OpenAI it must be set.
        timeout: Seconds for an answer, body included.
        max_retries: How often a call is tried again.
        first_wait: Seconds before the first retry; doubles each time, up to 8.
        patience: After so many calls in a row that end without an answer, no other is made.

    Raises:
        ParlourError: The address cannot be used.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key_env: str = KEY_ENV,
        timeout: float = 60.0,
        max_retries: int = 6,
        first_wait: float = 0.5,
        patience: int = PATIENCE,
    ) -> None:
        super().__init__()
        self.base_url, self.key_env, self.timeout, self.max_retries = base_url, key_env, timeout, max_retries
        self._address = read_address(base_url)
        self.address = self._address.base
        """Scheme, host, port and path of the server: what tells it from others, without any secret."""
        self._first_wait, self._patience = first_wait, patience
        self.learned = Learned()
        self._answered, self._completed = False, False
        self._in_vain = self._refusals = 0
        self._shown_until = 0.0
        self._served: dict[str, ServedModel] = {}
        self._gate = Gate()
        self._client_of: tuple[int, Any, Any, Any] | None = None
        """The process, its client of the SDK, the HTTP client under it, and what closes that."""

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
                more = self._call(replace(request, max_tokens=room))
            except CallFailed:
                break
            reply = _after(reply, more)
            if not _is_cut_in_thought(reply) and self.learned.needs_room(request.ask, room):
                log.warning(
                    "%s: the model thinks before it answers, and %s took %d tokens; --max-tokens %d saves the calls that were cut",
                    *(self._address.host, request.ask or "a question", room, room),
                )
        return reply

    def _most_room(self, request: Request) -> int:
        context = self.served_model(request.model).context
        most = _MOST_ROOM * request.max_tokens
        return most if context is None else min(most, context // 2)

    def _call(self, request: Request) -> Completion:
        started, retries, unreadable, errors = time.monotonic(), 0, 0, 0
        refusal_with_schema: Failure | None = None
        while True:
            off = self.learned.off | ({"response_format"} if refusal_with_schema else frozenset())
            sent = parameters(request, off)
            self._gate.wait(self._spread(self._first_wait, request.sample))
            outcome = self._attempt(sent)
            if isinstance(outcome, Completion):
                self._count_completion(request, sent, refusal_with_schema)
                dropped = tuple(sorted({*dropped_from(request, sent, off), *outcome.dropped}))
                return replace(outcome, retries=retries, seconds=time.monotonic() - started, dropped=dropped)
            name = refused(outcome, sent)
            if name:
                self._drop(name, outcome)
                continue
            if may_be_schema(outcome, sent):
                refusal_with_schema = outcome
                continue
            if errors == _ERRORS:  # without the schema it fails as well
                refusal_with_schema, errors = None, errors + 1
            elif errors < _ERRORS:
                errors = errors + 1 if is_unexplained(outcome, sent) else 0
                refusal_with_schema = outcome if errors == _ERRORS else refusal_with_schema
            if outcome.wait is not None:
                self._gate.close(outcome.wait)
            unreadable += outcome.unreadable
            left = _UNREADABLE + 1 - unreadable if outcome.unreadable else self.max_retries
            most = min(self.max_retries, retries + left)
            if errors != _ERRORS and (not outcome.again or retries >= most):
                raise self._error(request, refusal_with_schema or outcome, retries)
            retries += 1
            wait = self._wait(retries - 1, request.sample) if outcome.wait is None else 0.0
            self._show_retry(outcome.told, wait, f"retry {retries} of {most}")
            time.sleep(wait)

    def _count_completion(self, request: Request, sent: dict[str, Any], refusal_with_schema: Failure | None) -> None:
        with self._lock:
            self._completed, self._in_vain, self._refusals = True, 0, 0
        if "response_format" in sent:
            self.learned.takes_schemas = True
        elif refusal_with_schema is not None:
            with_schema = parameters(request, self.learned.off)
            if "response_format" in with_schema:  # another call may have learned it meanwhile
                self._drop(self.learned.refused_schema(with_schema), refusal_with_schema)

    def served_model(self, model: str) -> ServedModel:
        """The server's description of a model; asked once. Without a server, or a word of it, only the address is known."""
        with self._lock:
            known = self._served.get(model)
        if known is None:
            known = served_at(self._address, model, self._fetch)
        with self._lock:
            return self._served.setdefault(model, known)

    def remember_in(self, path: Path) -> None:
        """Begin with what a file holds on this server, and keep there what is learned about it. Raises `ParlourError` for other files."""
        self.learned.keep_in(path, self.address)

    def require_key(self) -> str:
        """The key, or what stands for it. Raises `ParlourError` if a key is needed and not set, or is no key."""
        key = secret(self.key_env)
        if not key and self.address == OPENAI:
            raise ParlourError(f"environment variable {self.key_env} is not set; accepted: the key of the endpoint")
        if not key.isascii() or not key.isprintable():
            raise ParlourError(
                f"environment variable {self.key_env} holds no key; accepted: printable ASCII characters"
            )
        return key or PLACEHOLDER

    def close(self) -> None:
        """Close all connections. The next call opens new ones."""
        with self._lock:
            if self._client_of is not None:
                self._client_of[-1]()
            self._client_of = None

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_client_of": None}

    def _attempt(self, sent: dict[str, Any]) -> Completion | Failure:
        client, http = self._clients()
        import openai
        from parlour.policies.llm.transport.client import Late, is_unreached

        try:
            raw = client.chat.completions.with_raw_response.create(**sent)
        except openai.APIStatusError as error:
            self._answered = True
            return read_error(error.status_code, self._clean(error.response.text), error.response.headers)
        except openai.APIConnectionError as error:
            self._answered |= http.answered
            # SDKs before 3 wrap what the client raises
            slow = isinstance(error, openai.APITimeoutError) or isinstance(error.__cause__, Late)
            slow = slow and not is_unreached(error)
            return self._too_slow() if slow else Failure(_NO_CONNECTION, again=True)
        except Late:
            return self._too_slow()
        except openai.OpenAIError as error:
            return Failure(f"the SDK failed with {type(error).__name__}", again=True)
        self._answered = True
        return self._cleaned(read_reply(self._clean(raw.http_response.text)))

    def _fetch(self, address: str, body: dict[str, Any] | None = None) -> Fetched:
        """What stands at an address of the server besides completions."""
        client, _ = self._clients()
        import openai

        for attempt in range(3):
            try:
                text = (
                    client.get(address, cast_to=str) if body is None else client.post(address, cast_to=str, body=body)
                )
            except openai.APIStatusError:
                return Fetched(True, None)
            except openai.OpenAIError:
                wait = self._wait(attempt, 0)
                self._show_retry(_NO_CONNECTION, wait, "looking for the server again")
                time.sleep(wait)
            else:
                return Fetched.from_text(self._clean(str(text)))
        return Fetched(False, None)

    def _too_slow(self) -> Failure:
        return Failure(f"no complete answer within {self.timeout:g} seconds", "timeout", again=True)

    def _clients(self) -> tuple[Any, Any]:
        """The one client of this process and its HTTP client; connections must not be shared with a forked one."""
        with self._lock:
            if self._client_of is None or self._client_of[0] != os.getpid():
                key = self.require_key()
                import openai
                from parlour.policies.llm.transport.client import BoundedClient, timeout

                http = BoundedClient(self.timeout, azure=self._address.azure)
                client = openai.OpenAI(
                    api_key=key,
                    base_url=self.address,
                    default_query=dict(self._address.query),
                    timeout=timeout(self.timeout),
                    max_retries=0,
                    http_client=http,
                )
                self._client_of = os.getpid(), client, http, weakref.finalize(self, http.close)
            return self._client_of[1:3]

    def _clean(self, text: str) -> str:
        key = secret(self.key_env)
        return re.sub(re.escape(key), "[key]", text, flags=re.IGNORECASE) if len(key) >= _SHORTEST_SECRET else text

    def _cleaned(self, outcome: Completion | Failure) -> Completion | Failure:
        """Once more: a key may have been written with escapes that JSON has undone."""
        if isinstance(outcome, Failure):
            return replace(outcome, told=self._clean(outcome.told))
        texts, thinking = tuple(map(self._clean, outcome.texts)), tuple(map(self._clean, outcome.thinking))
        return replace(outcome, texts=texts, thinking=thinking, served=self._clean(outcome.served))

    def _drop(self, name: str, failure: Failure) -> None:
        if self.learned.leave_out(name):
            log.warning(
                "%s does not take %r; from now on %s: %s",
                *(self._address.host, name, DONE.get(name, "it is left out"), failure.line()),
            )

    def _show_retry(self, why: str, wait: float, what: str) -> None:
        """Log that a server which has never answered is tried again: once for all calls that wait at the same time."""
        with self._lock:
            now = time.monotonic()
            if self._answered or now < self._shown_until:
                return
            self._shown_until = now + wait
        log.warning("no answer from %s (%s): %s in %.1f s", self._address.host, why, what, wait)

    def _wait(self, retries: int, sample: int) -> float:
        """Seconds. Calls that failed together are spread over a quarter of the wait by their samples, not by chance."""
        longest: float = min(self._first_wait * 2.0**retries, _LONGEST_WAIT)
        return longest - self._spread(longest, sample)

    @staticmethod
    def _spread(longest: float, sample: int) -> float:
        return longest * 0.25 * (sample % 101) / 100

    def _error(self, request: Request, failure: Failure, retries: int) -> ModelUnavailable:
        tried = f"{retries + 1} attempt{'s' if retries else ''}"
        message = f"no answer of {request.model!r} at {self._address.host} after {tried}: {failure.line()}"
        lost, about_all = failure.kind in ("server", "timeout"), failure.kind in ("key", "model")
        with self._lock:
            completed = self._completed
            self._in_vain = self._in_vain + 1 if lost else 0
            self._refusals += about_all if completed else failure.unreadable or not (lost or failure.kind == "context")
            in_vain, refusals = self._in_vain, self._refusals
        ends = failure.status is None and failure.kind == "server" and not self._answered
        if in_vain >= self._patience:
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
    dropped = tuple(sorted({*cut.dropped, *reply.dropped}))
    return replace(
        reply,
        usage=cut.usage + reply.usage,
        retries=cut.retries + 1 + reply.retries,
        seconds=cut.seconds + reply.seconds,
        dropped=dropped,
    )
