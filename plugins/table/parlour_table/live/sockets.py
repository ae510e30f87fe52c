"""The WebSocket of a browser: its origin and key are checked, its messages limited and read, a board's messages sent.

An error is one message of type `refused`, and the connection stays, or `gone`, and it ends. Codes of the
end are those for applications (RFC 6455, 7.4.2); browsers come back by themselves after all others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from parlour.envs.core import ParlourError
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from parlour_table.live import messages
from parlour_table.live.boards import Board, Given
from parlour_table.live.messages import Message
from parlour_table.live.settings import WATCHING, Keys, TableSettings
from parlour_table.live.waiting import LOOPBACK_NAMES

ENDS_FOR_GOOD: Final = 4000
"""The code after which a browser does not come back by itself."""
GOES_AWAY: Final = 1001
"""The code of the end of a connection whose page has another one ("going away"); a page that lost both comes back."""
PING_RATE: Final = 0.5
"""Pings that a page may send each second besides its messages, which is twice of what it does."""
MOST_UNSENT: Final = 10_000
"""Messages that wait for a browser which does not take them; then its connection ends, and it may come back."""
_ENDS: Final = {"gone": ENDS_FOR_GOOD, "replaced": GOES_AWAY}
"""Last messages -> the code of the end."""
_STARTS: Final = "this link is not one of this table"
NO_KEY: Final = f"{_STARTS}; accepted: one of the links that were printed when the table started"


def is_own_origin(origin: str | None, host: str | None, *, loopback: bool) -> bool:
    """Whether a page of this server opened a connection (RFC 6455, 10.2).

    Args:
        origin: The header `Origin`.
        host: The header `Host`.
        loopback: The server answers this machine alone: then the host has one of its names, whatever a name server says.

    >>> is_own_origin("http://127.0.0.1:8018", "127.0.0.1:8018", loopback=True)
    True
    >>> is_own_origin("http://elsewhere.example", "127.0.0.1:8018", loopback=True)
    False
    >>> is_own_origin("http://elsewhere.example:8018", "elsewhere.example:8018", loopback=True)
    False
    """
    if origin is None or host is None:
        return False
    try:
        from_page, name = urlsplit(origin), urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    own = from_page.scheme in ("http", "https") and from_page.netloc == host
    return own and (not loopback or name in LOOPBACK_NAMES)


class MessageRate:
    """How many messages a browser may still send: a bucket that is filled steadily.

    Args:
        rate: Messages a second.
        burst: What the bucket holds.
        now: The time in seconds.
    """

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self._rate, self._burst, self._left, self._at = rate, burst, float(burst), now

    def take(self, now: float) -> bool:
        """One message more; False if it is one too many."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        self._left -= 1
        return self._left >= 0


