"""What servers of a seat refuse before it reaches a game (training/harnesses/listening.py), over HTTP and over WebSockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
from parlour.training.harnesses import listening
from parlour.training.harnesses.listening import LONGEST_MESSAGE, GuardedApp, unanswerable


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with what it gets."""
    message = await receive()
    if scope["type"] == "websocket":
        await send({"type": "websocket.send", "text": message["text"]})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def asked(messages: Sequence[dict[str, Any]], kind: str = "http", **headers: str) -> list[dict[str, Any]]:
    """What the application behind the limits sends."""
    waiting, sent = list(messages), list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        return waiting.pop(0) if waiting else await asyncio.sleep(60)  # type: ignore[func-returns-value]

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    given = [(key.encode(), value.encode()) for key, value in {"host": "127.0.0.1:8000", **headers}.items()]
    scope = {"type": kind, "headers": given, "extensions": {"websocket.http.response": {}}}
    asyncio.run(GuardedApp(echo, ["Seat.Example"], lambda reason: {"detail": reason})(scope, receive, send))
    return sent


def status_of(body: bytes = b"{}", more: bool = False, **headers: str) -> tuple[int, str]:
    start, end = asked([{"type": "http.request", "body": body, "more_body": more}], **headers)
    return start["status"], end["body"].decode()


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "[::1]:8000", "10.0.0.7", "seat.example:80", "LOCALHOST:1"]
)
def test_hosts_that_are_this_server_s_are_answered(host):
    assert status_of(host=host) == (200, "{}")
    assert status_of(host=host, origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize(
    "host", ["attacker.example", "127.0.0.1.attacker.example", "", "localhost.attacker.example:80", "["]
)
def test_other_hosts_are_refused(host):
    status, body = status_of(host=host)
    assert status == 421
    assert "accepted: an IP address, localhost" in json.loads(body)["detail"]


@pytest.mark.parametrize(
    "origin", ["https://attacker.example", "null", "http://localhost:8000", "http://127.0.0.1:8001"]
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_pages_of_others_are_refused(kind, origin):
    start, _ = asked([{"type": "http.request", "body": b"{}"}], kind, origin=origin)
    assert start["status"] == 403


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {"content-length": "100000000"}, 413),
        (b"{}", {"content-length": "9" * 5000}, 413),
        (b" " * (LONGEST_MESSAGE + 1), {}, 413),
        (b"{", {}, 400),
        (b'"\\ud800"', {}, 400),
        (b"9" * 5001, {}, 400),
        (b"", {}, 200),
        (b'{"words": "\\ud83d\\ude00"}', {}, 200),
    ],
)
def test_bodies_are_short_and_can_be_answered(body, headers, status):
    told = status_of(body, **headers)
    assert told[0] == status
    assert len(told[1]) < 300


def test_a_body_comes_in_time(monkeypatch):
    monkeypatch.setattr(listening, "MESSAGE_SECONDS", 0.05)
    assert status_of(b"{", more=True)[0] == 408


def test_messages_that_cannot_be_answered_are_refused_and_the_next_one_is_taken():
    messages = [{"type": "websocket.receive", "text": text} for text in ('"\\ud800"', "9" * 5001, "no", "{}")]
    *refused, taken = [message["text"] for message in asked(messages, "websocket")]
    assert taken == "{}"
    assert [json.loads(text).keys() for text in refused] == [{"detail"}] * 3


def test_reasons_are_one_short_line():
    for message in (b"\xff", "[" * 200, "[1" + "0" * 5000 + "]", "NaN", "\n\n"):
        reason = unanswerable(message)
        assert reason is not None
        assert "\n" not in reason
        assert len(reason) < 200
