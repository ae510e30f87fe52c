"""A link between a browser and a live table: a TCP proxy that can fall silent, as Wi-Fi does, and that can stand under a path."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_READ = 65_536


class Link:
    """Passes bytes on to a server.

    Args:
        url: The address of the server.
        prefix: A path under which the server is found here, such as `/parlour`; no path of the server is found without it.
    """

    def __init__(self, url: str, prefix: str = "") -> None:
        address = urlsplit(url)
        self.server, self._prefix = (str(address.hostname), address.port), prefix.encode()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}{prefix}"
        self.opened = 0
        """How many connections there were."""
        self._silent: set[socket.socket] = set()
        self._open: set[socket.socket] = set()
        self._down = False
        self._one_way = self._refuses = False

    def refuse(self) -> None:
        """Close all connections from now on, open and new ones."""
        self._refuses = True
        self._close_all()

    def fall_silent(self, *, one_way: bool = False) -> None:
        """Pass nothing on from now on, of connections that are open and of new ones, and close none.

        Args:
            one_way: What the browser sends still arrives.
        """
        self._down, self._one_way = True, one_way

    def come_back(self) -> None:
        """Pass on what new connections send. Those that were open stay silent."""
        self._silent |= self._open
        self._down = self._one_way = self._refuses = False

    def serve(self) -> None:
        """Accept connections until the listener is closed."""
        with suppress(OSError):
            while True:
                browser, _ = self._listener.accept()
                self.opened += 1
                if self._refuses:
                    browser.close()
                    continue
                self._open.add(browser)
                threading.Thread(target=self._pass_on, args=(browser,), daemon=True).start()

    def close(self) -> None:
        """Close all."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._close_all()

    def _close_all(self) -> None:
        for browser in self._open:
            with suppress(OSError):
                browser.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, browser: socket.socket) -> None:
        with suppress(OSError), browser, socket.create_connection(self.server) as server:
            threading.Thread(target=self._copy, args=(server, browser, browser, False), daemon=True).start()
            self._copy(browser, server, browser, True)

    def _copy(self, source: socket.socket, target: socket.socket, browser: socket.socket, upwards: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_READ):
                if self._passes(browser, upwards):
                    target.sendall(self._found(data) if upwards else data)
            if self._passes(browser, upwards):
                target.shutdown(socket.SHUT_WR)

    def _passes(self, browser: socket.socket, upwards: bool) -> bool:
        if self._down and not self._one_way:
            self._silent.add(browser)  # for ever: a part of what was sent is lost
        return browser not in self._silent and not (self._down and not upwards)

    def _found(self, data: bytes) -> bytes:
        """A request as the server finds it: without the prefix, or for another page if there is none."""
        if not self._prefix or not data.startswith(b"GET "):
            return data
        path = data.removeprefix(b"GET ")
        stripped = path.removeprefix(self._prefix)
        return b"GET " + (stripped if stripped != path else b"/outside" + path)


@contextmanager
def linked(url: str, prefix: str = "") -> Iterator[Link]:
    """A link to a server, served in a thread."""
    link = Link(url, prefix)
    threading.Thread(target=link.serve, daemon=True).start()
    try:
        yield link
    finally:
        link.close()
