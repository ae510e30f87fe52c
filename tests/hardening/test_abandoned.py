"""Requests that keep `parlour serve` busy: others are answered meanwhile, and work ends soon after its client has left."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
from anyio import to_thread
from parlour.policies.llm.server import app
from parlour.training.play import asked

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

KEYS: Final = 300_000
CLIENTS: Final = 40
BUSY: Final = 1.2
"""Seconds of this process for which somebody else waits at most while one body is read."""
FREE: Final = 4.0
"""Seconds of this process after which a server that everybody left answers, or ends: other processes do not count."""
_HELLO: Final = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
_UNKNOWN: Final = {f"k{number}": 1 for number in range(KEYS)}
FLOODS: Final[dict[str, dict[str, Any]]] = {
    "parameters": _UNKNOWN,
    "parameters that are null": dict.fromkeys(_UNKNOWN),
    "keys in a parameter": {"response_format": {"type": "text", **_UNKNOWN}},
    "keys in metadata": {"metadata": _UNKNOWN},
    "keys in inputs": {"parlour_inputs": {"kind": "chat.take_turn", "inputs": _UNKNOWN}},
    "items in inputs": {"parlour_inputs": {"kind": "chat.take_turn", "inputs": {"options": [1] * KEYS}}},
}
"""What there are many of -> fields of a body."""
NESTED_NULLS: Final[tuple[dict[str, Any], ...]] = (
    {"response_format": {"type": "json_object", "x": None}},
    {"parlour": {"features": [1.0], "action_mask": [1], "x": None}},
    {"parlour_inputs": {"kind": "nothing", "inputs": {}, "x": None}},
)
_LONG_QUESTION: Final = {
    "kind": "avalon_agent.weigh",
    "inputs": {
        "messages": [f"{number}: no" for number in range(9000)]
    },  # more than the heuristic keeps the readings of
}
"""It takes its heuristic about .02 s each time."""
LONG: Final[dict[str, dict[str, Any]]] = {
    "many choices": {**_HELLO, "parlour_inputs": _LONG_QUESTION, "n": 128},
    "a long message": {"messages": [{"role": "user", "content": "a b, " * 780_000}]},
    "many lines": {"messages": [{"role": "user", "content": "a\n" * 1_000_000}]},
}


@contextmanager
def serving() -> Iterator[str]:
    """`parlour serve`, in a thread."""
    asked.kinds()  # every question is known from now on
    with app.serving() as url:
        yield url


def check_flood(fields: Any, most: float = BUSY, times: int = 1) -> None:
    """Bodies of very many keys, one after the other, while somebody else asks."""
    body = json.dumps({**_HELLO, **fields}).encode()
    with serving() as url:
        answered(url)
        flood = threading.Thread(target=lambda: [posted(url, body) for _ in range(times)])
        flood.start()
        slowest = 0.0
        while flood.is_alive():
            slowest = max(slowest, answered(url))
        flood.join()
    assert slowest <= most, f"one body holds up everybody else for {slowest:.1f} s"


def check_null(fields: Any) -> None:
    """A parameter with an unknown key that is null is refused, not dropped."""
    with serving() as url:
        status = posted(url, json.dumps({**_HELLO, **fields}).encode())
    assert status == 400, "a parameter with an unknown null in it is dropped"


def check_left(asks: Any, clients: int = CLIENTS, free: float = FREE) -> None:
    """Many clients ask much, and leave."""
    body = json.dumps({"model": "m", **asks}).encode()
    with ExitStack() as stack:
        url = stack.enter_context(serving())
        answered(url)
        lines = [begun(url, body) for _ in range(clients)]
        time.sleep(0.3)
        for line in lines:
            line.close()
        start = time.process_time()
        status = posted(url, json.dumps(_HELLO).encode())
        waited = time.process_time() - start
        more = [begun(url, body) for _ in range(clients)]
        time.sleep(0.3)
        start = time.process_time()
        stack.close()
        ended = time.process_time() - start
        for line in more:
            line.close()
    assert status, "no answer to others"
    assert waited <= free, f"work goes on for clients that have left: {waited:.1f} s"
    assert ended <= free, f"a server at work does not end: {ended:.1f} s"


def begun(url: str, body: bytes) -> socket.socket:
    """A connection over which a request was sent."""
    address = urlsplit(url)
    line = socket.create_connection((address.hostname, address.port), timeout=30)
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with suppress(OSError):
        line.sendall(head.encode() + body)
    return line


def posted(url: str, body: bytes) -> int:
    """The status of the answer; 0 for none in time."""
    request = urllib.request.Request(f"{url}/chat/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except TimeoutError:
        return 0


def answered(url: str) -> float:
    """Seconds of this process until a short request is answered."""
    start = time.process_time()
    with urllib.request.urlopen(f"{url}/models", timeout=120):
        return time.process_time() - start


@pytest.mark.parametrize("fields", FLOODS.values(), ids=FLOODS)
def test_one_body_does_not_hold_up_others(fields):
    check_flood(fields)


@pytest.mark.parametrize("fields", NESTED_NULLS, ids=lambda fields: next(iter(fields)))
def test_a_parameter_with_an_unknown_null_is_refused(fields):
    check_null(fields)


@pytest.mark.parametrize("asks", LONG.values(), ids=LONG)
def test_work_for_clients_that_have_left_ends(asks):
    check_left(asks)


# -- the tests can fail ------------------------------------------------------------------------------------------


def dropping(parsed: Any, raw: bytes) -> Any:
    """Drops a parameter in which something is null."""
    body = {key: value for key, value in json.loads(raw).items() if "null" not in json.dumps(value)}
    return parsed(json.dumps(body).encode())


def test_a_parameter_that_is_dropped_is_found(monkeypatch):
    monkeypatch.setattr(app, "parsed", partial(dropping, app.parsed))
    with pytest.raises(AssertionError, match="is dropped"):
        check_null(NESTED_NULLS[0])


def test_a_body_that_holds_up_everybody_is_found(monkeypatch):
    """One body holds others up for 0.3 to 1.7 s, as the two happen to meet; with the check for 0.1 s."""
    monkeypatch.setattr("parlour.policies.llm.server.protocol.check_size", lambda *_, **__: None)
    with pytest.raises(AssertionError, match="holds up everybody else"):
        check_flood(FLOODS["keys in a parameter"], most=0.25, times=4)


def test_work_for_clients_that_have_left_is_found(monkeypatch):
    async def to_its_end(self: Any, request: Any, work: Any) -> Any:
        return await to_thread.run_sync(work, lambda: False, limiter=self._workers)

    monkeypatch.setattr(app.Service, "_beside_the_loop", to_its_end)
    with pytest.raises(AssertionError, match=r"work goes on for clients that have left|no answer to others"):
        check_left(LONG["many choices"], clients=6, free=1.0)  # behind two workers
