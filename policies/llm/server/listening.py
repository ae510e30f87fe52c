"""A server that listens: it has its port before it answers, keeps its limits, and ends without waiting for anybody.

`app` serves models over it, `parlour.training.play.live_table` a table with people. uvicorn speaks HTTP, and WebSockets
(RFC 6455) where a service takes them; limits: `limits`, `connections`. Needs the extra `serve`.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, Protocol, cast

import h11
import uvicorn
from parlour.envs.core import ParlourError
from parlour.policies.llm.server.protocol import Refused
from parlour.policies.llm.server.settings import ServerSettings
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

CONNECTION: Final = "connection"
"""Under this name the state of a request holds its connection."""
_LINGER: Final = 5.0
"""Seconds for which a client may go on sending what will not be read, so that it comes to read why."""
_ACCEPTED: Final = 128
"""Connections that are accepted in one go, before the limit on them is looked at."""
_TAKES_A_REPLY: Final = (h11.IDLE, h11.SEND_RESPONSE)


class LimitedConfig(uvicorn.Config):
    """uvicorn's settings, and what `LimitedConnection` needs.

    Args:
        app: The application.
        settings: The limits.
        tally: Counts `refused`.
        longest_message: Bytes of a message over a WebSocket, beyond which its connection ends; 0: no WebSockets. They need
            the package `websockets`.
    """

    def __init__(self, app: Any, settings: ServerSettings, tally: Counter[str], longest_message: int = 0) -> None:
        super().__init__(
            app,
            http=LimitedConnection,
            loop="asyncio",
            ws="websockets-sansio" if longest_message else "none",
            ws_max_size=longest_message,
            ws_per_message_deflate=False,  # what is short on the way may be long to hold
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            backlog=_ACCEPTED,
            timeout_keep_alive=cast(int, settings.idle_timeout),  # it may be any number of seconds
            h11_max_incomplete_event_size=settings.max_headers,
        )
        self.settings, self.tally = settings, tally


class LimitedConnection(H11Protocol):
    """A connection with limits. Its times are looked at by `check_time`, which the server calls for all of them."""

    transport: ClosingTransport

    def __init__(
        self,
        config: LimitedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.app_state = {**app_state, CONNECTION: self}
        self.leaving = False
        """Whether it is being closed, and no longer counts."""
        self._settings, self._tally = config.settings, config.tally
        self._since = self.loop.time()
        """When the present wait for the client began."""
        self._speaks = False
        """Whether a part of a head has come."""
        self._unsent_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(ClosingTransport(transport, self))
        self._make_room(self._settings.max_connections)

    def _make_room(self, most: int) -> None:
        """Beyond the limit connections give way: those only heard out, then the longest waited for, in the end this one."""
        alike = [one for one in self.connections if isinstance(one, LimitedConnection)]  # no WebSockets
        others = [one for one in alike if one is not self and not one.leaving]
        beyond = len(others) + 1 - most
        if beyond <= 0:
            return
        waited_for = [one for one in others if one.keeps_waiting]
        waited_for.sort(key=lambda one: (not one.transport.lingers, one._since))
        for one in waited_for[:beyond]:
            one.abort()
        if len(waited_for) < beyond:
            self._speaks = True  # its request may be on its way
            self.refuse(Refused(429, f"too many connections; accepted: {most} at once", headers={"Retry-After": "1"}))

    @property
    def answering(self) -> bool:
        """Whether a request has come of which the reply is not whole."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def keeps_waiting(self) -> bool:
        """Whether the next thing to happen is the client's: a head, the rest of a body."""
        if self.transport.lingers or not self.answering:
            return True
        return self.cycle.more_body and not self.cycle.response_started

    @property
    def unread(self) -> bool:
        """Whether the client may be in the middle of a request."""
        whole = (h11.DONE, h11.MUST_CLOSE, h11.CLOSED)
        return self._speaks if self.conn.their_state is h11.IDLE else self.conn.their_state not in whole

    def data_received(self, data: bytes) -> None:
        if self.transport.lingers or self.conn.their_state in (h11.MUST_CLOSE, h11.CLOSED, h11.ERROR):
            return
        waits_for_head = self.conn.their_state is h11.IDLE
        if waits_for_head and not self._speaks:
            self._since = self.loop.time() if self.cycle is not None else self._since
            self._speaks = True
        super().data_received(data)
        if waits_for_head and self.conn.their_state is not h11.IDLE:
            self._since, self._speaks = self.loop.time(), False

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From here on another protocol has the transport, without what this one does to it."""
        self.transport = self.transport.bare  # type: ignore[assignment]
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE:
            self._speaks = bool(self.conn.trailing_data[0])

    def check_time(self, now: float) -> None:
        """Close the connection if its client has taken too long. `now` is the loop's time in seconds."""
        unsent = self.transport.get_write_buffer_size() > 0
        self._unsent_since = (self._unsent_since or now) if unsent else None
        if self._unsent_since is not None and now - self._unsent_since > self._settings.reply_timeout:
            self.abort()
        elif self.transport.lingers:
            if now - self._since > _LINGER:
                self.abort()
        elif not self.answering and now - self._since > self._settings.header_timeout:
            self._end_of_head()

    def _end_of_head(self) -> None:
        if self._speaks:
            accepted = f"within {self._settings.header_timeout:g} seconds"
            self.refuse(Refused(408, f"the headers did not come in time; accepted: {accepted}"))
        elif self.cycle is None:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """The answer to what is no HTTP; h11 stops reading a head that is too long."""
        long = len(self.conn.trailing_data[0]) > self._settings.max_headers
        self.refuse(too_long_headers(self._settings.max_headers) if long else Refused(400, "this is no HTTP request"))

    def refuse(self, error: Refused) -> None:
        """Say why, if a reply is still possible, and close the connection; a request that is under way has its end."""
        self._drop_request()
        if self.conn.our_state in _TAKES_A_REPLY:
            self._tally["refused"] += 1
            self._send(error)
        self.transport.close()

    def end_early(self, *, reset: bool) -> None:
        """Break off in the middle of a reply: by a reset, or by an end that comes too soon."""
        self._drop_request()
        if not reset or self.transport.is_closing():
            self.transport.close()
            return
        own: socket.socket = self.transport.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.abort()

    def abort(self) -> None:
        """Close it at once; what was not sent is lost."""
        self.leaving = True
        self.transport.abort()

    def shutdown(self) -> None:
        """The server ends: who keeps it waiting is hung up on, the others get their replies."""
        if self.leaving or self.transport.is_closing() or (self.keeps_waiting and self.unread):
            self.abort()
        else:
            super().shutdown()

    def _drop_request(self) -> None:
        if self.answering:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _send(self, error: Refused) -> None:
        body = json.dumps(error.body(), ensure_ascii=False).encode()
        given = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **(error.headers or {}),
        }
        reason = HTTPStatus(error.status).phrase.encode()
        start = h11.Response(status_code=error.status, headers=list(given.items()), reason=reason)
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


