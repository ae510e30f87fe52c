"""MCP: an assistant's side of the protocol plays whole games at our server, over stdio, HTTP and in one process.

The client is the package `mcp`'s own. docs/integrations/mcp.md says in prose what is tested here.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mcp", reason="mcp is not installed; run scripts/test-integrations mcp")

from mcp import Client, StdioServerParameters
from parlour.envs import replay
from parlour.training.harnesses.mcp import server_of
from parlour.training.harnesses.sessions import Sessions, SessionSettings

from tests.integrations.pages import run_page
from tests.integrations.ports import free_port, wait_for
from tests.training.harnesses.bridged_games import TABLES, drawn, same_game
from tests.training.harnesses.one_stub import GAMES, by_endpoint, dealt, same_games, seat_of, stub_words


async def call(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    content: dict[str, Any] = answer.structured_content
    return content


async def play(client: Any, seed: int, seat: str) -> list[dict[str, Any]]:
    """One game by options that are drawn; all that was told."""
    rng = np.random.default_rng(seed)
    turns = [await call(client, "new_game", seed=seed, seat=seat)]
    while not turns[-1]["done"]:
        words = drawn(turns[-1]["options"], rng)
        turns.append(await call(client, "say", session=turns[-1]["session"], words=words))
    return turns


@pytest.mark.parametrize("game", TABLES)
def test_one_model_plays_the_same_hundred_games_here_and_behind_an_endpoint(game, tmp_path):
    sessions = Sessions(
        SessionSettings(
            game=game, seat=seat_of(game, 0), options=TABLES[game], out=tmp_path, max_games=30, callers_may_seed=True
        )
    )

    async def games() -> list[float]:
        rewards = []
        async with Client(server_of(sessions)) as client:
            for k, seed in enumerate(dealt(GAMES)):
                turn, messages = await call(client, "new_game", seed=seed, seat=seat_of(game, k)), []
                while not turn["done"]:
                    messages.append({"role": "user", "content": turn["message"]})
                    words = stub_words(messages)
                    messages.append({"role": "assistant", "content": words})
                    turn = await call(client, "say", session=turn["session"], words=words)
                rewards.append(turn["reward"])
        return rewards

    rewards = asyncio.run(games())
    sessions.close()
    same_games(by_endpoint(game, GAMES, tmp_path / "endpoint"), game, tmp_path, rewards)


def test_a_seat_over_standard_input_and_output_at_the_default_table(tmp_path):
    asked = [
        "-m",
        "parlour.training.cli",
        "serve",
        "mcp",
        "--seat",
        "player_2",
        "--out",
        str(tmp_path),
        "--callers-may-seed",
    ]

    async def games() -> list[dict[str, Any]]:
        async with Client(StdioServerParameters(command=sys.executable, args=asked, env=dict(os.environ))) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {"new_game", "say", "look", "leave"}
            return await play(client, 3, "player_2")

    turns = asyncio.run(games())
    assert replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").outcome.returns[2] == turns[-1]["reward"]


def test_words_that_cannot_be_used_and_wrong_sessions_are_told_and_the_server_goes_on():
    sessions = Sessions(SessionSettings(game="avalon_v0", callers_may_seed=True))

    async def games() -> None:
        async with Client(server_of(sessions)) as client:
            turn = await call(client, "new_game", seed=1)
            for _ in range(200):  # a model that never says anything of use ends its game by the table's rules
                if turn["done"]:
                    break
                turn = await call(client, "say", session=turn["session"], words="Let me think about it.\x00</tool>")
            refused = await client.call_tool("say", {"session": turn["session"], "words": "And now?"})
            assert refused.is_error
            assert "the game is over" in refused.content[0].text
            refused = await client.call_tool("look", {"session": "nobody's"})
            assert "there is no such session" in refused.content[0].text
            left = await call(client, "leave", session=(await call(client, "new_game", seed=2))["session"])
            assert left["done"]
            assert left["faults"]["replaced"] > 0
            assert (await play(client, 5, "player_1"))[-1]["done"]

    asyncio.run(games())


@pytest.mark.parametrize("value", ['"\\ud800"', "9" * 5001], ids=["half a surrogate pair", "a long number"])
def test_a_line_that_cannot_be_answered_gets_a_short_answer_and_the_server_goes_on(value):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    command = [sys.executable, "-m", "parlour.training.cli", "serve", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def answer_to(number: int, method: str, params: str) -> str:
            server.stdin.write(f'{{"jsonrpc": "2.0", "id": {number}, "method": "{method}", "params": {params}}}\n')
            server.stdin.flush()
            return server.stdout.readline()

        answer_to(1, "initialize", json.dumps(hello))
        server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        assert 0 < len(answer_to(2, "tools/call", f'{{"name": "new_game", "arguments": {{"seat": {value}}}}}')) <= 1000
        assert "session" in answer_to(3, "tools/call", '{"name": "new_game", "arguments": {}}')
        server.stdin.close()


def test_several_clients_over_http_have_games_of_their_own_and_one_that_disappears_ends_nothing():
    port = free_port()
    words = [
        sys.executable,
        "-m",
        "parlour.training.cli",
        "serve",
        "mcp",
        "avalon_v0",
        "--players",
        "5",
        "--callers-may-seed",
    ]
    words += ["--http", str(port)]
    server = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "NO_COLOR": "1"}
    )
    try:
        url = f"http://127.0.0.1:{port}/mcp"
        wait_for(port)

        async def play_seed(seed: int) -> list[dict[str, Any]]:
            async with Client(url) as client:
                return await play(client, seed, "player_0")

        async def begun() -> None:
            async with Client(url) as client:
                await call(client, "new_game", seed=0)

        async def games() -> list[list[dict[str, Any]]]:
            await begun()  # and is gone
            return list(await asyncio.gather(*map(play_seed, range(4))))

        for seed, turns in enumerate(asyncio.run(games())):
            same_game("avalon_v0", seed, "player_0", turns)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


def test_the_code_of_the_page_runs():
    run_page("mcp")
