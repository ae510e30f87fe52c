"""Limits on a request: its headers are checked, then the key, then what the body says of itself, and only then is it read.

Bodies have a length and a time, counted as they come in, whether they say how long they are or arrive in chunks. What two
servers could read in two ways is refused (RFC 9112, 6.3). Whatever fails behind these doors is told in one line. Limits on
connections: `connections`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from fastapi.responses import JSONResponse
from parlour.policies.llm.server.listening import too_long_headers
from parlour.policies.llm.server.protocol import Refused
from parlour.policies.llm.server.settings import ServerSettings
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SHORT: Final = 65_536
"""Bodies of up to so many bytes are always taken; the longer ones share `max_bodies`."""
_ONCE: Final = ("host", "content-length", "transfer-encoding", "content-type", "content-encoding", "authorization")
_VERSIONS: Final = ("1.1", "1.0")
_JSON: Final = ("application/json", "application/json;charset=utf-8")
_SHOWN: Final = 60
"""Characters of a header that an error shows."""
_LOG: Final = logging.getLogger(__name__)


class LimitedApp:
    """An application behind these limits.

    Args:
        app: What answers; it handles `Refused`.
        settings: The limits.
        tally: Counts `refused`, and as `gone` the requests whose clients did not wait for the answer.
        check_key: Raises `Refused` for the value of the header `Authorization`.
    """

    def __init__(
        self, app: ASGIApp, settings: ServerSettings, tally: Counter[str], check_key: Callable[[str], None]
    ) -> None:
        self.settings, self.held = settings, 0
        """`held`: bytes of long bodies that are being received or answered."""
        self._app, self._tally, self._check_key = app, tally, check_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _Incoming(self, scope, receive, send)
        try:
            try:
                self._check(scope)
                await self._app(scope, request.receive, request.send)
            except Refused as error:
                self._tally["refused"] += 1
                await refusal(error)(scope, receive, request.send)
        except ClientDisconnect:
            self._tally["gone"] += 1
        except Exception as error:
            _LOG.error("a request failed: %s", described(error))
            if not request.started:
                await refusal(Refused(500, described(error), None, "server_error"))(scope, receive, request.send)
        finally:
            self.held -= request.held

    def _check(self, scope: Scope) -> None:
        """Raise `Refused` for what can be told from the headers."""
        if scope["http_version"] not in _VERSIONS:
            raise Refused(400, f"HTTP {scope['http_version']} is not accepted; accepted: {', '.join(_VERSIONS)}")
        raw: Sequence[tuple[bytes, bytes]] = scope["headers"]
        check_head(raw, self.settings.max_headers)
        headers = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in raw}
        self._check_key(headers.get("authorization", ""))
        check_kind(headers)
        length = int(headers.get("content-length", 0))
        if length > self.settings.max_body:
            raise self.too_long(f"{length} bytes")

    def too_long(self, what: str) -> Refused:
        """The refusal of a body."""
        return Refused(413, f"a body of {what} is not accepted; accepted: up to {self.settings.max_body}")

    def hold(self, more: int) -> None:
        """Room for more bytes of long bodies; less than 0 gives it back. Raises `Refused` if there is none."""
        if more > 0 and self.held + more > self.settings.max_bodies:
            accepted = f"{self.settings.max_bodies} bytes of them"
            raise Refused(
                429,
                f"too many long requests at once; accepted: {accepted}",
                None,
                "rate_limit_exceeded",
                {"Retry-After": "1"},
            )
        self.held += more


class _Incoming:
    """A request on its way in, and its reply on its way out."""

    def __init__(self, app: LimitedApp, scope: Scope, receive: Receive, send: Send) -> None:
        self.started, self.held = False, 0
        self._app, self._receive, self._send = app, receive, send
        self._size = 0
        self._deadline = asyncio.get_running_loop().time() + app.settings.body_timeout
        self._more = any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
            for name, value in scope["headers"]
        )

    async def receive(self) -> Message:
        """The next piece of the body, or the end of the connection. Raises `Refused` for too much, or too late."""
        if not self._more:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            accepted = f"within {self._app.settings.body_timeout:g} seconds"
            raise Refused(408, f"the body did not come in time; accepted: {accepted}") from None
        if message["type"] == "http.request":
            self._take(len(message.get("body", b"")))
            self._more = message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Pass on a piece of the reply; one to a request that was not read to its end is the last of the connection."""
        if message["type"] == "http.response.start":
            self.started = True
            if self._more:
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        await self._send(message)

    def _take(self, size: int) -> None:
        self._size += size
        if self._size > self._app.settings.max_body:
            raise self._app.too_long(f"more than {self._app.settings.max_body} bytes")
        held = self._size if self._size > SHORT else 0
        self._app.hold(held - self.held)
        self.held = held


def check_head(headers: Sequence[tuple[bytes, bytes]], most: int) -> None:
    """Raise `Refused` for headers that are too long, or that two servers could read in two ways."""
    if sum(len(name) + len(value) + 4 for name, value in headers) > most:
        raise too_long_headers(most)
    names = Counter(name.decode("latin-1") for name, _ in headers)
    for name in _ONCE:
        if names[name] > 1:
            raise Refused(400, f"header {name!r} is not accepted {names[name]} times; accepted: once")
    if names["transfer-encoding"] and names["content-length"]:
        raise Refused(400, "transfer-encoding with content-length is not accepted; accepted: one of them")


def check_kind(headers: dict[str, str]) -> None:
    """Raise `Refused` unless the body is JSON, plain, or says nothing of what it is."""
    kind = headers.get("content-type", "")
    if kind and "".join(kind.lower().replace('"', "").split()) not in _JSON:
        raise Refused(415, f"content type {kind[:_SHOWN]!r} is not accepted; accepted: application/json")
    packed = headers.get("content-encoding", "")
    if packed and packed.lower() != "identity":
        raise Refused(415, f"content encoding {packed[:_SHOWN]!r} is not accepted; accepted: none")


def refusal(error: Refused) -> JSONResponse:
    """An error as a reply."""
    return JSONResponse(error.body(), error.status, headers=error.headers)


def described(error: BaseException) -> str:
    """An exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def disconnected(receive: Receive) -> Callable[[], Any]:
    """A coroutine function that returns when the client has gone; the body must have been read."""

    async def wait() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    return wait
