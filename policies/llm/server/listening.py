"""A server that listens: it has its port before it answers, keeps its limits, and ends without waiting for anybody.

`app` serves models over it, `parlour.training.play.live_table` a table with people. uvicorn speaks HTTP, and WebSockets
(RFC 6455) where a service takes them; limits: `limits`, `connections`. Needs the extra `serve`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, Protocol

import uvicorn
from parlour.envs.core import ParlourError
from parlour.policies.llm.server.connections import LimitedConfig, LimitedConnection
from parlour.policies.llm.server.settings import ServerSettings
from starlette.types import ASGIApp

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
