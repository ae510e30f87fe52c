"""Limits on a request: its headers are checked, then what the body says about itself, and only then is it read.

Bodies have a length and a time, counted as they come in, whether they say how long they are or arrive in chunks; the
application gets them whole. What two servers could read in two ways is refused (RFC 9112, 6.3). Every failure behind these limits
is reported in one line. Limits on connections: `listening`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from typing import Final

from parlour.policies.llm.server.protocol import Refused
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parlour_table.server.listening import LimitedConnection, too_long_headers
from parlour_table.server.settings import Limits

CONNECTION: Final = "connection"

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
        app: What answers; it handles `Refused`, and answers to other exceptions by `failure`.
        settings: The limits.
        tally: Counts `refused`, and as `gone` the requests whose clients did not wait for the answer.
    """

    def __init__(self, app: ASGIApp, settings: Limits, tally: Counter[str]) -> None:
        self.settings, self.held = settings, 0
        """`held`: bytes of long bodies that are being received or answered."""
        self._app, self._tally = app, tally

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        room = _Room(self)
        try:
            self._check(scope)
            if scope["type"] == "http":
                receive = _again(await self._body(receive, room), receive)
            await self._app(scope, receive, send)
        except Refused as error:
            if scope["type"] == "http":
                connection: LimitedConnection = scope["state"][CONNECTION]
                connection.refuse(error)
            else:
                self._tally["refused"] += 1
                await refusal(error)(scope, receive, send)
        except ClientDisconnect:
            self._tally["gone"] += 1
        except Exception as error:
            _LOG.error("a request failed: %r", error)
        finally:
            room.take(0)

    def _check(self, scope: Scope) -> None:
        """Raise `Refused` for what can be told from the headers."""
        if scope["http_version"] not in _VERSIONS:
            raise Refused(400, f"HTTP {scope['http_version']} is not accepted; accepted: {', '.join(_VERSIONS)}")
        raw: Sequence[tuple[bytes, bytes]] = scope["headers"]
        check_head(raw, self.settings.max_headers)
        headers = {name.decode("latin-1"): value.decode("latin-1").strip() for name, value in raw}
        check_kind(headers)
        length = int(headers.get("content-length", 0))
        if length > self.settings.max_body:
            raise self._too_long(f"{length} bytes")

    async def _body(self, receive: Receive, room: _Room) -> bytes:
        """The whole body. Raises `Refused` for too much, or too late, and `ClientDisconnect`."""
        message: Message = {}
        body = bytearray()
        try:
            async with asyncio.timeout(self.settings.body_timeout):
                while message.get("more_body", True):
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    body += message.get("body", b"")
                    if len(body) > self.settings.max_body:
                        raise self._too_long(f"more than {self.settings.max_body} bytes")
                    room.take(len(body))
        except TimeoutError:
            accepted = f"within {self.settings.body_timeout:g} seconds"
            raise Refused(408, f"the body did not come in time; accepted: {accepted}") from None
        return bytes(body)

    def _too_long(self, what: str) -> Refused:
        return Refused(413, f"a body of {what} is not accepted; accepted: up to {self.settings.max_body}")


class _Room:
    """The room that one request takes of what long bodies have together."""

    def __init__(self, app: LimitedApp) -> None:
        self._app, self._held = app, 0

    def take(self, size: int) -> None:
        """Room for a body of so many bytes; 0 gives it back. Raises `Refused` if there is none."""
        large, most = size if size > SHORT else 0, self._app.settings.max_bodies
        if large > self._held and self._app.held - self._held + large > most:
            why, after = f"too many long requests at once; accepted: {most} bytes of them", {"Retry-After": "1"}
            raise Refused(429, why, None, "rate_limit_exceeded", after)
        self._app.held += large - self._held
        self._held = large


def _again(body: bytes, receive: Receive) -> Receive:
    """A channel that gives the body first, and then what comes after it: that the client has gone."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


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


async def failure(_request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that an exception ended; a handler of Starlette's."""
    return refusal(Refused(500, repr(error), None, "server_error"))
