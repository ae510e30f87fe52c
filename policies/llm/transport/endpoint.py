"""An OpenAI-compatible chat endpoint: OpenAI itself, vLLM, Ollama, a llama.cpp server, `parlour serve`.

Retries. The SDK repeats what it can tell from outside: 429 (it obeys Retry-After), 408, 409, 5xx, lost connections,
timeouts, bodies that break off. Answers that came too slowly or are no chat completion are repeated here, within the
same number of retries.

Parameters. Servers differ in what they take. A refusal that names an optional parameter drops that parameter for this
endpoint from then on; a warning is logged, and every reply says what was dropped.

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
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from parlour.envs.core import ParlourError
from parlour.policies.llm.transport.bodies import Failure, read_reply, told_by
from parlour.policies.llm.transport.key import read_key, secret
from parlour.policies.llm.transport.payload import dropped_from, parameters, refused
from parlour.policies.llm.transport.request import Completion, ModelUnavailable, Request

KEY_ENV: Final = "OPENAI_API_KEY"
_SHORTEST_SECRET: Final = 8
"""Keys with fewer characters are no secrets but stopgaps such as `EMPTY`."""
_LONGEST_WAIT: Final = 8.0
"""Seconds; the SDK's own limit."""

log = logging.getLogger(__name__)


class Endpoint:
    """A transport to a server.

    Args:
        base_url: Where it is, such as `"http://localhost:8000/v1"`; None for OpenAI.
        key_env: The environment variable that holds the key. Without a `base_url` it must be set.
        timeout: Seconds for an answer, body included.
        max_retries: How often a call is tried again.
        first_wait: Seconds before the first retry of a slow or unreadable answer; doubles each time, up to 8.

    Raises:
        ParlourError: An argument cannot be used.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key_env: str = KEY_ENV,
        timeout: float = 60.0,
        max_retries: int = 6,
        first_wait: float = 0.5,
    ) -> None:
        _check_address(base_url)
        if not timeout > 0 or max_retries < 0:
            raise ParlourError(f"timeout {timeout}, max_retries {max_retries} are not accepted; accepted: > 0, >= 0")
        self.base_url, self.key_env, self.timeout, self.max_retries = base_url, key_env, timeout, max_retries
        self._first_wait = first_wait
        self._off: frozenset[str] = frozenset()
        self._openai: Any = None
        self._finalizer: Any = None
        self._process = 0
        self._lock = Lock()

    def complete(self, request: Request) -> Completion:
        """Call the server, as often as it takes and is allowed.

        Raises:
            ModelUnavailable: There is no usable answer after all retries, or the server refuses the call.
            ParlourError: No key is set, and one is needed.
        """
        started = time.monotonic()
        retries = 0
        while True:
            sent = parameters(request, self._off)
            found = self._attempt(sent, self.max_retries - retries)
            retries += found.retries
            if isinstance(found, Completion):
                dropped = tuple(sorted({*dropped_from(request, sent), *found.dropped}))
                seconds = time.monotonic() - started
                return replace(found, retries=retries, seconds=seconds, dropped=dropped)
            name = refused(found, sent)
            if name:
                self._drop(name, found)
                continue
            if not found.again or retries >= self.max_retries:
                raise self._unavailable(request, found, retries)
            time.sleep(self._wait(retries, request.sample))
            retries += 1

    def require_key(self) -> str:
        """The key, or what stands for it. Raises `ParlourError` if a key is needed and not set."""
        return read_key(self.key_env, required=self.base_url is None)

    def close(self) -> None:
        """Close all connections. The next call opens new ones."""
        with self._lock:
            if self._finalizer is not None:
                self._finalizer()
            self._openai, self._finalizer = None, None

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r}, key_env={self.key_env!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k not in ("_openai", "_finalizer", "_lock", "_process")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _openai=None, _finalizer=None, _process=0, _lock=Lock())

    def _attempt(self, sent: dict[str, Any], retries: int) -> Completion | Failure:
        client = self._client().with_options(max_retries=retries)
        import openai
        from parlour.policies.llm.transport.client import Late, retries_of

        try:
            raw = client.chat.completions.with_raw_response.create(**sent)
        except openai.APIStatusError as error:
            told, parameter = told_by(error.body, error.response.text)
            taken = retries_of(error.request)
            return Failure(self._clean(told), taken, status=error.status_code, parameter=parameter)
        except Late as error:
            return Failure(self._too_slow(), error.retries, again=True)
        except openai.APIConnectionError as error:
            # SDKs before 3 try again on any error, and wrap it
            slow = isinstance(error, openai.APITimeoutError) or isinstance(error.__cause__, Late)
            return Failure(self._too_slow() if slow else "no connection, or it broke off", retries)
        except openai.OpenAIError as error:
            return Failure(f"the SDK failed with {type(error).__name__}", retries)
        return self._cleaned(read_reply(self._clean(raw.http_response.text), raw.retries_taken))

    def _too_slow(self) -> str:
        return f"no complete answer within {self.timeout:g} seconds"

    def _client(self) -> Any:
        """The one client of this process; connections must not be shared with a forked one."""
        with self._lock:
            if self._openai is None or self._process != os.getpid():
                key = self.require_key()
                import openai
                from parlour.policies.llm.transport.client import BoundedClient

                http = BoundedClient(self.timeout)
                self._finalizer = weakref.finalize(self, http.close)
                self._openai = openai.OpenAI(
                    api_key=key, base_url=self.base_url, timeout=self.timeout, http_client=http
                )
                self._process = os.getpid()
            return self._openai

    def _clean(self, text: str) -> str:
        key = secret(self.key_env)
        return re.sub(re.escape(key), "[key]", text, flags=re.IGNORECASE) if len(key) >= _SHORTEST_SECRET else text

    def _cleaned(self, found: Completion | Failure) -> Completion | Failure:
        if isinstance(found, Failure):
            return replace(found, told=self._clean(found.told))
        texts, thinking = tuple(map(self._clean, found.texts)), tuple(map(self._clean, found.thinking))
        return replace(found, texts=texts, thinking=thinking, served=self._clean(found.served))

    def _host(self) -> str:
        address = urlsplit(self.base_url or str(self._client().base_url))
        return f"{address.hostname}:{address.port}" if address.port else str(address.hostname)

    def _drop(self, name: str, failure: Failure) -> None:
        with self._lock:
            known, self._off = name in self._off, self._off | {name}
        if not known:
            log.warning("%s does not take %r, which is left out from now on: %s", self._host(), name, failure.line())

    def _wait(self, retries: int, sample: int) -> float:
        """Seconds. Calls that failed together are spread over a quarter of the wait by their samples, not by chance."""
        longest: float = min(self._first_wait * 2.0**retries, _LONGEST_WAIT)
        return longest * (1 - 0.25 * (sample % 101) / 100)

    def _unavailable(self, request: Request, failure: Failure, retries: int) -> ModelUnavailable:
        tried = f"{retries + 1} attempt{'s' if retries else ''}"
        error = ModelUnavailable(f"no answer of {request.model!r} at {self._host()} after {tried}: {failure.line()}")
        error.retries = retries
        return error


def _check_address(base_url: str | None) -> None:
    if base_url is None:
        return
    if "@" in base_url or "?" in base_url:
        raise ParlourError("base_url holds a user or a query; accepted: a bare address, and the key in the environment")
    try:
        address = urlsplit(base_url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ParlourError(f"base_url {base_url!r} is not accepted; accepted: such as http://localhost:8000/v1")
