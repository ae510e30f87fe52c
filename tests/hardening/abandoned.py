"""Attacks on `parlour serve endpoint`: requests that keep it busy. Others are answered meanwhile, and work ends soon after its client has left."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit

import numpy as np
from hardening.attack import Finding, Tried
from parlour.training.play import asked

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

Serving = Callable[[], AbstractContextManager[str]]


@contextmanager
def serving() -> Iterator[str]:
    """`parlour serve endpoint`, in a thread."""
    from parlour.policies.llm.server import app

    asked.kinds()  # every question is known from now on
    with app.serving() as url:
        yield url


class Abandoned:
    """Whether a server that is kept busy answers others."""

    name, share = "abandoned", 0.5

    def __init__(self, serving: Serving = serving) -> None:
        self._serving = serving

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return ["keys", "nulls", "clients"] if find_spec("uvicorn") else []

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        found = {"keys": _keys, "nulls": _nulls, "clients": _clients}[subject](self._serving, rng)
        return Tried(1, tuple(found))


def _keys(serving: Serving, rng: np.random.Generator) -> Iterator[Finding]:
    """One body of very many keys, while somebody else asks."""
    name = list(FLOODS)[int(rng.integers(len(FLOODS)))]
    body = json.dumps({**_HELLO, **FLOODS[name]}).encode()
    with serving() as url:
        _answered(url)
        flood = threading.Thread(target=_posted, args=(url, body))
        flood.start()
        slowest = 0.0
        while flood.is_alive():
            slowest = max(slowest, _answered(url))
        flood.join()
    if slowest > BUSY:
        yield Finding(f"many {name} hold up everybody else", f"{slowest:.1f} s")


def _nulls(serving: Serving, rng: np.random.Generator) -> Iterator[Finding]:
    """An unknown key that is null, inside a parameter: the parameter is not dropped."""
    fields = NESTED_NULLS[int(rng.integers(len(NESTED_NULLS)))]
    with serving() as url:
        status = _posted(url, json.dumps({**_HELLO, **fields}).encode())
    if status != 400:
        yield Finding("a parameter with an unknown null in it is dropped", json.dumps({"status": status, **fields}))


def _clients(serving: Serving, rng: np.random.Generator) -> Iterator[Finding]:
    """Many clients ask much, and leave."""
    name = list(LONG)[int(rng.integers(len(LONG)))]
    body = json.dumps({"model": "m", **LONG[name]}).encode()
    with ExitStack() as stack:
        url = stack.enter_context(serving())
        _answered(url)
        lines = [_begun(url, body) for _ in range(CLIENTS)]
        time.sleep(0.3)
        for line in lines:
            line.close()
        begun = time.process_time()
        status = _posted(url, json.dumps(_HELLO).encode())
        waited = time.process_time() - begun
        more = [_begun(url, body) for _ in range(CLIENTS)]
        time.sleep(0.3)
        begun = time.process_time()
        stack.close()
        ended = time.process_time() - begun
        for line in more:
            line.close()
    if waited > FREE or status == 0:
        yield Finding("work goes on for clients that have left", f"{name}: no answer to others for {waited:.1f} s")
    if ended > FREE:
        yield Finding("a server at work does not end", f"{name}: {ended:.1f} s")


def _begun(url: str, body: bytes) -> socket.socket:
    """A connection over which a request was sent."""
    address = urlsplit(url)
    line = socket.create_connection((address.hostname, address.port), timeout=30)
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with suppress(OSError):
        line.sendall(head.encode() + body)
    return line


def _posted(url: str, body: bytes) -> int:
    """The status of the answer; 0 for none in time."""
    request = urllib.request.Request(f"{url}/chat/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except TimeoutError:
        return 0


def _answered(url: str) -> float:
    """Seconds of this process until a short request is answered."""
    begun = time.process_time()
    with urllib.request.urlopen(f"{url}/models", timeout=120):
        return time.process_time() - begun


ATTACKS = (Abandoned(),)
