"""What a table's server does not take: too much, too slowly, too many, twice, or in another form (RFC 9110, RFC 9112)."""

from __future__ import annotations

import http.client
import json
import logging
import re
import select
import socket
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress

import pytest
from parlour.envs.core import ParlourError

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
from limited_servers import CHAT, serving
from parlour_table.server.settings import Limits

HELLO = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()


def head(*lines: str, target: str = f"POST {CHAT} HTTP/1.1", host: str = "Host: x") -> bytes:
    return "\r\n".join((target, *((host,) if host else ()), *lines, "", "")).encode()


def posted(body: bytes = HELLO, *lines: str) -> bytes:
    return head(f"Content-Length: {len(body)}", *lines) + body


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


def quick(url: str) -> int:
    """The status of a request of somebody who does not dawdle."""
    connection = Line(url).say(posted())
    try:
        return connection.reply()[0]
    finally:
        connection.socket.close()


def until(met: Callable[[], object]) -> None:
    """Wait for what another thread does, ten seconds at most."""
    began = time.monotonic()
    while not met() and time.monotonic() - began < 10:
        time.sleep(0.02)
    assert met()


# -- too much ---------------------------------------------------------------------------------------------------


def test_a_body_that_says_it_is_too_long_is_refused_before_any_of_it_has_come(server, line):
    """300 MB that are announced and never sent: the answer does not wait for them."""
    url = server(max_body=1000)
    connection = line(url).say(head("Content-Length: 300000000"))
    assert connection.refusal() == (413, "a body of 300000000 bytes is not accepted; accepted: up to 1000")
    assert connection.ended()
    assert line(url).say(posted(HELLO + b" " * (1000 - len(HELLO)))).reply()[0] == 200
    assert line(url).say(posted(HELLO + b" " * (1001 - len(HELLO)))).refusal()[0] == 413


def test_a_body_in_chunks_is_refused_as_soon_as_it_is_too_long(server, line):
    connection = line(server(max_body=1000)).say(
        head("Transfer-Encoding: chunked"), *[b"64\r\n" + b" " * 100 + b"\r\n"] * 11
    )
    assert connection.refusal() == (413, "a body of more than 1000 bytes is not accepted; accepted: up to 1000")
    assert connection.ended()


def test_who_sends_it_all_the_same_still_reads_why_it_was_refused(server):
    """A connection that is closed with bytes unread is reset, and what was said on it is lost (RFC 9112, 9.6)."""
    address = urllib.parse.urlsplit(server(max_body=1000))
    for _ in range(5):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
        connection.request("POST", CHAT, b" " * 8_000_000)
        assert connection.getresponse().status == 413
        connection.close()


def test_long_bodies_have_room_together_and_short_ones_always_have(server, line):
    """Two of 100,000 bytes are on their way, and there is room for 150,000."""
    url = server(max_body=150_000, max_bodies=150_000)
    first, other = (line(url).say(head("Content-Length: 100001"), b" " * 100_000) for _ in range(2))
    if select.select([first.socket, other.socket], [], [], 20)[0] == [first.socket]:
        first, other = other, first
    status, why = other.refusal()
    assert (status, why) == (429, "too many long requests at once; accepted: 150000 bytes of them")
    assert quick(url) == 200
    assert first.say(b" ").refusal()[0] == 400
    assert line(url).say(posted(HELLO + b" " * 100_000)).reply()[0] == 200


@pytest.mark.parametrize("lines", [["X: " + "x" * 20_000], ["X: x"] * 5000, ["X: " + "x" * 300_000]], ids=len)
def test_headers_have_a_limit(plain, line, lines):
    connection = line(plain).say(posted(HELLO, *lines))
    assert connection.refusal() == (431, "headers of this length are not accepted; accepted: up to 16384 bytes")
    assert line(plain).say(posted(HELLO, "X: " + "x" * 8000)).reply()[0] == 200


# -- too slowly -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "part", "said"),
    [
        ("header_timeout", "headers", head()[:-2]),
        ("header_timeout", "headers", b"P"),
        ("body_timeout", "body", head("Content-Length: 100") + b"{"),
        ("body_timeout", "body", head("Transfer-Encoding: chunked") + b"1\r\n{\r\n"),
    ],
    ids=["half of the headers", "a letter", "length", "chunks"],
)
def test_headers_and_body_have_to_come_in_time(server, line, limit, part, said):
    connection = line(server(**{limit: 0.3})).say(said)
    assert connection.refusal() == (408, f"the {part} did not come in time; accepted: within 0.3 seconds")
    assert connection.ended()


