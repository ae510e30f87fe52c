"""The connection to a server: the `openai` SDK, which tries again, over an HTTP client that reads each answer whole and in time.

The SDK waits between attempts, as long as Retry-After says. Whether an answer is worth another attempt follows from its words, and
reaches the SDK in the header `x-should-retry`. The timeouts of HTTP clients count again with each piece that arrives: here one
deadline bounds the answer as a whole. The pool opens as many connections as there are calls in flight, and keeps them. This module
imports the SDK, which takes a second or more; import it when it is needed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Final

import openai
from parlour.policies.llm.transport.address import Address
from parlour.policies.llm.transport.answers import Failure

CONNECT_SECONDS: Final = 4.0
"""Longest wait for a connection: a server that cannot be reached is distinguished from a slow server."""
_HTTP: Final = import_module(type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])
"""The HTTP library of the SDK, which is another one from version 3 of the SDK on."""
_BAD_GATEWAY: Final = 502
"""The status by which the SDK learns that an answer of status 200 is none."""

_LOG: Final = logging.getLogger(__name__)


@cache
def _certificates() -> Any:
    """What certificates of servers are checked against. Reading them takes 0.06 s, so that all connections share them."""
    return _HTTP.create_ssl_context()


@dataclass
class _Attempts:
    """The attempts of the SDK at one call."""

    retries: int
    read: Callable[[Any], Any]
    again: Callable[[list[Any]], bool]
    outcomes: list[Any] = field(default_factory=list)


_UNDER_WAY: Final[ContextVar[_Attempts]] = ContextVar("attempts")


class Connection(openai.DefaultHttpxClient):
    """The SDK's client for one server, and the HTTP client under it. Safe for threads, but not for a forked process.

    Args:
        address: Where the server is.
        key: What it wants to see.
        seconds: How long an answer may take, from sending the request to the end of the body. It is given up at the
            first piece that arrives later, and no piece is waited for longer than that.
        first_wait: Seconds before the second attempt after an answer without Retry-After; doubled before each further one.
    """

    def __init__(self, address: Address, key: str, seconds: float, first_wait: float) -> None:
        timeout: Any = openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_connections=None, max_keepalive_connections=None)
        super().__init__(timeout=timeout, limits=limits, verify=_certificates())
        self._sdk = openai.OpenAI(
            api_key=key, base_url=address.base, default_query=dict(address.query), timeout=timeout, http_client=self
        )
        self._seconds, self._address, self._shown = seconds, address, 0
        self._first_wait = first_wait
        self.answered = False
        """Whether an answer has ever begun, whatever became of it."""

    def make(
        self,
        call: Callable[[openai.OpenAI], object],
        retries: int,
        read: Callable[[Any], Any],
        again: Callable[[list[Any]], bool] = lambda outcomes: False,
    ) -> list[Any]:
        """Have the SDK make a call.

        Args:
            call: What it does.
            retries: Most attempts after the first.
            read: What an answer says.
            again: Whether another attempt may bring a better answer, after all that came so far.

        Returns:
            What each attempt came to, of one at least: what its answer said, or a `Failure` if it had none.
        """
        attempts = _Attempts(retries, read, again)
        _UNDER_WAY.set(attempts)
        with suppress(openai.OpenAIError):  # what it means is in `attempts`
            call(self._sdk.with_options(max_retries=retries))
        return attempts.outcomes or [Failure("the SDK sent nothing")]

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        if self._address.azure and "authorization" in request.headers:
            request.headers["api-key"] = request.headers.pop("authorization").partition(" ")[2]
        attempts = _UNDER_WAY.get()
        attempts.outcomes.append(Failure("no connection, or it broke off", again=True))
        try:
            response = self._whole(request, **options)
        except _HTTP.RequestError as error:
            if isinstance(error, _HTTP.TimeoutException) and not isinstance(error, _HTTP.ConnectTimeout):
                late = f"no complete answer within {self._seconds:g} seconds"
                attempts.outcomes[-1] = Failure(late, "timeout", again=True)
            self._show(attempts)
            raise
        attempts.outcomes[-1] = attempts.read(response)
        again = attempts.again(attempts.outcomes)
        response.headers["x-should-retry"] = str(again).lower()
        if again and not response.headers.keys() & {"retry-after", "retry-after-ms"}:
            wait = self._first_wait * 2 ** (len(attempts.outcomes) - 1)
            response.headers["retry-after-ms"] = f"{1000 * wait:g}"
        response.status_code = _BAD_GATEWAY if again and response.is_success else response.status_code
        return response

    def _whole(self, request: Any, **options: Any) -> Any:
        deadline = time.monotonic() + self._seconds
        response = super().send(request, stream=True, **options)
        self.answered = True
        pieces = []
        try:
            for piece in response.iter_raw():
                pieces.append(piece)
                if time.monotonic() > deadline:
                    raise _HTTP.ReadTimeout("late", request=request)
        finally:
            response.close()
        # the pieces are still compressed; a response made from them unpacks them by the headers
        return type(response)(
            response.status_code, headers=response.headers, content=b"".join(pieces), request=response.request
        )

    def _show(self, attempts: _Attempts) -> None:
        """Log that a server which has never answered is tried again: once for all calls that wait at the same time."""
        made = len(attempts.outcomes)
        if not self.answered and self._shown < made <= attempts.retries:
            self._shown, why = made, attempts.outcomes[-1].told
            _LOG.warning("no answer from %s (%s): retry %d of %d", self._address.host, why, made, attempts.retries)
