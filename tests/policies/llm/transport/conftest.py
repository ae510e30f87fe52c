"""A chat endpoint on loopback that answers what the test queued, and keeps what it was asked; a question to put to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from parlour.policies.llm.ask import ASKS, Answer, Ask

from tests.policies.llm import servers
from tests.policies.llm.servers import KEY, Call


class Double(servers.Server):
    """A server on loopback. What is queued is answered first, then what `otherwise` says to a request's body."""

    PROTOCOL = "HTTP/1.0"
    Said = servers.Answer
    KEY = KEY
    SOON: ClassVar[dict[str, str]] = {"retry-after-ms": "1"}

    def __init__(self) -> None:
        super().__init__()
        self.queue: deque[servers.Answer] = deque()  # type: ignore[assignment]
        self.otherwise: Callable[[dict[str, Any]], servers.Answer] = lambda body: self.Said(
            self.completion('{"guilty": true, "why": "w"}')
        )

    @property
    def url(self) -> str:
        return self.base_url

    @property
    def history(self) -> list[dict[str, Any]]:
        return [call.body for call in self.asked]

    @staticmethod
    def completion(*texts: str, usage: Any = (10, 5)) -> dict[str, Any]:  # type: ignore[override]
        choices = [
            {"index": k, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": None}
            for k, text in enumerate(texts)
        ]
        body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
        if usage is not None:
            body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        return body

    @staticmethod
    def refusal(message: str, param: str | None = None, status: int = 400) -> servers.Answer:
        error = {"message": message, "param": param, "type": "invalid_request_error"}
        return servers.Answer({"error": error}, status)

    def say(self, *texts: str, **options: Any) -> None:
        """Queue a completion."""
        self.queue.append(self.Said(self.completion(*texts, **options)))

    def answer(self, call: Call) -> servers.Answer:
        if call.body is None:
            return self.Said("", 404)
        with self.lock:
            return self.queue.popleft() if self.queue else self.otherwise(call.body)


@pytest.fixture
def key(monkeypatch) -> None:
    """The key is planted in the environment, there is no proxy, and the SDK hardly waits between attempts."""
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def double(key: None) -> Iterator[Double]:
    """A chat endpoint on loopback; the key is planted in the environment."""
    with Double() as server:
        yield server


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
