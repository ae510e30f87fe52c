"""Attacks by callers of a seat that is served: `parlour serve mcp`, `parlour serve openenv`, and their parts where those are not installed.

`foresight` wants to know roles that its seat is not told. `crowds` sends too much, too slowly, too often, from elsewhere, or what cannot
be answered. Each attempt starts servers with the defaults of the command.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from hardening.attack import Finding, Tried
from hardening.served_seats import HOSTS, WEB, Host, Refusal
from parlour.envs import replay

GAMES: Final = 6
"""Deals of five roles of which six are the same by chance once in 60 million times."""
SOON: Final = 6.0
"""Seconds for an answer."""
PATIENCE: Final = 25.0
"""Seconds after which a client that does not come to an end is hung up on."""
MANY: Final = 180
"""Games that nobody needs in a minute."""
HOSTILE: Final[Mapping[str, str]] = {"half a surrogate pair": '"\\ud800"', "a long number": "9" * 5001}
"""Name -> JSON of a value that a message holds."""
_NUMBERED: Final = re.compile(r"(^|[^0-9a-f])[0-9]{1,9}\.jsonl$")


class Foresight:
    """Whether a caller can know roles beforehand."""

    name, share = "foresight", 0.5

    def __init__(self, hosts: Mapping[str, Host] = HOSTS) -> None:
        self._hosts = hosts

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return list(self._hosts)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        host, seat, seed = self._hosts[subject], f"player_{rng.integers(5)}", int(rng.integers(1000))
        ways = {
            "names a seed": partial(_named, host, seed, seat),
            "compares servers": partial(_same_deals, host, seat),
            "looks at files": partial(_files, host, seat, folder),
            "computes seeds": partial(_following, host, seat, seed, folder),
        }
        name = list(ways)[int(rng.integers(len(ways)))]
        return Tried(1, tuple(ways[name]()), {name: 1})


def _named(host: Host, seed: int, seat: str) -> Iterator[Finding]:
    with host(None) as served, suppress(Refusal):
        served.begin(seed, seat)
        yield Finding("a caller named the seed of a deal", json.dumps({"seed": seed, "seat": seat}))


def _same_deals(host: Host, seat: str) -> Iterator[Finding]:
    dealt = []
    for _ in range(2):
        with host(None) as served:
            dealt.append([served.left(served.begin(None, seat)) for _ in range(GAMES)])
    if dealt[0] == dealt[1]:
        yield Finding("another server without a seed deals the same games", json.dumps({"seat": seat}))


def _files(host: Host, seat: str, out: Path) -> Iterator[Finding]:
    """What lies in the folder while a game is played; then the server is started again on it."""
    for again in (False, True):
        with host(out) as served:
            try:
                game = served.begin(None, seat)
            except Refusal as error:
                yield Finding(
                    "a server that is started again on its folder deals no game" if again else "no game", str(error)
                )
                return
            finished = {path.name for path in out.iterdir() if replay.Transcript.read(path).outcome is not None}
            for path in out.iterdir():
                if path.name not in finished and path.stat().st_mode & 0o077:
                    yield Finding("others may read the deal of a game in progress", path.name)
                if path.name not in finished and _NUMBERED.search(path.name):
                    yield Finding("the file of a game in progress has a name that can be guessed", path.name)
            served.left(game)


def _following(host: Host, seat: str, seed: int, out: Path) -> Iterator[Finding]:
    """Whether the seed of one deal tells that of the next, where the host named one."""
    with host(out, seed=seed) as served, suppress(Refusal):
        for _ in range(3):
            served.left(served.begin(None, seat))
    seeds = sorted(int(replay.Transcript.read(path).header["seed"]) for path in out.iterdir())
    if any(after - before < 1000 for before, after in pairwise(seeds)):
        yield Finding("the seed of a deal follows from an earlier one", json.dumps(seeds))


class Crowds:
    """Whether a server keeps its limits."""

    name, share = "crowds", 0.5

    def __init__(self, hosts: Mapping[str, Host] = HOSTS, web: Mapping[str, Callable[[], Any]] = WEB) -> None:
        self._hosts, self._web = hosts, web

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        messages = [f"messages {name}" for name in self._hosts if name != "sessions"]  # it takes calls
        return [*(f"games {name}" for name in self._hosts), *messages, *(f"requests {name}" for name in self._web)]

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        kind, _, name = subject.partition(" ")
        if kind == "requests":
            sent = REQUESTS[int(rng.integers(len(REQUESTS)))]
            with self._web[name]() as (url, path):
                return Tried(1, tuple(sent(url, path)), {sent.__name__.replace("_", " "): 1})
        sent_to = many_games if kind == "games" else unanswered
        return Tried(1, tuple(sent_to(self._hosts[name], folder)))


def many_games(host: Host, folder: Path) -> Iterator[Finding]:
    """Begins a game after the other and leaves it."""
    begun, refusals = 0, set[str]()
    with host(folder) as served:
        for _ in range(MANY):
            try:
                served.left(served.begin(None, None))
                begun += 1
            except Refusal as error:
                refusals.add(str(error))
        tools = served.tools
    if begun == MANY:
        yield Finding(
            "no limit of games in a minute", json.dumps({"begun": begun, "files": len(list(folder.iterdir()))})
        )
    for refusal in sorted(refusals):
        if "\n" in refusal or not any(tool in refusal for tool in tools):
            yield Finding("a refusal is not one line that names a tool", refusal)


def unanswered(host: Host, folder: Path) -> Iterator[Finding]:
    """Sends what cannot be answered as it is: there is an answer, and the server goes on."""
    for name, value in HOSTILE.items():
        with host(folder) as served:
            answer = served.answer_to(value)
            if answer is None:
                yield Finding(f"no answer to {name}", value[:80])
            elif len(answer) > 1000:
                yield Finding(f"a long answer to {name}", answer[:80])
            try:
                served.begin(None, None)
            except (Refusal, OSError, TimeoutError) as error:
                yield Finding(f"no game after {name}", str(error))


def foreign_host(url: str, path: str) -> Iterator[Finding]:
    """A page that reaches the server under a name of its own."""
    status, _ = exchange(url, request(path, "Host: attacker.example"))
    if status is None or not 400 <= status < 500:
        yield Finding("a request to another Host is answered", str(status))


def foreign_origin(url: str, path: str) -> Iterator[Finding]:
    """A page of another server."""
    status, _ = exchange(url, request(path, f"Host: {url}", "Origin: https://attacker.example"))
    if status is None or not 400 <= status < 500:
        yield Finding("a page of another Origin is answered", str(status))


def long_body(url: str, path: str) -> Iterator[Finding]:
    """A body of 100 MB."""
    part = b"x" * 200_000
    with ExitStack() as stack:
        line = stack.enter_context(connected(url))
        with suppress(OSError):
            line.sendall(head(path, f"Host: {url}", "Content-Length: 100000000"))
            for _ in range(500):
                line.sendall(part)
                if heard(line):
                    break
            else:
                yield Finding("a body of 100 MB is read")
        answer = received(line, SOON)
        if len(answer) > 2000:
            yield Finding("a long body gets a long answer", answer[:80].decode("latin-1"))


def unfinished_bodies(url: str, path: str) -> Iterator[Finding]:
    """Bodies that do not come to their ends, of any length."""
    yield from _unfinished(
        url, [head(path, f"Host: {url}", f"Content-Length: {10**size}") + b"{" for size in range(2, 10)]
    )


def unfinished_heads(url: str, path: str) -> Iterator[Finding]:
    """Heads that do not come to their ends."""
    yield from _unfinished(url, [b"", head(path, f"Host: {url}")[:-2]])


def _unfinished(url: str, beginnings: Sequence[bytes]) -> Iterator[Finding]:
    with ExitStack() as stack:
        lines = [stack.enter_context(connected(url)) for _ in beginnings]
        for line, beginning in zip(lines, beginnings, strict=True):
            line.sendall(beginning)
        end = time.monotonic() + PATIENCE
        for line, beginning in zip(lines, beginnings, strict=True):
            if not ended(line, end - time.monotonic()):
                yield Finding("a request that does not come to its end stays open", beginning.decode())


REQUESTS: Final = (foreign_host, foreign_origin, long_body, unfinished_bodies, unfinished_heads)


def head(path: str, *lines: str) -> bytes:
    """The head of a request."""
    kinds = "Content-Type: application/json", "Accept: application/json, text/event-stream"
    return "\r\n".join((f"POST {path} HTTP/1.1", *lines, *kinds, "", "")).encode()


def request(path: str, *lines: str) -> bytes:
    """A request that each of the servers answers, if it comes from where it should."""
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters} if path == "/mcp" else {}
    )
    return head(path, *lines, f"Content-Length: {len(body)}") + body.encode()


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    """A connection."""
    host, _, port = url.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=SOON) as line:
        yield line


def exchange(url: str, said: bytes) -> tuple[int | None, bytes]:
    """Status and bytes of the answer."""
    with connected(url) as line:
        line.sendall(said)
        answer = received(line, SOON)
    return (int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else None), answer


def heard(line: socket.socket) -> bool:
    """Whether something has come."""
    line.setblocking(False)
    try:
        return bool(line.recv(1, socket.MSG_PEEK)) or True
    except BlockingIOError:
        return False
    finally:
        line.settimeout(SOON)


def received(line: socket.socket, seconds: float) -> bytes:
    """What comes, until the end of an answer."""
    answer, line_end = b"", time.monotonic() + seconds
    with suppress(OSError):
        while b"\r\n\r\n" not in answer and time.monotonic() < line_end:
            piece = line.recv(65536)
            if not piece:
                break
            answer += piece
        line.settimeout(0.3)
        while piece := line.recv(65536):
            answer += piece
    return answer


def ended(line: socket.socket, seconds: float) -> bool:
    """Whether the server closes the connection."""
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


ATTACKS = (Foresight(), Crowds())
