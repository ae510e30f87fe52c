"""A server that listens: it has its port before it answers, and ends without waiting for anybody.

uvicorn speaks HTTP with h11, within its own limits. Who can be reached by strangers belongs behind a proxy. Needs the extra `serve`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from parlour.envs.core import ParlourError
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

CONNECTION: Final = "connection"
"""Under this name the state of a request holds its connection."""
LOOPBACK: Final = "127.0.0.1"
GRACE: Final = 1
"""Seconds in which replies have to be taken when the server ends."""
BACKLOG: Final = 2048
"""Connections that wait to be accepted."""
_IDLE: Final = 120
"""Seconds that a connection stays open unused; longer than clients keep theirs, so that none is closed in use."""


class ServedConnection(H11Protocol):
    """A connection that a request can break off."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)

    def end_early(self, *, reset: bool) -> None:
        """Break off in the middle of a reply: by a reset, or by an end that comes too soon."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if reset and not self.transport.is_closing():
            own: socket.socket = self.transport.get_extra_info("socket")
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        self.transport.close()


def served_by(app: ASGIApp) -> uvicorn.Config:
    """Uvicorn's settings for an application."""
    return uvicorn.Config(
        app,
        http=ServedConnection,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=GRACE,
    )


class EndingServer(uvicorn.Server):
    """Ends when `should_exit` is set, even while a client keeps it waiting.

    Args:
        config: uvicorn's settings.
        closing: Set when the server ends.
    """

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self._closing = closing

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._closing.set()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class ListeningServer:
    """A server that has its port but does not answer yet.

    Args:
        server: What answers.
        host: Address to listen at.
        port: Port to listen at; 0 for a free one.

    Raises:
        ParlourError: Host and port cannot be used.
    """

    def __init__(self, server: EndingServer, host: str, port: int) -> None:
        try:
            self._socket = _listening(host, port)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise ParlourError(f"{host}:{port} cannot be listened at ({why}); accepted: a free port, or 0") from None
        shown = f"[{host}]" if ":" in host else host
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{shown}:{self.port}"
        self._server = server

    @contextmanager
    def in_thread(self, called: str) -> Iterator[None]:
        """Answer in a thread of this process, which is `called` so, until the block ends."""
        thread = threading.Thread(target=self.run, name=called, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.stop()
            thread.join()

    def run(self) -> None:
        """Answer until `stop`, or until the process is interrupted."""
        with self._socket:
            self._server.run([self._socket])

    def stop(self) -> None:
        """Have `run` return, from whatever thread; nobody is waited for."""
        self._server.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens. It names its protocol: asyncio switches Nagle's delay off only where it sees TCP."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    made = socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, made.detach())
