"""Replies that go wrong on their way, on purpose: bodies that are no JSON, say they are packed, break off or trickle in.

What each kind is stands in `fault_injection.FAULTS`. A body is spoiled as bytes, whatever it says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from fastapi.responses import Response, StreamingResponse
from parlour.policies.llm.server.connections import CONNECTION, LimitedConnection
from starlette.types import Scope

PIECES: Final = 20
"""In how many pieces a slow reply arrives."""
_PAGE: Final = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
_MOMENT: Final = 0.005
"""Seconds for the first half to get through before the connection ends."""

Pause = Callable[[float], Awaitable[None]]


def broken(body: bytes, media_type: str, fault: str, scope: Scope, pause: Pause, hang: float) -> Response:
    """A reply under a fault of `fault_injection.OF_BODY`.

    Args:
        body: What it would have been.
        media_type: Of what kind.
        fault: What goes wrong.
        scope: Of the request, which knows its connection.
        pause: Waits for so many seconds, unless the server ends.
        hang: How long a slow reply takes, in seconds.
    """
    match fault:
        case "html":
            return Response(_PAGE, media_type="text/html")
        case "gzip":
            return Response(body, media_type=media_type, headers={"Content-Encoding": "gzip"})
        case "utf16":
            return Response(body.decode().encode("utf-16"), media_type=media_type)
        case "slow":
            return StreamingResponse(_slowly(body, pause, hang), media_type=media_type)
    connection: LimitedConnection = scope["state"][CONNECTION]
    length = {"Content-Length": str(len(body))} if fault == "reset" else {}
    half = _half(body, pause, connection, reset=fault == "reset")
    return StreamingResponse(half, media_type=media_type, headers=length)


async def _slowly(body: bytes, pause: Pause, hang: float) -> AsyncIterator[bytes]:
    size = -(-len(body) // PIECES)
    for start in range(0, len(body), size):
        yield body[start : start + size]
        await pause(hang / PIECES)


async def _half(body: bytes, pause: Pause, connection: LimitedConnection, *, reset: bool) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    await pause(_MOMENT)
    connection.end_early(reset=reset)
