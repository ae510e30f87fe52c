"""A table that is opened: its games in one thread, its server in another, and the links by which people sit down."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.language.speech import ACTS
from parlour.policies.llm.server.listening import ListeningServer
from parlour.policies.llm.server.protocol import Refused
from parlour.training.report.page import Page
from parlour.wrappers.text_actions import TextActions
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute

from parlour_table.coach import Coach
from parlour_table.live.boards import Board, Person
from parlour_table.live.games import Plan, TableGames
from parlour_table.live.settings import WATCHING, Keys, TableSettings
from parlour_table.live.sockets import Sockets
from parlour_table.live.waiting import EVERY_ADDRESS, LOOPBACK_NAMES, WaitingTable, is_loopback, origin, reachable
from parlour_table.server.limits import LimitedApp, failure, refusal
from parlour_table.server.listening import LimitedServer
from parlour_table.server.settings import Limits

_LOOK: Final = files("parlour_table.live") / "look"
SCRIPTS: Final = (
    "waiting_panel.js",
    "record_panel.js",
    "turn_panel.js",
    "board_panel.js",
    "ending_panel.js",
    "connection.js",
    "table.js",
)
"""The scripts of the page besides the shared ones, in the order in which they are joined."""
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
PAGE_POLICY: Final = "frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
"""Besides the page's own, which names its one script and its one style by their digests."""
REPLAY_POLICY: Final = f"sandbox allow-scripts allow-downloads allow-popups; {PAGE_POLICY}"
"""A replay runs apart from the table's page: it cannot read the keys that that keeps."""


