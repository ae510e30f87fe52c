"""A server behind the limits of a table's, which answers bodies of JSON."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from parlour.policies.llm.server.listening import LOOPBACK, ListeningServer
from parlour.policies.llm.server.protocol import Refused
from parlour_table.server.limits import LimitedApp, failure, refusal
from parlour_table.server.listening import LimitedServer
from parlour_table.server.settings import Limits
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CHAT = "/chat"


class Answering:
    """Answers an object that is not empty, whatever it says."""

    longest_message = 1000

    def __init__(self, settings: Limits, latency: float, length: int, tally: Counter[str]) -> None:
        self.settings, self.tally, self.closing = settings, tally, asyncio.Event()
        self._latency, self._length = latency, length

    def app(self) -> LimitedApp:
        handlers: Any = {Refused: self._refused, HTTPException: self._missing, Exception: failure}
        app = Starlette(routes=[Route(CHAT, self._answer, methods=["POST"])], exception_handlers=handlers)
        return LimitedApp(app, self.settings, self.tally)

    async def _answer(self, request: Request) -> JSONResponse:
        try:
            said = json.loads(await request.body())
        except ValueError:
            said = {}
        if not said:
            raise Refused(400, "there is nothing; accepted: JSON")
        self.tally["chat"] += 1
        await asyncio.sleep(self._latency)
        return JSONResponse({"text": "a" + " " * self._length})

    async def _refused(self, _: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Refused)
        return refusal(error)

    async def _missing(self, _: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return refusal(Refused(error.status_code, error.detail))


@contextmanager
def serving(
    *, latency: float = 0.0, length: int = 0, tally: Counter[str] | None = None, **limits: Any
) -> Iterator[str]:
    """Such a server in a thread; its address."""
    made = Answering(Limits(**limits), latency, length, Counter() if tally is None else tally)
    server = ListeningServer(LimitedServer(made), LOOPBACK, 0)
    with server.in_thread("limited"):
        yield server.url
