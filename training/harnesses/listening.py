"""How servers of a seat listen, for MCP over HTTP and for OpenEnv alike: what they refuse before it reaches a game.

uvicorn limits connections and messages of WebSockets. `GuardedApp` checks where a request comes from, and takes its body only if it is
short, comes in time and is JSON that can be answered. Limits on games: `sessions`. Needs uvicorn, which both extras install.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import Callable, Collection
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import uvicorn
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LONGEST_MESSAGE: Final = 65_536
"""Bytes of a body or of a message over a WebSocket; what a seat says is shorter still."""
MESSAGE_SECONDS: Final = 10.0
"""Seconds in which the head of a request must arrive, and then its body."""
_SPARE_CONNECTIONS: Final = 64
_FAREWELL: Final = 5
"""Seconds in which connections may end when the server does."""

ErrorBody = Callable[[str], dict[str, Any]]
"""A reason -> the body of a refusal, in the shape of the protocol."""


class RefusedRequest(Exception):  # noqa: N818 - what becomes of the request, not of the server
    """A request that gets an error instead of an answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def unanswerable(message: str | bytes) -> str | None:
    """Why a JSON message cannot be answered, in one line; None if it can."""
    try:
        json.dumps(json_value(message), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair is not accepted; accepted: JSON of whole characters"
    except ValueError as error:
        return f"this is not JSON that can be used ({error}); accepted: a JSON object"
    return None


class GuardedApp:
    """An application behind limits on each request.

    Args:
        app: What answers.
        hosts: Names of this server, besides IP addresses and localhost. A page in a browser reaches a local server by a name of its
            own (DNS rebinding), not by an address.
        error_body: Shapes refusals.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], error_body: ErrorBody) -> None:
        self._app, self._hosts, self._error_body = app, frozenset(map(str.lower, hosts)), error_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            self._check_source(scope)
            if scope["type"] == "http":
                receive = _again(await _body(scope, receive), receive)
            else:
                receive = self._messages(receive, send)
        except RefusedRequest as error:
            # on a WebSocket before its acceptance this is the answer to the handshake, where the server can send one
            refusal = JSONResponse(self._error_body(str(error)), error.status, {"Connection": "close"})
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_source(self, scope: Scope) -> None:
        """Raise `RefusedRequest` for a name that is not this server's, and for a page of another."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        name = _name_in(f"//{host}")
        if not (_is_address(name) or name == "localhost" or name in self._hosts):
            raise RefusedRequest(
                421, "this Host is not accepted; accepted: an IP address, localhost, or a name of --allow-host"
            )
        origin = headers.get(b"origin")
        if origin is not None and _netloc_in(origin) != host:
            raise RefusedRequest(403, "a page of another origin is not accepted; accepted: requests without Origin")

    def _messages(self, receive: Receive, send: Send) -> Receive:
        """A channel of a WebSocket without the messages that cannot be answered, which are refused."""

        async def next_message() -> Message:
            while True:
                message = await receive()
                words = message.get("text") or message.get("bytes")
                reason = None if message["type"] != "websocket.receive" or words is None else unanswerable(words)
                if reason is None:
                    return message
                await send({"type": "websocket.send", "text": json.dumps(self._error_body(reason))})

        return next_message


async def _body(scope: Scope, receive: Receive) -> bytes:
    """The whole body. Raises `RefusedRequest` for one that is too long, too late or no JSON."""
    length = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    too_long = RefusedRequest(413, f"a longer body is not accepted; accepted: {LONGEST_MESSAGE} bytes")
    if len(length) > len(str(LONGEST_MESSAGE)) or int(length) > LONGEST_MESSAGE:
        raise too_long
    message: Message = {}
    body = bytearray()
    try:
        async with asyncio.timeout(MESSAGE_SECONDS):
            while message.get("more_body", True):
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedRequest(408, "the body did not come to its end")
                body += message.get("body", b"")
                if len(body) > LONGEST_MESSAGE:
                    raise too_long
    except TimeoutError:
        raise RefusedRequest(408, f"the body did not come in time; accepted: {MESSAGE_SECONDS:g} seconds") from None
    if body and (reason := unanswerable(bytes(body))):
        raise RefusedRequest(400, reason)
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """A channel that gives the body first, and then what comes after it: that the client has gone."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _name_in(address: str) -> str:
    """The host in an address, without its port; empty if there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _netloc_in(origin: str) -> str:
    """Host and port of an origin; empty for `null`."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def listening(host: str, port: int) -> socket.socket:
    """A socket with the address; port 0 takes a free one. Raises `ParlourError` for an address that cannot be used."""
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise ParlourError(f"{host}:{port} cannot be listened at ({error}); accepted: a free port, or 0") from None


class SeatServer(uvicorn.Server):
    """Answers at a socket.

    Args:
        app: What answers: a `GuardedApp`.
        max_games: Games that may be in progress: a connection each, and some for everything else.
    """

    def __init__(self, app: ASGIApp, max_games: int) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="h11",
                log_level="error",
                ws_max_size=LONGEST_MESSAGE,
                ws_per_message_deflate=False,  # what is short on the way may be long to hold
                limit_concurrency=2 * max_games + _SPARE_CONNECTIONS,
                timeout_graceful_shutdown=_FAREWELL,
            )
        )
        self._waits: WeakKeyDictionary[H11Protocol, tuple[Any, float]] = WeakKeyDictionary()
        """Connection -> its last request, and since when no other one has come."""

    async def on_tick(self, counter: int) -> bool:
        now = asyncio.get_running_loop().time()
        for connection in list(self.server_state.connections):
            if isinstance(connection, H11Protocol):  # a WebSocket has pings
                self._check_time(connection, now)
        return await super().on_tick(counter)

    def _check_time(self, connection: H11Protocol, now: float) -> None:
        """Close a connection whose client does not come to the end of a head: uvicorn waits for it for ever."""
        last = connection.cycle
        before, since = self._waits.setdefault(connection, (last, now))
        if before is not last or (last is not None and not last.response_complete):
            self._waits[connection] = (last, now)
        elif now - since > MESSAGE_SECONDS:
            connection.transport.close()

    def answer(self, own: socket.socket) -> None:
        """Answer until the process is interrupted."""
        with own:
            self.run(sockets=[own])
