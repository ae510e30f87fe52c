"""The HTTP client under the `openai` SDK: the SDK's own, with one deadline for an answer as a whole.

The timeouts of HTTP clients count anew with each piece that arrives, so that a body which trickles in has none. Here the
whole body is read, errors included, before the SDK sees the answer; a body that breaks off thus falls under the SDK's
retries. This module imports the SDK, which takes a second or more; import it when it is needed.
"""

from __future__ import annotations

import time
from typing import Any

import openai


class Late(openai.OpenAIError):
    """An answer was not complete at its deadline. Being the SDK's own kind, it passes through the SDK's retries."""

    def __init__(self, retries: int) -> None:
        super().__init__("the answer was not complete in time")
        self.retries = retries


class BoundedClient(openai.DefaultHttpxClient):
    """Reads each answer whole and in time.

    Args:
        seconds: How long an answer may take, from sending the request to the end of the body. It is given up at the
            first piece that arrives later, and no piece is waited for longer than that.

    Raises:
        Late: From `send`.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(timeout=seconds)
        self._seconds = seconds

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        deadline = time.monotonic() + self._seconds
        response = super().send(request, stream=True, **options)
        pieces = []
        try:
            for piece in response.iter_raw():
                pieces.append(piece)
                if time.monotonic() > deadline:
                    raise Late(retries_of(request))
        finally:
            response.close()
        # the pieces are still compressed; a response made from them unpacks them by the headers
        return type(response)(
            response.status_code, headers=response.headers, content=b"".join(pieces), request=response.request
        )


def retries_of(request: Any) -> int:
    """How many times the SDK had sent a request before; it says so in a header."""
    return int(request.headers.get("x-stainless-retry-count", 0))