def test_time_for_headers_does_not_begin_anew_with_each_byte(server, line):
    asked, said = line(server(header_timeout=0.5)).say(head()[:-2]), 0
    while said < 200 and not select.select([asked.socket], [], [], 0.1)[0]:  # 20 seconds, unless the server says so
        asked.say(b"X")
        said += 1
    assert 0 < said < 200
    assert asked.refusal()[0] == 408


def test_who_says_nothing_is_hung_up_on(server, line):
    url = server(header_timeout=0.3, idle_timeout=0.3)
    assert line(url).ended()
    connection = line(url).say(posted())
    assert connection.reply()[0] == 200
    assert connection.ended()


@pytest.mark.slow
def test_a_second_request_has_its_own_time(server, line):
    connection = line(server(header_timeout=0.6)).say(posted())
    assert connection.reply()[0] == 200
    time.sleep(1.5)  # idle, which is another time
    assert connection.say(posted()).reply()[0] == 200
    assert connection.say(head()[:-2]).refusal()[0] == 408


@pytest.mark.slow
def test_a_reply_has_to_be_taken_in_time(server, line):
    """About 20 MB of words, more than two ends of a connection hold for one another."""
    connection = line(server(reply_timeout=0.3, length=20_000_000), receive_buffer=4096)
    connection.say(posted())
    assert connection.socket.recv(12) == b"HTTP/1.1 200"
    time.sleep(3)
    got = 0
    with suppress(ConnectionError):
        while piece := connection.socket.recv(1 << 20):
            got += len(piece)
    assert 0 < got < 10_000_000


@pytest.mark.parametrize("most", [1000, 50], ids=["within the limit", "beyond the limit"])
def test_two_hundred_slow_clients_do_not_stop_a_quick_one(server, line, most):
    """Beyond the limit those give way that keep the server waiting, the longest first, and never the quick one."""
    url = server(max_connections=most)
    for k in range(200):
        line(url).say((head("Content-Length: 1000") + b"{", head()[:-2], b"", b"P")[k % 4])
    assert [quick(url) for _ in range(10)] == [200] * 10


@pytest.mark.slow
def test_who_is_being_answered_does_not_give_way_and_who_finds_no_room_comes_to_read_so(server, line):
    """Its request is on the way already: a close at once would reset the connection."""
    url = server(max_connections=3, latency=1.5, tally=(tally := Counter()))
    asked = [line(url).say(posted()) for _ in range(3)]
    until(lambda: tally["chat"] == 3)
    for said in (b"", *[posted(b" " * 200_000)] * 5):
        assert line(url).say(said).refusal() == (429, "too many connections; accepted: 3 at once")
    assert [connection.reply()[0] for connection in asked] == [200] * 3
    assert quick(url) == 200


def test_who_is_only_heard_out_gives_way_first(server, line):
    """Ten that were refused go on sending; there is room for three, and those heard out count."""
    url = server(max_connections=3, max_body=1000)
    refused = [line(url).say(head("Content-Length: 300000000")) for _ in range(10)]
    assert quick(url) == 200
    for connection in refused:
        connection.socket.settimeout(2)  # they would be heard out for longer
    assert sum(connection.ended() for connection in refused) >= 8


def test_a_server_ends_at_once_whoever_keeps_it_waiting(line):
    """Half a head, half a body, a reply that nobody reads."""
    with serving(length=20_000_000) as url:
        line(url).say(head()[:-2])
        line(url).say(head("Content-Length: 100") + b"{")
        reader = line(url, receive_buffer=4096)
        reader.say(posted())
        assert reader.socket.recv(12) == b"HTTP/1.1 200"
        began = time.monotonic()
    assert time.monotonic() - began < 10  # the shortest limit is 10 seconds, and it is not what ends them


# -- in another form --------------------------------------------------------------------------------------------