class Sockets:
    """The connections of a table.

    Args:
        boards: Place -> its board.
        keys: Keys of the places.
        settings: The limits.
        begin_next: Called with the number of the game after which the next is wanted.
        came: Called when a browser has taken its place.
        loopback: As of `is_own_origin`.
    """

    def __init__(
        self,
        boards: Mapping[int, Board],
        keys: Keys,
        settings: TableSettings,
        begin_next: Callable[[int], None],
        came: Callable[[], None],
        *,
        loopback: bool,
    ) -> None:
        self.boards, self.keys, self.settings, self.loopback = boards, keys, settings, loopback
        self._begin_next, self._came = begin_next, came

    async def serve(self, socket: WebSocket) -> None:
        """One connection, from its beginning to its end."""
        if not is_own_origin(socket.headers.get("origin"), socket.headers.get("host"), loopback=self.loopback):
            await socket.close()  # before it is accepted: status 403
            return
        await socket.accept()
        browser = _Browser(socket, self.settings)
        try:
            board = await self._seated(browser)
            if board is not None:
                await self._talk(browser, board)
        except WebSocketDisconnect:
            return

    async def _seated(self, browser: _Browser) -> Board | None:
        """The board that the first message opens, which the browser has joined; None for a connection that has ended."""
        try:
            async with asyncio.timeout(self.settings.sit_timeout):
                first = messages.read(await browser.heard())
        except TimeoutError:
            await browser.end(f"no key came; accepted: within {self.settings.sit_timeout:g} seconds")
            return None
        except ParlourError as error:
            await browser.end(str(error))
            return None
        place = self.keys.place(first.key) if isinstance(first, messages.Sit) else None
        if place is None or not isinstance(first, messages.Sit):
            await browser.end(NO_KEY)
            return None
        board, most = self.boards[place], self.settings.max_watchers
        own = f"{browser.origin}/"
        if not board.join(browser.put, most, first.page, first.address if first.address.startswith(own) else ""):
            await browser.end(f"too many watchers; accepted: {most} at once")
            return None
        self._came()
        return board

    async def _talk(self, browser: _Browser, board: Board) -> None:
        """Send what the board shows, and take what the browser says, until one of them ends."""
        sends = asyncio.ensure_future(browser.send_all())
        hears = asyncio.ensure_future(self._hear(browser, board))
        try:
            await asyncio.wait((sends, hears), return_when=asyncio.FIRST_COMPLETED)
        finally:
            board.leave(browser.put)
            for task in (sends, hears):
                task.cancel()
            await asyncio.gather(sends, hears, return_exceptions=True)

    async def _hear(self, browser: _Browser, board: Board) -> None:
        """Take the messages of a browser. Returns, or raises `WebSocketDisconnect`, at the end of its connection."""
        while True:
            try:
                message = messages.read(await browser.heard())
                await self._take(message, board, browser)
            except TooMany as error:
                browser.put(messages.gone(str(error)))
                await asyncio.sleep(self.settings.sit_timeout)  # `send_all` ends the connection meanwhile
                return
            except ParlourError as error:
                browser.put(messages.refused(error))

    async def _take(self, message: messages.FromBrowser, board: Board, browser: _Browser) -> None:
        if isinstance(message, messages.Ping):
            browser.put(messages.PONG)
            return
        if isinstance(message, messages.Sit):
            raise ParlourError("a key is taken once; accepted: moves")
        if board.place == WATCHING:
            raise ParlourError("who watches makes no moves; accepted: the link of a seat")
        if isinstance(message, messages.Next):
            self._begin_next(message.game)
        elif isinstance(message, messages.Typed):
            browser.put(await run_in_threadpool(board.reading, message.turn, message.words))
        else:
            await self._move(message, board, browser)

    async def _move(self, made: messages.MoveMade, board: Board, browser: _Browser) -> None:
        try:
            taken = await run_in_threadpool(board.answer, made.turn, Given(made.option, made.words))
        except ParlourError as error:
            browser.put(messages.refused(error, made.turn))
            return
        if taken is not None:
            browser.put(taken)


class TooMany(ParlourError):  # noqa: N818 - named for what happened
    """A browser sends more messages than it may."""


class _Browser:
    """One connection: what is sent waits in a queue, what comes in is limited."""

    def __init__(self, socket: WebSocket, settings: TableSettings) -> None:
        self._socket, self._settings = socket, settings
        self.origin = str(socket.headers.get("origin"))
        """That of the page, which is one of this server's (`is_own_origin`)."""
        self._loop = asyncio.get_running_loop()
        self._unsent: asyncio.Queue[Message] = asyncio.Queue()
        self._rate = MessageRate(settings.message_rate + PING_RATE, settings.message_burst, self._loop.time())

    def put(self, message: Message) -> None:
        """Send a message, from whatever thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._unsent.put_nowait, message)

    async def heard(self) -> str:
        """The next message. Raises `TooMany`, and `ParlourError` for one that is too long or no text."""
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", 1005))
        if not self._rate.take(self._loop.time()):
            rate = f"up to {self._settings.message_rate:g} a second and {self._settings.message_burst} at once"
            raise TooMany(f"too many messages; accepted: {rate}")
        text = received.get("text")
        if text is None:
            raise ParlourError("a message in bytes is not accepted; accepted: text")
        size, most = len(text.encode()), self._settings.max_message
        if size > most:
            raise ParlourError(f"a message of {size} bytes is not accepted; accepted: up to {most}")
        return str(text)

    async def send_all(self) -> None:
        """Send what is put, in order, until the last message."""
        while True:
            message = await self._unsent.get()
            if self._unsent.qsize() > MOST_UNSENT:
                await self._socket.close(1013)
                return
            await self._socket.send_text(json.dumps(message))
            if (code := _ENDS.get(message["type"])) is not None:
                await self._socket.close(code)
                return

    async def end(self, why: str) -> None:
        """Say why, and end the connection."""
        await self._socket.send_text(json.dumps(messages.gone(why)))
        await self._socket.close(ENDS_FOR_GOOD)
