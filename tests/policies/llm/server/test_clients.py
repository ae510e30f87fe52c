"""Clients of `parlour serve endpoint` that leave, send what is no request, or ask for what is not there."""

from __future__ import annotations

import json
import logging
import re
import socket
import struct
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from pydantic import ValidationError

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
from parlour.policies.base import Policy
from parlour.policies.llm.server.app import ServedPolicy, serving
from parlour.policies.llm.server.protocol import ChatBody, Refused, parsed
from parlour.policies.llm.server.settings import REMEMBERED, FaultDraw

HELLO = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
KEY = "sk-this-is-only-a-test-0123456789"
CHAT = "/v1/chat/completions"


def head(*lines: str, target: str = f"POST {CHAT} HTTP/1.1", host: str = "Host: x") -> bytes:
    return "\r\n".join((target, *((host,) if host else ()), *lines, "", "")).encode()


def posted(body: bytes = HELLO, *lines: str) -> bytes:
    return head(f"Content-Length: {len(body)}", *lines) + body


class Long(Policy):
    """Says what is more than two ends of a connection hold for one another."""

    name, wants = "long", "text"

    def act(self, observation, info):
        return "a" + " " * 20_000_000


LONG = ServedPolicy("long", Long())


class Line:
    """A connection that says what it is told to say, and no more."""

    def __init__(self, url: str, receive_buffer: int | None = None) -> None:
        address = urllib.parse.urlsplit(url)
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20)
        self.socket.connect((address.hostname, address.port))

    def say(self, *pieces: bytes) -> Line:
        for piece in pieces:
            self.socket.sendall(piece)
        return self

    def reply(self) -> tuple[int, dict]:
        """Status and body of the next reply, not a byte further."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self._received(1)
        length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
        return int(head.split()[1]), json.loads(self._received(length))

    def _received(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            piece = self.socket.recv(size - len(got))
            assert piece, f"the connection ended after {got!r}"
            got += piece
        return got

    def refusal(self) -> tuple[int, str]:
        status, data = self.reply()
        assert set(data["error"]) == {"message", "type", "param", "code"}
        assert "\n" not in data["error"]["message"]
        return status, data["error"]["message"]

    def ended(self) -> bool:
        """Whether the server closes the connection; what it says before that is not looked at."""
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            return False
        except ConnectionError:
            return True
        return True


@pytest.fixture
def server():
    """`server(**settings)`: the address of a server that runs until the test is over."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(serving(**settings))


@pytest.fixture
def line():
    """`line(url)`: a connection that is closed when the test is over."""
    with ExitStack() as stack:

        def connect(url: str, **options) -> Line:
            made = Line(url, **options)
            stack.callback(made.socket.close)
            return made

        yield connect


@pytest.fixture(scope="module")
def plain():
    with serving() as url:
        yield url


def until(met: Callable[[], object]) -> None:
    """Wait for what another thread does, ten seconds at most."""
    began = time.monotonic()
    while not met() and time.monotonic() - began < 10:
        time.sleep(0.02)
    assert met()


@pytest.mark.parametrize("body", ["Content-Length: 300000000", "Transfer-Encoding: chunked"])
def test_without_the_key_nothing_is_read(server, line, body):
    url = server(key=KEY)
    assert line(url).say(head(body)).refusal()[0] == 401
    assert line(url).say(head(target="GET /v1/models HTTP/1.1")).refusal()[0] == 401
    assert line(url).say(posted(HELLO, f"Authorization: Bearer {KEY}")).reply()[0] == 200


def test_a_server_ends_at_once_whoever_keeps_it_waiting(line):
    """Half a head, half a body, a reply that nobody reads."""
    with serving(policy=LONG) as url:
        line(url).say(head()[:-2])
        line(url).say(head("Content-Length: 100") + b"{")
        reader = line(url, receive_buffer=4096)
        reader.say(posted())
        assert reader.socket.recv(12) == b"HTTP/1.1 200"
        began = time.monotonic()
    assert time.monotonic() - began < 10  # the shortest limit is 10 seconds, and it is not what ends them


def test_nobody_waits_for_a_client_that_has_gone(server, line):
    """The completion takes 30 seconds; who asked for it has gone, and so has the request."""
    tally = Counter()
    url = server(latency=30.0, tally=tally)
    line(url).say(posted()).socket.close()
    until(lambda: tally["gone"])
    assert tally == {"chat": 1, "gone": 1}


@pytest.mark.parametrize("fault", ["reset", "chunks", "slow", "timeout"])
def test_who_leaves_in_the_middle_of_a_fault_is_no_error(server, line, fault):
    """Twenty that hang up at once, some before and some after the fault."""
    url = server(faults={fault: 1.0}, hang=0.05)
    for k in range(20):
        connection = line(url).say(posted())
        time.sleep(0.001 * k)
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.socket.close()
    assert line(url).say(head(target="GET /v1/models HTTP/1.1")).reply()[0] == 200


def test_requests_in_a_row_are_answered_in_order(plain, line):
    connection = line(plain).say(posted() + posted() + head("Content-Length: 2") + b"{}")
    assert [connection.reply()[0] for _ in range(3)] == [200, 200, 400]


ROUTES = [
    ("POST", "/v1/models", 405),
    ("DELETE", "/v1/models/heuristics", 405),
    ("HELLO", CHAT, 405),
    ("OPTIONS", "*", 404),
    ("CONNECT", "x:80", 404),
    ("GET", "/v1/../../etc/passwd", 404),
    ("GET", "http://elsewhere/v1/models", 404),
    ("GET", "/v1/models/%0d%0aX%3A%20y", 404),
]


@pytest.mark.parametrize(("method", "target", "status"), ROUTES, ids=[f"{m} {t}" for m, t, _ in ROUTES])
def test_unknown_routes_and_methods_are_refused(plain, line, method, target, status):
    assert line(plain).say(head(target=f"{method} {target} HTTP/1.1")).refusal()[0] == status


MANY = [
    ([{"role": "king"}] * 5000, "messages.0.role: "),
    ([{"role": "user"}] * 4097, "messages: "),
    ([{"role": "user", "content": [{"type": "image"}] * 5000}], "messages.0.content"),
]


@pytest.mark.parametrize(("messages", "why"), MANY, ids=[why[:25] for _, why in MANY])
def test_of_many_faults_in_a_list_the_first_is_told_and_no_other_is_kept(messages, why):
    raw = json.dumps({"model": "m", "messages": messages}).encode()
    with pytest.raises(Refused, match=re.escape(why)):
        parsed(raw)
    with pytest.raises(ValidationError) as caught:
        ChatBody.model_validate_json(raw)
    assert caught.value.error_count() <= 4  # one for each member of a union, and one for each field of an item


def test_what_faults_remember_of_requests_has_a_limit():
    draw = FaultDraw({"cut": 0.5}, 0)
    first = [draw(b"again") for _ in range(20)]
    assert set(first) == {"cut", None}
    for k in range(REMEMBERED + 10):
        draw(b"%d" % k)
    assert len(draw._seen) == REMEMBERED
    assert [draw(b"again") for _ in range(20)] == first  # forgotten, so it begins anew


@pytest.fixture(autouse=True)
def _no_error_is_logged(caplog):
    """A client's mistake is no error of the server: no test here may leave a line of one, or a traceback."""
    yield
    assert [record for record in caplog.get_records("call") if record.levelno >= logging.ERROR] == []
