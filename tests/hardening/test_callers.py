"""Requests to a server of seats, over real sockets: from other hosts and pages, of 100 MB, without an end. Last, a server without limits.

What `parlour mcp` and `parlour openenv` share is served, around an application that echoes (`training/harnesses/listening.py`). What callers
may know of deals, and how many games they may begin, is tested in `test_sessions.py`.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Final

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
import uvicorn
from parlour.training.harnesses.listening import GuardedApp, SeatServer, listening
from starlette.requests import Request
from starlette.responses import Response

pytestmark = pytest.mark.nightly

SOON: Final = 6.0
"""Seconds for an answer."""
PATIENCE: Final = 25.0
"""Seconds after which a client that does not come to an end is hung up on."""


@contextmanager
def serving(server: Any) -> Iterator[str]:
    """A server of uvicorn's in a thread; its address."""
    with listening("127.0.0.1", 0) as own:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
        thread.start()
        try:
            yield f"127.0.0.1:{own.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def foreign_host(url: str) -> None:
    """A page that reaches the server under a name of its own."""
    assert 400 <= status_of(url, head("Host: attacker.example", "Content-Length: 2") + b"{}") < 500, "is answered"


def foreign_origin(url: str) -> None:
    """A page of another server."""
    asked = head(f"Host: {url}", "Origin: https://attacker.example", "Content-Length: 2") + b"{}"
    assert 400 <= status_of(url, asked) < 500, "is answered"


def long_body(url: str) -> None:
    """A body of 100 MB is not read to its end."""
    part = b"x" * 200_000
    with connected(url) as line:
        with suppress(OSError):
            line.sendall(head(f"Host: {url}", "Content-Length: 100000000"))
            assert any(line.sendall(part) or heard(line) for _ in range(500)), "a body of 100 MB is read"
        assert len(received(line)) <= 2000, "a long body gets a long answer"


def unfinished_bodies(url: str) -> None:
    """Bodies that do not come to their ends, of any length."""
    leave_unfinished(url, [head(f"Host: {url}", f"Content-Length: {10**size}") + b"{" for size in range(2, 10)])


def unfinished_heads(url: str) -> None:
    """Heads that do not come to their ends."""
    leave_unfinished(url, [b"", head(f"Host: {url}")[:-2]])


REQUESTS: Final = (foreign_host, foreign_origin, long_body, unfinished_bodies, unfinished_heads)


@pytest.mark.parametrize("sent", REQUESTS)
def test_a_server_keeps_its_limits_on_requests(sent: Callable[[str], None]) -> None:
    async def echo(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await Response(await Request(scope, receive).body())(scope, receive, send)

    with serving(SeatServer(GuardedApp(echo, (), lambda reason: {"detail": reason}), 4)) as url:
        sent(url)


@pytest.mark.parametrize(
    ("sent", "what"),
    [
        (foreign_host, "is answered"),
        (foreign_origin, "is answered"),
        (long_body, "a body of 100 MB is read"),
        (unfinished_bodies, "a request that does not come to its end stays open"),
        (unfinished_heads, "a request that does not come to its end stays open"),
    ],
)
def test_a_server_without_limits_on_requests_is_found(sent, what, monkeypatch):
    async def take(scope: Any, receive: Any, send: Any) -> None:
        message = {"more_body": True}
        while message.get("more_body") and message.get("type") != "http.disconnect":
            message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    monkeypatch.setattr(f"{__name__}.PATIENCE", 1.0)
    config = uvicorn.Config(take, lifespan="off", log_level="critical", timeout_graceful_shutdown=1)
    with serving(uvicorn.Server(config)) as url, pytest.raises(AssertionError, match=what):
        sent(url)


def leave_unfinished(url: str, beginnings: Sequence[bytes]) -> None:
    """Begin requests; the server closes each connection in time."""
    with ExitStack() as stack:
        lines = [stack.enter_context(connected(url)) for _ in beginnings]
        for line, beginning in zip(lines, beginnings, strict=True):
            line.sendall(beginning)
        end = time.monotonic() + PATIENCE
        for line in lines:
            assert ended(line, end - time.monotonic()), "a request that does not come to its end stays open"


def head(*lines: str) -> bytes:
    """The head of a request."""
    return "\r\n".join(("POST / HTTP/1.1", *lines, "Content-Type: application/json", "", "")).encode()


def connected(url: str) -> socket.socket:
    """A connection."""
    host, _, port = url.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=SOON)


def status_of(url: str, said: bytes) -> int:
    """Status of the answer; 0 for none."""
    with connected(url) as line:
        line.sendall(said)
        answer = received(line)
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def heard(line: socket.socket) -> bool:
    """Whether something has come, or the connection has ended."""
    line.setblocking(False)
    try:
        line.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    finally:
        line.settimeout(SOON)
    return True


def received(line: socket.socket) -> bytes:
    """What comes, until the end of an answer."""
    answer = b""
    with suppress(OSError):
        while piece := line.recv(65536):
            answer += piece
            line.settimeout(0.3 if b"\r\n\r\n" in answer else SOON)
    return answer


def ended(line: socket.socket, seconds: float) -> bool:
    """Whether the server closes the connection in time."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        line.settimeout(left)
        try:
            if not line.recv(65536):
                return True
        except TimeoutError:
            return False
        except ConnectionError:
            return True
    return False
