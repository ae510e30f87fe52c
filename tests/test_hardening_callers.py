"""The attacks by callers of served seats, and on a server that is kept busy, find what is planted."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hardening.callers import (
    Crowds,
    Foresight,
    foreign_host,
    foreign_origin,
    long_body,
    unfinished_bodies,
    unfinished_heads,
)
from hardening.runner import attempted
from parlour.envs.core import ParlourError
from parlour.training.harnesses import sessions
from parlour.training.harnesses.sessions import Sessions

pytestmark = pytest.mark.nightly


def findings_of(attack: Any, subject: str, folder: Path, attempts: int = 1) -> set[str]:
    tried = [attempted(attack, subject, number, 0, folder) for number in range(attempts)]
    return {finding.what for attempt in tried for finding in attempt.findings}


def foreseen(folder: Path) -> set[str]:
    """What is found by all the ways to know a deal beforehand."""
    return findings_of(Foresight(), "sessions", folder, attempts=12)


def test_a_caller_that_names_its_seed_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(Sessions, "check_caller", lambda *_: None)
    assert foreseen(tmp_path) == {"a caller named the seed of a deal"}


def test_a_file_of_a_game_in_progress_that_can_be_guessed_and_is_in_the_way_later_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(sessions, "name_in_progress", lambda folder: folder / "avalon_v0-1.jsonl")
    monkeypatch.setattr(sessions, "finish", lambda *_: None)
    expected = {
        "the file of a game in progress has a name that can be guessed",
        "a server that is started again on its folder deals no game",
    }
    assert expected <= foreseen(tmp_path)


@pytest.mark.parametrize(
    ("planted", "what"),
    [
        (lambda self: None, "no limit of games in a minute"),
        ("too many", "a refusal is not one line that names a tool"),
    ],
)
def test_games_without_a_limit_and_refusals_that_do_not_help_are_found(planted, what, monkeypatch, tmp_path):
    def refuse(self: Any) -> None:
        raise ParlourError(planted)

    monkeypatch.setattr(Sessions, "_check_rate", refuse if isinstance(planted, str) else planted)
    assert findings_of(Crowds(), "games sessions", tmp_path) == {what}


@pytest.mark.parametrize(
    ("attack", "what"),
    [
        (foreign_host, "a request to another Host is answered"),
        (foreign_origin, "a page of another Origin is answered"),
        (long_body, "a body of 100 MB is read"),
        (unfinished_bodies, "a request that does not come to its end stays open"),
        (unfinished_heads, "a request that does not come to its end stays open"),
    ],
)
def test_a_server_without_limits_on_requests_is_found(attack, what, monkeypatch):
    uvicorn = pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    from hardening.served_seats import answering
    from parlour.training.harnesses.listening import listening

    async def take(scope: Any, receive: Any, send: Any) -> None:
        message = {"more_body": True}
        while message.get("more_body") and message.get("type") != "http.disconnect":
            message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    monkeypatch.setattr("hardening.callers.PATIENCE", 1.0)
    config = uvicorn.Config(take, lifespan="off", log_level="critical", timeout_graceful_shutdown=1)
    with listening("127.0.0.1", 0) as own, answering(uvicorn.Server(config), own):
        assert what in {finding.what for finding in attack(f"127.0.0.1:{own.getsockname()[1]}", "/")}


# -- a server that is kept busy ----------------------------------------------------------------------------------


@pytest.fixture
def app():
    pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    from parlour.policies.llm.server import app

    return app


def dropping(parsed: Any, raw: bytes) -> Any:
    """Drops a parameter in which something is null."""
    body = {key: value for key, value in json.loads(raw).items() if "null" not in json.dumps(value)}
    return parsed(json.dumps(body).encode())


def test_a_parameter_that_is_dropped_is_found(app, monkeypatch, tmp_path):
    from hardening.abandoned import Abandoned

    monkeypatch.setattr(app, "parsed", partial(dropping, app.parsed))
    assert findings_of(Abandoned(), "nulls", tmp_path) == {"a parameter with an unknown null in it is dropped"}


@pytest.mark.slow
def test_a_body_that_holds_up_everybody_is_found(app, monkeypatch, tmp_path):
    """One body holds others up for 0.3 to 1.7 s, as the two happen to meet; with the check for 0.1 s."""
    from hardening.abandoned import FLOODS, Abandoned

    kept = {"keys in a parameter": FLOODS["keys in a parameter"]}
    monkeypatch.setattr("hardening.abandoned.FLOODS", kept)
    monkeypatch.setattr("hardening.abandoned.BUSY", 0.25)
    monkeypatch.setattr("parlour.policies.llm.server.protocol.check_size", lambda *_, **__: None)
    assert findings_of(Abandoned(), "keys", tmp_path, attempts=4) == {"many keys in a parameter hold up everybody else"}


@pytest.mark.slow
def test_work_for_clients_that_have_left_is_found(app, monkeypatch, tmp_path):
    from anyio import to_thread
    from hardening.abandoned import LONG, Abandoned

    async def to_its_end(self: Any, request: Any, work: Any) -> Any:
        return await to_thread.run_sync(work, lambda: False, limiter=self._workers)

    monkeypatch.setattr(app.Service, "_beside_the_loop", to_its_end)
    monkeypatch.setattr("hardening.abandoned.LONG", {"many choices": LONG["many choices"]})
    monkeypatch.setattr("hardening.abandoned.CLIENTS", 6)  # behind two workers
    monkeypatch.setattr("hardening.abandoned.FREE", 1.0)
    assert "work goes on for clients that have left" in findings_of(Abandoned(), "clients", tmp_path)
