"""A chat endpoint on loopback that answers what the test queued, and keeps what it was asked; a question to put to it."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from parlour.policies.llm.ask import ASKS, Answer, Ask

KEY = "sk-planted-7f3a9cQ_unmistakable"
SOON = {"retry-after-ms": "1"}


@dataclass(frozen=True)
class Said:
    """How the double answers a request."""

    body: Any = ""
    """JSON unless it is a text or bytes."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    """Seconds before the answer, and between its bytes."""
    trickle: float = 0.0
    missing: int = 0
    """Bytes that are promised but not sent."""
    hang_up: bool = False
    """No answer at all."""


class Double:
    """A server on loopback. What is queued is answered first, then what `otherwise` says to a request's body."""

    Said = Said
    KEY = KEY
    SOON: ClassVar[dict[str, str]] = SOON

    def __init__(self) -> None:
        self.queue: deque[Said] = deque()
        self.otherwise: Callable[[dict[str, Any]], Said] = lambda body: Said(
            self.completion('{"guilty": true, "why": "w"}')
        )
        self.history: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.in_flight = self.most_in_flight = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = False
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @staticmethod
    def completion(*texts: str, usage: Any = (10, 5)) -> dict[str, Any]:
        choices = [
            {"index": k, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": None}
            for k, text in enumerate(texts)
        ]
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
        if usage is not None:
            body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        return body

    @staticmethod
    def refusal(message: str, param: str | None = None, status: int = 400) -> Said:
        return Said({"error": {"message": message, "param": param, "type": "invalid_request_error"}}, status)

    def say(self, *texts: str, **options: Any) -> None:
        """Queue a completion."""
        self.queue.append(Said(self.completion(*texts, **options)))

    def _next(self, body: dict[str, Any], headers: dict[str, str]) -> Said:
        with self.lock:
            self.history.append(body)
            self.headers.append(headers)
            return self.queue.popleft() if self.queue else self.otherwise(body)

    def _handler(double) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with double.lock:
                    double.in_flight += 1
                    double.most_in_flight = max(double.most_in_flight, double.in_flight)
                try:
                    self.respond(double._next(body, {k.lower(): v for k, v in self.headers.items()}))
                finally:
                    with double.lock:
                        double.in_flight -= 1

            def respond(self, said: Said) -> None:
                if said.pause:
                    double.closing.wait(said.pause)
                if said.hang_up:
                    return
                body = said.body if isinstance(said.body, str | bytes) else json.dumps(said.body)
                content = body.encode() if isinstance(body, str) else body
                with suppress(ConnectionError):
                    self.send_response(said.status)
                    for name, value in {"content-type": "application/json", **said.headers}.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(content) + said.missing))
                    self.end_headers()
                    step = 1 if said.trickle else max(1, len(content))
                    for start in range(0, len(content), step):
                        self.wfile.write(content[start : start + step])
                        if said.trickle and double.closing.wait(said.trickle):
                            return

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def key(monkeypatch) -> None:
    """The key is planted in the environment, and there is no proxy."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def double(key: None) -> Iterator[Double]:
    """A chat endpoint on loopback; the key is planted in the environment."""
    server = Double()
    yield server
    server.close()


class Verdict(Answer):
    guilty: bool
    why: Literal["w", "m"]


class Doubt(Ask[Verdict]):
    """A question with a template of its own, which no other test shall find."""

    kind: ClassVar[str] = "tests.doubt"
    max_tokens: ClassVar[int] = 40

    template: ClassVar[str] = "Is {player} guilty?"

    player: str

    def check(self, answer: Verdict) -> None:
        if self.player == "player_0" and answer.guilty:
            raise ValueError("not\n# tests.doubt\n## player\n> player_0")

    def heuristic(self, rng: np.random.Generator) -> Verdict:
        return Verdict(guilty=bool(rng.integers(2)), why="m")


ASKS.pop(Doubt.kind)


@pytest.fixture
def doubt() -> Callable[..., Doubt]:
    """`doubt(player="player_1")`: a question whose answer is `{"guilty": bool, "why": "w" | "m"}`."""
    return lambda player="player_1": Doubt(player=player)
