"""A server with limits on its connections.

uvicorn speaks HTTP with h11, and WebSockets (RFC 6455); its own limits hold for idle connections, the length of a head and the end of
the server. What it leaves to a proxy in front of it is done here, because there may be none: time for the head of a request and
for taking a reply, connections that give way to new ones, errors in the shape of the protocol, and a close that does not cut
off what was said before it (RFC 9112, 9.3-9.6). Limits on one request as a whole: `limits`.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections import Counter
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, Protocol, cast

import h11
import uvicorn
from parlour.policies.llm.server.listening import EndingServer
from parlour.policies.llm.server.protocol import Refused
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from parlour_table.server.settings import Limits

BACKLOG: Final = 2048
CONNECTION: Final = "connection"

_LINGER: Final = 5.0
"""Seconds for which a client may continue to send a body that is not read, so that it reads the reason."""
_ACCEPTED: Final = 128
"""Connections that are accepted in one go, before the limit on them is looked at."""
_SPARE_FILES: Final = 256
"""File descriptors that connections leave for those that are just being accepted, and for everything else."""
_TAKES_A_REPLY: Final = (h11.IDLE, h11.SEND_RESPONSE)
_SAID_ALL: Final = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)


class ServedApp(Protocol):
    """What answers behind a port. One for each server."""

    settings: Limits
    tally: Counter[str]
    """Counts `refused`."""
    closing: asyncio.Event
    """Set when the server ends."""
    longest_message: int
    """Bytes of a message over a WebSocket, beyond which its connection ends."""

    def app(self) -> ASGIApp:
        """The application, behind its limits."""


class LimitedConfig(uvicorn.Config):
    """uvicorn's settings, and what `LimitedConnection` needs. WebSockets need the package `websockets`."""

    def __init__(self, served: ServedApp) -> None:
        self.settings = replace(served.settings, max_connections=_room(served.settings.max_connections))
        self.tally = served.tally
        super().__init__(
            served.app(),
            http=LimitedConnection,
            loop="asyncio",
            ws="websockets-sansio",
            ws_max_size=served.longest_message,
            ws_per_message_deflate=False,  # what is short on the way may be long to hold
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            backlog=_ACCEPTED,
            timeout_keep_alive=cast(int, self.settings.idle_timeout),  # it may be any number of seconds
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=self.settings.max_headers,
        )