class ClosingTransport(asyncio.Transport):
    """A transport that is closed without cutting off what was said: while the client may still be sending, it is heard out.

    A socket that is closed with bytes unread is reset, and the other side loses the reply that it has not yet read.
    """

    def __init__(self, inner: asyncio.Transport, connection: LimitedConnection) -> None:
        super().__init__()
        self._inner, self._connection = inner, connection
        self.lingers = False

    @property
    def bare(self) -> asyncio.Transport:
        """The transport below."""
        return self._inner

    def close(self) -> None:
        if self.is_closing():
            return
        if not self._connection.unread:
            self._inner.close()
            return
        self.lingers = True
        self._connection._since = self._connection.loop.time()
        self._inner.resume_reading()
        self._inner.write_eof()

    def is_closing(self) -> bool:
        return self.lingers or self._inner.is_closing()

    def abort(self) -> None:
        self._inner.abort()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self.lingers:
            self._inner.write(data)

    def write_eof(self) -> None:
        self._inner.write_eof()

    def can_write_eof(self) -> bool:
        return self._inner.can_write_eof()

    def pause_reading(self) -> None:
        self._inner.pause_reading()

    def resume_reading(self) -> None:
        self._inner.resume_reading()

    def get_write_buffer_size(self) -> int:
        return self._inner.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._inner.get_extra_info(name, default)


