"""The application of a live table: the page, the WebSocket, and the replays of games that are over.

It answers behind the limits of `parlour serve` (`parlour.policies.llm.server.limits`). Only its own scripts run: every
answer has a Content-Security-Policy (https://www.w3.org/TR/CSP3/). Needs the extra `serve`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, WebSocket
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, Response
from parlour.policies.llm.server.limits import LimitedApp, refusal
from parlour.policies.llm.server.protocol import Refused
from parlour.policies.llm.server.settings import ServerSettings
from parlour.training.play.live_table.games import TableGames
from parlour.training.play.live_table.settings import TableSettings
from parlour.training.play.live_table.sockets import Sockets
from parlour.training.results.pages.page import Page, render
from parlour.training.results.replay_page.write import replay_html
from starlette.exceptions import HTTPException
from starlette.requests import Request

_LOOK: Final = files("parlour.training.play.live_table") / "look"
SCRIPTS: Final = ("record_panel.js", "turn_panel.js", "ending_panel.js", "connection.js", "table.js")
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
        self.settings, self.tally = ServerSettings(), Counter[str]()
        self.closing = asyncio.Event()
        self.longest_message = 2 * settings.max_message  # those above the limit are told so, up to twice of it
        self._games, self._sockets = games, sockets

    def app(self) -> LimitedApp:
        """The routes, behind the limits."""
        app = FastAPI(title="parlour table", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
        app.add_api_route("/", self._page, methods=["GET"])
        app.add_api_route("/replay/{name}", self._replay, methods=["GET"])
        app.add_api_websocket_route("/table", self._socket)
        app.add_exception_handler(HTTPException, self._refusal)
        return LimitedApp(app, self.settings, self.tally, lambda _: None)

    async def _page(self) -> Response:
        return _html(table_page(), PAGE_POLICY)

    async def _replay(self, name: str) -> Response:
        found = self._games.replays.get(name)
        if found is None:
            raise HTTPException(404, "there is no such replay")
        page = await run_in_threadpool(lambda: replay_html(self._games.transcript(found), found.name))
        return _html(page, REPLAY_POLICY)

    async def _socket(self, socket: WebSocket) -> None:
        await self._sockets.serve(socket)

    async def _refusal(self, _request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        told = f"{error.detail}; accepted: the links that were printed when the table started"
        return refusal(Refused(error.status_code, told))


@cache
def table_page() -> str:
    """The page of a table, the same for every place: who somebody is stands in the key."""
    return render(
        Page(
            "parlour: a table",
            scripts=[_LOOK / name for name in SCRIPTS],
            styles=[_LOOK / "table.css"],
            body=(_LOOK / "table.html").read_text("utf-8"),
            connects=True,
        )
    )


def _html(page: str, policy: str) -> HTMLResponse:
    return HTMLResponse(page, headers={**HEADERS, "Content-Security-Policy": policy})
