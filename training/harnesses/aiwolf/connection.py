"""Lines to and from one connected agent: bounded in length, limited in time, and a lost connection stays lost."""

from __future__ import annotations

import socket
from time import monotonic
from typing import Final

LONGEST_LINE: Final = 64 * 1024
"""Bytes of an answer that are read; a longer one is thrown away up to its end."""
_READ: Final = 65_536
_MOST_EARLY: Final = 64
"""How often unasked lines are read before a request; an agent that has sent more is cut off."""


class NoAnswer(Exception):  # noqa: N818 - named for what happened
    """An agent gave no line that can be used; the message says why."""


class AgentConnection:
    """The connection of one agent.

    Args:
        sock: Connected; it is closed with the connection.
        time_limit: Seconds for an answer.
    """

    def __init__(self, sock: socket.socket, time_limit: float) -> None:
        self._sock, self._time_limit = sock, time_limit
        self._buffer = bytearray()
        self.lost = False

    def tell(self, packet: str) -> None:
        """Send a line without an answer. A lost connection hears nothing."""
        if self.lost:
            return
        try:
            self._sock.settimeout(self._time_limit)
            self._sock.sendall(packet.encode() + b"\n")
        except OSError:
            self.close()

    def ask(self, packet: str) -> None:
        """Send a line that has an answer. Lines that came unasked or too late are dropped first."""
        self._drop_early()
        self.tell(packet)

    def answer(self) -> str:
        """The answer to the line that was sent, without its line end. The time limit begins now.

        Raises:
            NoAnswer: There is none in time, it is too long or no UTF-8, or the connection is lost.
        """
        line = self._line(monotonic() + self._time_limit)
        try:
            return line.decode().rstrip("\r")
        except UnicodeDecodeError:
            raise NoAnswer("no UTF-8") from None

    def _line(self, until: float) -> bytes:
        too_long = False
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST_LINE:
                too_long = True
                self._buffer.clear()
            self._receive(until)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        if too_long or len(line) > LONGEST_LINE:
            raise NoAnswer("too long")
        return line

    def _receive(self, until: float) -> None:
        left = until - monotonic()
        if self.lost:
            raise NoAnswer("connection lost")
        if left <= 0:
            raise NoAnswer("too late")
        try:
            self._sock.settimeout(left)
            got = self._sock.recv(_READ)
        except TimeoutError:
            raise NoAnswer("too late") from None
        except OSError:
            got = b""
        if not got:
            self.close()
            raise NoAnswer("connection lost")
        self._buffer += got

    def _drop_early(self) -> None:
        """Forget what has come without being asked."""
        self._buffer.clear()
        if self.lost:
            return
        try:
            self._sock.setblocking(False)
            for _ in range(_MOST_EARLY):
                if not self._sock.recv(_READ):
                    break
            self.close()
        except BlockingIOError:
            return
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the connection: it is lost."""
        self.lost = True
        self._sock.close()