def too_long_headers(most: int) -> Refused:
    """The refusal of a head that is longer than `most` bytes."""
    return Refused(431, f"headers of this length are not accepted; accepted: up to {most} bytes")


LOOPBACK: Final = "127.0.0.1"
_GRACE: Final = 1.0
"""Seconds in which replies have to be taken when the server ends."""
_SPARE_FILES: Final = 256
"""File descriptors that connections leave for those that are just being accepted, and for everything else."""
_BACKLOG: Final = 2048
"""Connections that wait to be accepted."""


class ServedApp(Protocol):
    """What answers behind a port. One for each server."""

    settings: ServerSettings
    tally: Counter[str]
    """Counts `refused`."""
    closing: asyncio.Event
    """Set when the server ends."""
    longest_message: int
    """Bytes of a message over a WebSocket, beyond which its connection ends; 0: there are no WebSockets."""

    def app(self) -> ASGIApp:
        """The application, behind its limits."""


class ListeningServer:
    """A server that has its port but does not answer yet.

    Args:
        served: What answers.
        host: Address to listen at.
        port: Port to listen at; 0 for a free one.

    Raises:
        ParlourError: Host and port cannot be used.
    """

    def __init__(self, served: ServedApp, host: str = LOOPBACK, port: int = 0) -> None:
        try:
            self._socket = _listening(host, port)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise ParlourError(f"{host}:{port} cannot be listened at ({why}); accepted: a free port, or 0") from None
        shown = f"[{host}]" if ":" in host else host
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{shown}:{self.port}"
        self._server = _Server(served)

    def run(self) -> None:
        """Answer until `stop`, or until the process is interrupted."""
        with self._socket:
            self._server.run([self._socket])

    def stop(self) -> None:
        """Have `run` return, from whatever thread; nobody is waited for."""
        self._server.should_exit = True


@contextmanager
def in_thread(server: ListeningServer, called: str) -> Iterator[None]:
    """A server that answers in a thread of this process, which is `called` so, until the block ends."""
    thread = threading.Thread(target=server.run, name=called, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.stop()
        thread.join()


class _Server(uvicorn.Server):
    def __init__(self, served: ServedApp) -> None:
        settings = replace(served.settings, max_connections=_room(served.settings.max_connections))
        super().__init__(LimitedConfig(served.app(), settings, served.tally, served.longest_message))
        self._closing = served.closing

    @property
    def _connections(self) -> list[LimitedConnection]:
        """Those that speak HTTP; a WebSocket has limits of its own."""
        return [one for one in self.server_state.connections if isinstance(one, LimitedConnection)]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_BACKLOG)  # asyncio has set it to how many it accepts in one go

    async def on_tick(self, counter: int) -> bool:
        now = asyncio.get_running_loop().time()
        for connection in self._connections:
            connection.check_time(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._closing.set()
        asyncio.get_running_loop().call_later(_GRACE, self._hang_up)
        await super().shutdown(sockets)

    def _hang_up(self) -> None:
        for connection in list(self.server_state.connections):
            if isinstance(connection, LimitedConnection):
                connection.abort()
            else:
                connection.transport.abort()


def _room(connections: int) -> int:
    """How many connections there may be, where the process may open so many files."""
    if os.name != "posix":
        return connections
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return connections if most == resource.RLIM_INFINITY else max(1, min(connections, most - _SPARE_FILES))


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens. It names its protocol: asyncio switches Nagle's delay off only where it sees TCP."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # elsewhere it would share the port with another server
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(_BACKLOG)
    except BaseException:
        made.close()
        raise
    return made
