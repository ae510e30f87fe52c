"""OpenEnv: its own client, and bare WebSockets, play whole games at our server; docs/integrations/openenv.md tells of it.

The leak tests read every byte that a client is sent.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openenv", reason="openenv is not installed; run scripts/test-integrations openenv")

import httpx
from openenv.core import GenericEnvClient
from parlour.envs import replay
from parlour.training.cli import run
from parlour.training.harnesses.listening import SeatServer, listening
from parlour.training.harnesses.openenv import app_of
from parlour.training.harnesses.sessions import SessionCounts, Sessions, SessionSettings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.integrations.pages import run_page
from tests.training.harnesses.bridged_games import TABLES, drawn, same_game, table_seats

KNOWS_NO_GAME = ("/state", "/metadata", "/health", "/schema", "/openapi.json")


@contextmanager
def served(game: str, **settings: Any) -> Iterator[tuple[str, Sessions]]:
    """A server in a thread; its address and its games."""
    settings = {"callers_may_seed": True, **settings}
    sessions = Sessions(SessionSettings(game=game, seat=table_seats(game)[0], options=TABLES[game], **settings))
    own = listening("127.0.0.1", 0)
    server = SeatServer(app_of(sessions), sessions.settings.max_games)
    thread = threading.Thread(target=server.answer, args=[own])
    thread.start()
    try:
        yield f"http://127.0.0.1:{own.getsockname()[1]}", sessions
    finally:
        server.should_exit = True
        thread.join()
        sessions.close()


@contextmanager
def session(url: str) -> Iterator[ClientConnection]:
    with connect(f"ws{url.removeprefix('http')}/ws", proxy=None) as socket:
        yield socket


def ask(socket: ClientConnection, kind: str, **data: Any) -> dict[str, Any]:
    """One message and its answer."""
    socket.send(json.dumps({"type": kind, **({"data": data} if kind != "state" else {})}))
    answer: dict[str, Any] = json.loads(socket.recv(timeout=60))
    return answer


def turn_of(answer: dict[str, Any]) -> dict[str, Any]:
    """What an answer tells, in the words of `bridged_games.same_game`; it holds nothing else."""
    assert answer.keys() == {"type", "data"}
    assert answer["type"] == "observation"
    data = answer["data"]
    assert data.keys() - {"metadata"} == {"observation", "reward", "done"}
    assert data["observation"].keys() - {"metadata"} == {"seat", "message", "options", "faults"}
    assert not data.get("metadata")
    assert not data["observation"].get("metadata")
    return {**data["observation"], "reward": data["reward"], "done": data["done"]}


def play(socket: ClientConnection, seed: int, seat: str) -> list[dict[str, Any]]:
    """One game by options that are drawn; all that was told."""
    rng = np.random.default_rng(seed)
    turns = [turn_of(ask(socket, "reset", seed=seed, seat=seat))]
    while not turns[-1]["done"]:
        turns.append(turn_of(ask(socket, "step", words=drawn(turns[-1]["options"], rng))))
    return turns


def by_and_by(current: Any, expected: Any) -> None:
    """A server hears of a connection's end a little later."""
    for _ in range(600):
        if current() == expected:
            return
        time.sleep(0.05)
    assert current() == expected


@pytest.mark.parametrize("game", TABLES)
def test_twenty_games_at_each_table_end_as_ours_do_on_the_same_seeds_and_words(game):
    """Four sessions at once, each with five games: 100 over the five tables."""
    seats = table_seats(game)

    def games(first: int) -> None:
        with session(url) as socket:
            for seed in range(first, 20, 4):
                same_game(game, seed, seats[seed % len(seats)], play(socket, seed, seats[seed % len(seats)]))

    with served(game) as (url, sessions), ThreadPoolExecutor(4) as callers:
        list(callers.map(games, range(4)))
        by_and_by(lambda: sessions.counts, SessionCounts(begun=20, in_progress=0, left=0))


def test_the_library_s_own_client_plays():
    rng = np.random.default_rng(5)
    with served("avalon_v0") as (url, _), GenericEnvClient(base_url=url).sync() as env:
        result = env.reset(seed=5)
        turns = [{**result.observation, "reward": result.reward}]
        while not result.done:
            result = env.step({"words": drawn(result.observation["options"], rng)})
            turns.append({**result.observation, "reward": result.reward})
        assert env.state()["done"]
    same_game("avalon_v0", 5, "player_0", turns)


def test_no_other_answer_tells_of_the_game():
    """The state of a session is the seat's own; routes without a session answer the same bytes whatever is being played."""
    with served("werewolf_v0") as (url, _), httpx.Client(base_url=url, trust_env=False) as http, session(url) as socket:
        before = {path: http.get(path).content for path in KNOWS_NO_GAME}
        assert json.loads(before["/state"]) == {"episode_id": None, "step_count": 0}
        first = turn_of(ask(socket, "reset", seed=3, episode_id="mine"))
        assert ask(socket, "state")["data"] == {
            "episode_id": "mine",
            "step_count": 0,
            "game": "werewolf_v0",
            "seat": "player_0",
            "done": False,
            "reward": 0.0,
            "faults": {"unreadable": 0, "ambiguous": 0, "illegal": 0, "replaced": 0},
        }
        ask(socket, "step", words=first["options"][0])
        assert ask(socket, "state")["data"]["step_count"] == 1
        assert {path: http.get(path).content for path in KNOWS_NO_GAME} == before
        for method in ("tools/list", "tools/call", "resources/list"):
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "state"}}
            for answer in (http.post("/mcp", json=request).json(), ask(socket, "mcp", **request)["data"]):
                assert answer.get("result") is None
                assert answer["error"]["message"] in {"Environment does not support MCP", f"Method not found: {method}"}


