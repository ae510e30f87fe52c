"""The HTTP client under the `openai` SDK: the SDK's own, with one deadline for an answer as a whole.

The timeouts of HTTP clients count again with each piece that arrives, so that a body which trickles in has none. Here the
whole body is read, errors included, before the SDK sees the answer. The client's pool has no limit of its own: it opens as
many connections as there are calls in flight, and keeps them. This module imports the SDK, which takes a second or more;
import it when it is needed.
"""

from __future__ import annotations

import time
from typing import Any, Final

import openai

AZURE_HEADER: Final = "api-key"
_UNLIMITED: Final = type(openai.DEFAULT_CONNECTION_LIMITS)(max_connections=None, max_keepalive_connections=None)


CONNECT_SECONDS: Final = 4.0
"""Longest wait for a connection: a server that cannot be reached is distinguished from a slow server."""


class Late(openai.OpenAIError):
    """An answer was not complete at its deadline. Being the SDK's own kind, it passes through the SDK."""


class BoundedClient(openai.DefaultHttpxClient):
    """Reads each answer whole and in time.

    Args:
        seconds: How long an answer may take, from sending the request to the end of the body. It is given up at the
            first piece that arrives later, and no piece is waited for longer than that.
        azure: Send the key in the header `api-key` instead of `Authorization`.

    Raises:
        Late: From `send`.
    """

    def __init__(self, seconds: float, *, azure: bool = False) -> None:
        super().__init__(timeout=timeout(seconds), limits=_UNLIMITED)
        self._seconds, self._azure = seconds, azure
        self.answered = False
        """Whether an answer has ever begun, whatever became of it."""

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        if self._azure and "authorization" in request.headers:
            request.headers[AZURE_HEADER] = request.headers.pop("authorization").partition(" ")[2]
        deadline = time.monotonic() + self._seconds
        response = super().send(request, stream=True, **options)
        self.answered = True
        pieces = []
        try:
            for piece in response.iter_raw():
                pieces.append(piece)
                if time.monotonic() > deadline:
                    raise Late("the answer was not complete in time")
        finally:
            response.close()
        # the pieces are still compressed; a response made from them unpacks them by the headers
        return type(response)(
            response.status_code, headers=response.headers, content=b"".join(pieces), request=response.request
        )


def timeout(seconds: float) -> Any:
    """The timeouts of a call, for the SDK: that of an answer, and that of the connection, at most `CONNECT_SECONDS`."""
    return openai.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def is_unreached(error: BaseException) -> bool:
    """Whether no connection was made in time. The class is httpx's or httpx2's, as the version of the SDK has it."""
    return type(error.__cause__).__name__ == "ConnectTimeout"