class TableService:
    """What answers at a live table.

    Args:
        games: What is played.
        sockets: Make the WebSocket's handler.
        settings: The limits of the table.
    """

    def __init__(self, games: TableGames, sockets: Sockets, settings: TableSettings) -> None:
        self.settings, self.tally = Limits(), Counter[str]()
        self.closing = asyncio.Event()
        self.longest_message = 2 * settings.max_message  # those above the limit are told so, up to twice of it
        self._games, self._sockets = games, sockets

    def app(self) -> LimitedApp:
        """The routes, behind the limits."""
        routes = [
            Route("/", self._page),
            Route("/replay/{name}", self._replay),
            WebSocketRoute("/table", self._sockets.serve),
        ]
        handlers: Any = {HTTPException: self._refusal, Exception: failure}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        return LimitedApp(app, self.settings, self.tally)

    async def _page(self, request: Request) -> Response:
        return _html(table_page(), PAGE_POLICY)

    async def _replay(self, request: Request) -> Response:
        page = await run_in_threadpool(self._games.page, request.path_params["name"])
        if page is None:
            raise HTTPException(404, "there is no such replay")
        return _html(page, REPLAY_POLICY)

    async def _refusal(self, _request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        text = f"{error.detail}; accepted: the links that were printed when the table started"
        return refusal(Refused(error.status_code, text))


@cache
def table_page() -> str:
    """The page of a table, the same for every place: the key identifies the person."""
    return Page(
        "parlour: a table",
        scripts=[_LOOK / name for name in SCRIPTS],
        styles=[_LOOK / "table.css"],
        body=(_LOOK / "table.html").read_text("utf-8"),
        connects=True,
    ).render()


def _html(page: str, policy: str) -> HTMLResponse:
    return HTMLResponse(page, headers={**HEADERS, "Content-Security-Policy": policy})


__all__ = ["Keys", "OpenTable", "Plan", "keys_from"]

_FAREWELL: Final = 0.3
"""Seconds in which browsers learn why the table closes."""
_LEAVES: Final = 5.0
"""Seconds in which a player that thinks may come to its end when the table closes."""


def keys_from(people: tuple[int, ...], variable: str | None) -> Keys:
    """The keys of a table, from the secret in an environment variable if there is one. Raises `ParlourError`."""
    secret = None if variable is None else os.environ.get(variable)
    if variable is not None and not secret:
        accepted = "the name of a variable that is set"
        raise ParlourError(f"the environment holds no token in {variable!r}; accepted: {accepted}")
    return Keys(people, secret)


class _TableServer(LimitedServer):
    """Says at once that it ends, which takes a moment."""

    def __init__(self, served: TableService, tell: Callable[[str], None]) -> None:
        super().__init__(served)
        self._tell = tell

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._tell("closing the table")
        await super().shutdown(sockets)


class OpenTable:
    """A table at which people can sit down.

    Args:
        env: What `rollout.table` makes.
        players: For each seat, in order, its name in transcripts and its player; None for a person.
        plan: Which games are played.
        keys: Keys of the people's seats.
        settings: Clock and limits.
        host: Address to listen at.
        port: Port to listen at; 0 for a free one.
        tell: Called with a line when a game begins or ends.

    Raises:
        ParlourError: Host and port cannot be used.
    """

    def __init__(
        self,
        env: TextActions,
        players: Sequence[tuple[str, Any | None]],
        plan: Plan,
        keys: Keys,
        settings: TableSettings,
        host: str = "127.0.0.1",
        port: int = 0,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        base = env.game_env
        spoken = frozenset((*ACTS, *base.game.worded))
        people = [seat for seat, (_, player) in enumerate(players) if player is None]
        names = plan.names
        self.boards = {seat: Board(seat, base.text, spoken, alone=True, names=names) for seat in people}
        self.boards[WATCHING] = Board(WATCHING, base.text, spoken, alone=False, names=names)
        self.keys, self._agents = keys, [names.shown(agent) for agent in base.possible_agents]
        seated = [
            (name, self._person(base, seat, settings.clock, plan.coach) if player is None else player)
            for seat, (name, player) in enumerate(players)
        ]
        self.games = TableGames(env, seated, self.boards, plan, keys, settings, tell)
        begin_next, loopback = self.games.begin_next, is_loopback(host)
        sockets = Sockets(self.boards, keys, settings, begin_next, self._show_waiting, loopback=loopback)
        server = _TableServer(TableService(self.games, sockets, settings), tell)
        self._server = ListeningServer(server, host, port)
        self._nearest = LOOPBACK_NAMES[0] if host in EVERY_ADDRESS else host
        self.waiting = WaitingTable(
            base.spec.title,
            base.text.language,
            base.text.rules,
            tuple(self._agents),
            tuple(people),
            keys,
            origin(reachable(host), self._server.port),
        )
        self._thread = threading.Thread(target=self.games.run, args=(self._failed,), name="games", daemon=True)

    def _person(self, base: Any, seat: int, clock: float | None, coach: bool) -> Person:
        return Person(self.boards[seat], base.text, clock, Coach(base, seat) if coach else None)

    @property
    def url(self) -> str:
        """Where the page is."""
        return self._server.url

    def link(self, place: int) -> str:
        """The link of a person's seat, or of `settings.WATCHING`."""
        return self.waiting.link(place)

    @property
    def link_here(self) -> str:
        """The host's link for a browser of this machine."""
        return self.waiting.link(self.waiting.host).replace(self.waiting.url, origin(self._nearest, self._server.port))

    def links(self) -> Iterator[str]:
        """A line for each person, and one for all who watch."""
        width = max(map(len, (*self._agents, "to watch")))
        for place in self.boards:
            called = "to watch" if place == WATCHING else self._agents[place]
            yield f"{called:<{width}}  {self.link(place)}"

    def run(self) -> None:
        """Play and answer until the process is interrupted. Raises what ends the games before their time."""
        self._thread.start()
        try:
            self._server.run()
        except KeyboardInterrupt:
            pass  # how a table is closed
        finally:
            self._close()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Play and answer in threads of this process until the block ends. Raises as `run`."""
        self._thread.start()
        try:
            with self._server.in_thread("parlour table"):
                yield
        finally:
            self._close()

    def _show_waiting(self) -> None:
        """Somebody has come: all who are there see who is missing."""
        came = [place for place, board in self.boards.items() if board.come.is_set()]
        if not set(came).issuperset(self.waiting.people):
            for place, board in self.boards.items():
                board.wait(self.waiting.message(place, came, board.address))

    def _failed(self) -> None:
        time.sleep(_FAREWELL)
        self._server.stop()

    def _close(self) -> None:
        self.games.stop()
        self._thread.join(_LEAVES)
        if self.games.error is not None:
            raise self.games.error