def test_a_reset_over_http_is_the_first_message_of_a_seat_and_a_step_without_a_session_is_refused():
    with served("avalon_v0") as (url, sessions), httpx.Client(base_url=url, trust_env=False) as http:
        first = http.post("/reset", json={"seed": 3}).json()
        with session(url) as socket:
            assert turn_of({"type": "observation", "data": first}) == turn_of(ask(socket, "reset", seed=3))
        refused = http.post("/step", json={"action": {"words": "I approve the team."}})
        assert refused.status_code == 409
        assert refused.json()["detail"].startswith("no game was dealt in this session; accepted: reset first")
        assert http.post("/reset", json={"seat": "player_9"}).status_code == 409
        assert http.post("/step", json={"action": {"say": "aye"}}).status_code == 422
        by_and_by(lambda: sessions.counts, SessionCounts(begun=2, in_progress=0, left=2))


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("no JSON", "this is not JSON that can be used"),
        ('{"type": "peek"}', "Unknown message type: peek"),
        ('{"type": "step", "data": {"words": 5}}', "Invalid message"),
        ('{"type": "step", "data": {"words": "x", "role": "Merlin"}}', "Invalid message"),
        ('{"type": "step", "data": {"type": "list_tools"}}', "Invalid message"),
        ('{"type": "reset", "data": {"seed": -1}}', "seed -1 is not accepted; accepted: a whole number from 0"),
        ('{"type": "reset", "data": {"seed": [1]}}', "seed [1] is not accepted; accepted: a whole number from 0"),
        ('{"type": "reset", "data": {"seat": "player_9"}}', "seat 'player_9' is not accepted; accepted: player_0"),
        ('{"type": "reset", "data": {"episode_id": 5}}', "episode_id 5 is not accepted; accepted: a text"),
    ],
)
def test_what_is_no_message_is_told_and_the_game_goes_on(message, why):
    with served("template_v0") as (url, _), session(url) as socket:
        turn = turn_of(ask(socket, "reset", seed=2))
        socket.send(message)
        answer = json.loads(socket.recv(timeout=60))
        assert answer["type"] == "error"
        assert answer["data"]["message"].startswith(why)
        turn_of(ask(socket, "step", words=turn["options"][0]))


def test_a_client_that_disappears_in_the_middle_is_counted_its_game_ends_and_the_server_goes_on(tmp_path):
    with served("avalon_v0", out=tmp_path) as (url, sessions):
        with session(url) as socket:
            turn = turn_of(ask(socket, "reset", seed=4))
            ask(socket, "step", words=turn["options"][0])
            socket.socket.close()  # without a word of farewell
        with session(url) as socket:
            same_game("avalon_v0", 6, "player_0", play(socket, 6, "player_0"))
        by_and_by(lambda: sessions.counts, SessionCounts(begun=2, in_progress=0, left=1))
    left, whole = (replay.Transcript.read(tmp_path / f"avalon_v0-{k}.jsonl") for k in (1, 2))
    assert left.outcome is not None
    assert any(line.get("by") == "table" and line["seat"] == "player_0" for line in left.lines)
    assert not any(line.get("by") == "table" for line in whole.lines)


def test_a_message_that_is_too_long_ends_its_connection_and_nothing_else():
    with served("template_v0") as (url, _):
        with session(url) as socket, pytest.raises(ConnectionClosed):
            ask(socket, "step", words="x" * 70_000)
        with session(url) as socket:
            same_game("template_v0", 7, table_seats("template_v0")[0], play(socket, 7, table_seats("template_v0")[0]))


def test_the_command_serves_tells_its_address_and_at_the_end_what_was_played():
    words = [
        sys.executable,
        "-m",
        "parlour.training.cli",
        "serve",
        "openenv",
        "--players",
        "5",
        "--port",
        "0",
        "--callers-may-seed",
    ]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = re.fullmatch(r"avalon_v0, player_0: (http://127\.0\.0\.1:\d+)\n", server.stdout.readline())[1]
        with session(url) as socket:
            same_game("avalon_v0", 3, "player_0", play(socket, 3, "player_0"))
            ask(socket, "reset", seed=4)
    finally:
        server.send_signal(signal.SIGINT)
        output, errors = server.communicate(timeout=60)
    assert (output, errors, server.returncode) == ("games: 2, left by their callers: 1\n", "", 0)


def test_a_port_that_is_taken_is_told_in_one_line(capsys):
    with listening("127.0.0.1", 0) as own:
        port = str(own.getsockname()[1])
        assert run(["serve", "openenv", "avalon_v0", "--port", port]) == 2
    assert re.fullmatch(rf"[^\n]*127\.0\.0\.1:{port} cannot be listened at [^\n]*\n", capsys.readouterr().err)


def test_the_code_of_the_page_runs():
    run_page("openenv")