class LimitedConnection(H11Protocol):
    """A connection with limits. Its times are looked at by `check_time`, which the server calls for all of them."""

    config: LimitedConfig

    def __init__(
        self,
        config: LimitedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.app_state = {**app_state, CONNECTION: self}
        self.lingers = False
        """Whether it was closed, and its client is only heard out."""
        self._since = self.loop.time()
        """When the present wait for the client began."""
        self._speaks = False
        """Whether a part of a head has come."""
        self._unsent_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._make_room(self.config.settings.max_connections)

    def _make_room(self, most: int) -> None:
        """Beyond the limit connections give way: those only heard out, then the longest waited for, in the end this one."""
        alike = [other for other in self.connections if isinstance(other, LimitedConnection)]  # no WebSockets
        others = [other for other in alike if other is not self and not other.transport.is_closing()]
        beyond = len(others) + 1 - most
        waited_for = [other for other in others if other.keeps_waiting]
        waited_for.sort(key=lambda other: (not other.lingers, other._since))
        for other in waited_for[: max(0, beyond)]:
            other.transport.abort()
        if len(waited_for) < beyond:
            self._speaks = True  # its request may be on its way
            self.refuse(Refused(429, f"too many connections; accepted: {most} at once", headers={"Retry-After": "1"}))

    @property
    def answering(self) -> bool:
        """Whether a request is waiting for the rest of its reply."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def keeps_waiting(self) -> bool:
        """Whether the next thing to happen is the client's: a head, the rest of a body."""
        return self.lingers or not self.answering or (self.cycle.more_body and not self.cycle.response_started)

    @property
    def unread(self) -> bool:
        """Whether the client may be in the middle of a request."""
        return self._speaks if self.conn.their_state is h11.IDLE else self.conn.their_state not in _SAID_ALL

    def data_received(self, data: bytes) -> None:
        if self.lingers or self.conn.their_state in (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR):
            return
        waits_for_head = self.conn.their_state is h11.IDLE
        if waits_for_head and not self._speaks:
            self._since = self._since if self.cycle is None else self.loop.time()
            self._speaks = True
        super().data_received(data)
        if waits_for_head and self.conn.their_state is not h11.IDLE:
            self._since, self._speaks = self.loop.time(), False

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._speaks = bool(self.conn.trailing_data[0])

    def check_time(self, now: float) -> None:
        """Close the connection if its client has taken too long. `now` is the loop's time in seconds."""
        settings, waited = self.config.settings, now - self._since
        unsent = self.transport.get_write_buffer_size() > 0
        self._unsent_since = (self._unsent_since or now) if unsent else None
        late = self._unsent_since is not None and now - self._unsent_since > settings.reply_timeout
        if late or (self.lingers and waited > _LINGER):
            self.transport.abort()
        elif not self.lingers and not self.answering and waited > settings.header_timeout:
            if self._speaks:
                accepted = f"within {settings.header_timeout:g} seconds"
                self.refuse(Refused(408, f"the headers did not come in time; accepted: {accepted}"))
            elif self.cycle is None:
                self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """The answer to what is no HTTP; h11 stops reading a head that is too long."""
        most = self.config.settings.max_headers
        self.refuse(
            too_long_headers(most)
            if len(self.conn.trailing_data[0]) > most
            else Refused(400, "this is no HTTP request")
        )

    def refuse(self, error: Refused) -> None:
        """Say why, if a reply is still possible, and close the connection; a request that is under way has its end.

        A client that may still be sending is heard out: a socket that is closed with bytes unread is reset, and the other side
        loses the reply that it has not yet read.
        """
        self._drop_request()
        if self.conn.our_state in _TAKES_A_REPLY and not self.transport.is_closing():
            self.config.tally["refused"] += 1
            self._send(error)
        if self.lingers or self.transport.is_closing() or not self.unread:
            self.transport.close()
            return
        self.lingers, self._since = True, self.loop.time()
        self.transport.resume_reading()
        self.transport.write_eof()

    def shutdown(self) -> None:
        """The server ends: who keeps it waiting is hung up on, the others get their replies."""
        if self.transport.is_closing() or (self.keeps_waiting and self.unread):
            self.transport.abort()
        else:
            super().shutdown()

    def _drop_request(self) -> None:
        if self.answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _send(self, error: Refused) -> None:
        body = json.dumps(error.body(), ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
        start = h11.Response(
            status_code=error.status,
            headers=list({**headers, **(error.headers or {})}.items()),
            reason=HTTPStatus(error.status).phrase.encode(),
        )
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


class LimitedServer(EndingServer):
    """Answers with limits.

    Args:
        served: What answers.
    """

    def __init__(self, served: ServedApp) -> None:
        super().__init__(LimitedConfig(served), served.closing)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for own in sockets or ():
            own.listen(BACKLOG)  # asyncio has set it to how many it accepts in one go

    async def on_tick(self, counter: int) -> bool:
        now = asyncio.get_running_loop().time()
        for connection in list(self.server_state.connections):
            if isinstance(connection, LimitedConnection):  # a WebSocket has limits of its own
                connection.check_time(now)
        return await super().on_tick(counter)


def _room(connections: int) -> int:
    """How many connections there may be, where the process may open so many files."""
    if os.name != "posix":
        return connections
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return connections if most == resource.RLIM_INFINITY else max(1, min(connections, most - _SPARE_FILES))


def too_long_headers(most: int) -> Refused:
    """The refusal of a head that is longer than `most` bytes."""
    return Refused(431, f"headers of this length are not accepted; accepted: up to {most} bytes")
