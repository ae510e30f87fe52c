"""The connection of an AIWolf agent: lines bounded in length and limited in time, each read as the answer to its own request.

An agent answers its requests in order. So a line that comes after its time belongs to the request that was given up, and is thrown
away. An agent may also never answer a request. Then it is asked for its name again: the lines of earlier requests come before the name.
"""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import Final

LONGEST_LINE: Final = 64 * 1024
"""Bytes of an answer that are read; a longer one is thrown away up to its end."""
NAME: Final = "NAME"
_READ: Final = 65_536
_MOST_EARLY: Final = 64
"""How often lines that nobody waits for are read before a request; an agent that has sent more is cut off."""
_NO_FIELDS: Final = dict.fromkeys(("gameInfo", "gameSetting", "talkHistory", "whisperHistory"), "null")


class NoAnswer(Exception):  # noqa: N818 - named for what happened
    """An agent gave no line that can be used; the message says why."""


class TooLate(NoAnswer):
    """The time limit has passed."""


class AgentConnection:
    """The connection of one agent; a lost connection stays lost.

    Args:
        sock: Connected; it is closed with the connection.
        time_limit: Seconds for an answer.
    """

    def __init__(self, sock: socket.socket, time_limit: float) -> None:
        self._sock, self._time_limit = sock, time_limit
        self._buffer = bytearray()
        self._owed: deque[str] = deque()
        """Requests whose answers have not come, the oldest first."""
        self.name = ""
        """The line with which the agent answers NAME; empty: none is known."""
        self.lost = False

    def tell(self, request: str, **fields: str) -> None:
        """Send a request without an answer; the fields are JSON. A lost connection hears nothing."""
        if self.lost:
            return
        try:
            self._sock.settimeout(self._time_limit)
            self._sock.sendall(_packet(request, fields).encode() + b"\n")
        except OSError:
            self.close()

    def ask(self, request: str, **fields: str) -> None:
        """Send a request that has an answer; the fields are JSON. Lines that came unasked or too late are dropped first."""
        self._drop_early()
        if self._owed and self.name:
            self._send(NAME, {})
        self._send(request, fields)

    def _send(self, request: str, fields: dict[str, str]) -> None:
        self.tell(request, **fields)
        self._owed.append(request)

    def answer(self, until: float | None = None) -> str:
        """The answer to the last request, without its line end.

        Args:
            until: When its time ends, by `time.monotonic`; None: the time limit begins now.

        Raises:
            TooLate: There is none in time.
            NoAnswer: It is too long or no UTF-8, or the connection is lost.
        """
        ends = monotonic() + self._time_limit if until is None else until
        line = self._line(ends)
        while not self._settles_last(line):
            line = self._line(ends)
        if line is None:
            raise NoAnswer("too long")
        try:
            return line.decode().rstrip("\r")
        except UnicodeDecodeError:
            raise NoAnswer("no UTF-8") from None

    def _settles_last(self, line: bytes | None) -> bool:
        """Whether a line answers the last request; else it answers an earlier one, which is no longer owed."""
        is_name = line is not None and self.name and line.strip() == self.name.encode()
        if is_name and NAME in self._owed:
            while self._owed.popleft() != NAME:
                pass
        else:
            self._owed.popleft()
        return not self._owed

    def _line(self, until: float) -> bytes | None:
        """The next line; None for one that is too long."""
        too_long = False
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST_LINE:
                too_long = True
                self._buffer.clear()
            self._receive(until)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return None if too_long or len(line) > LONGEST_LINE else line

    def _receive(self, until: float) -> None:
        left = until - monotonic()
        if self.lost:
            raise NoAnswer("connection lost")
        if left <= 0:
            raise TooLate("too late")
        try:
            self._sock.settimeout(left)
            got = self._sock.recv(_READ)
        except TimeoutError:
            raise TooLate("too late") from None
        except OSError:
            got = b""
        if not got:
            self.close()
            raise NoAnswer("connection lost")
        self._buffer += got

    def _drop_early(self) -> None:
        """Drop what has come while nobody waited: the late answers that are owed, and then everything."""
        if not self.lost:
            self._receive_early()
        while self._owed and (end := self._buffer.find(b"\n")) >= 0:
            self._settles_last(bytes(self._buffer[:end]))
            del self._buffer[: end + 1]
        if not self._owed:
            self._buffer.clear()

    def _receive_early(self) -> None:
        try:
            self._sock.setblocking(False)
            for _ in range(_MOST_EARLY):
                got = self._sock.recv(_READ)
                if not got:
                    break
                self._buffer += got
            self.close()
        except BlockingIOError:
            return
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the connection: it is lost."""
        self.lost = True
        with suppress(OSError):  # it may be closed on the other side
            self._sock.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for an answer
        self._sock.close()


def _packet(request: str, given: dict[str, str]) -> str:
    """A packet as a line; `given` is JSON."""
    fields = {**_NO_FIELDS, **given}
    return f'{{"request":"{request}",' + ",".join([f'"{name}":{value}' for name, value in fields.items()]) + "}"