SMUGGLED = [
    ("both", head("Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    ("two lengths", head("Content-Length: 5", "Content-Length: 6") + b"hello!"),
    ("a length below 0", head("Content-Length: -5") + b"hello"),
    ("a length of 5000 digits", head("Content-Length: " + "9" * 5000)),
    ("two codings", head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + b"0\r\n\r\n"),
    ("no coding", head("Transfer-Encoding: identity") + b"hello"),
    ("a coding with a blank before the colon", head("Transfer-Encoding : chunked") + b"0\r\n\r\n"),
    ("a folded header first", head(" b", "Content-Length: 0", host="")),
    ("two hosts", head("Host: y", "Content-Length: 0")),
    ("no host", head("Content-Length: 0", host="")),
    ("two keys", posted(HELLO, "Authorization: Bearer a", "Authorization: Bearer b")),
    ("no name", head(": x", "Content-Length: 0")),
    ("a zero byte", head("X: a\x00b", "Content-Length: 0")),
    ("a chunk of no size", head("Transfer-Encoding: chunked") + b"z\r\n"),
    ("no protocol", f"POST {CHAT}\r\n\r\n".encode()),
    ("another protocol", head(target="PRI * HTTP/2.0", host="") + b"SM\r\n\r\n"),
    ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    ("letters beyond ASCII", "POST /v1/é HTTP/1.1\r\nHost: x\r\n\r\n".encode()),
]


@pytest.mark.parametrize("said", [said for _, said in SMUGGLED], ids=[name for name, _ in SMUGGLED])
def test_what_two_servers_could_read_in_two_ways_is_refused(plain, line, said, caplog):
    connection = line(plain).say(said)
    assert connection.refusal()[0] == 400
    assert connection.ended()
    assert caplog.text == ""


def test_requests_in_a_row_are_answered_in_order(plain, line):
    connection = line(plain).say(posted() + posted() + head("Content-Length: 2") + b"{}")
    assert [connection.reply()[0] for _ in range(3)] == [200, 200, 400]


def test_more_than_was_announced_changes_nothing(plain, line):
    """`Connection: close`, and then more bytes: the request is answered all the same."""
    connection = line(plain).say(posted(HELLO, "Connection: close"))
    connection.say(b"\r\nmore")
    assert connection.reply()[0] == 200


TYPES = [
    ("Content-Type: text/plain", 415, "content type 'text/plain' is not accepted; accepted: application/json"),
    ("Content-Type: multipart/form-data; boundary=x", 415, "accepted: application/json"),
    ("Content-Type: application/json; charset=utf-16", 415, "accepted: application/json"),
    ("Content-Type: " + "x" * 5000, 415, "accepted: application/json"),
    ("Content-Type:", 200, ""),
    ("Content-Type: Application/JSON ; Charset=\"UTF-8\"", 200, ""),
    ("Content-Encoding: gzip", 415, "content encoding 'gzip' is not accepted; accepted: none"),
    ("Content-Encoding: identity", 200, ""),
    ("Expect: 100-continue", 200, ""),
]  # fmt: skip


@pytest.mark.parametrize(("header", "status", "why"), TYPES, ids=[header[:50] for header, _, _ in TYPES])
def test_bodies_of_another_type_are_refused(plain, line, header, status, why):
    connection = line(plain).say(posted(HELLO, header))
    if header.startswith("Expect"):
        assert connection.socket.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
    if status == 200:
        assert connection.reply()[0] == 200
        return
    got, message = connection.refusal()
    assert got == status
    assert why in message
    assert len(message) < 200


# -- memory and settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("max_body", 0, "max_body 0 is not accepted; accepted: a whole number from 1"),
        ("max_headers", 10, "max_headers 10 is not accepted; accepted: a whole number from 1024"),
        ("max_connections", 0, "max_connections 0 is not accepted"),
        ("max_bodies", 10, "max_bodies 10 is not accepted; accepted: max_body (4194304) or more"),
        ("header_timeout", 0.0, "header_timeout 0.0 is not accepted; accepted: seconds, more than 0"),
        ("idle_timeout", float("nan"), "idle_timeout nan is not accepted"),
    ],
)
def test_limits_are_checked(name, value, why):
    with pytest.raises(ParlourError) as caught:
        Limits(**{name: value})
    assert why in str(caught.value)


@pytest.fixture(autouse=True)
def _no_error_is_logged(caplog):
    """A client's mistake is no error of the server: no test here may leave a line of one, or a traceback."""
    yield
    assert [record for record in caplog.get_records("call") if record.levelno >= logging.ERROR] == []
