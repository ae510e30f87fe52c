"""Servers of a seat as their callers meet them: `Sessions` in this process, `parlour serve mcp`, `parlour serve openenv`."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from parlour.envs.core import ParlourError
from parlour.training.harnesses.sessions import Sessions, SessionSettings

GAME: Final = "avalon_v0"
_SOON: Final = 10.0
_STARTED: Final = 60.0
"""Seconds for a process to start, or to end."""


class Refusal(Exception):  # noqa: N818 - what a caller gets
    """What a server answered instead of a game."""


class Served(Protocol):
    """A server, as one caller uses it."""

    tools: tuple[str, ...]
    """What refusals may name."""

    def begin(self, seed: int | None, seat: str | None) -> Any:
        """Begin a game. Raises `Refusal`."""

    def left(self, game: Any) -> str:
        """Leave the game; what the caller is told of its end."""

    def answer_to(self, value: str) -> str | None:
        """The answer to a message that holds a value, given as JSON; None for none in time."""


class Host(Protocol):
    """Starts a server, with the defaults of its command."""

    def __call__(self, out: Path | None, **settings: Any) -> AbstractContextManager[Served]: ...


class InProcess:
    """`Sessions` by themselves."""

    tools = ("begin",)

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def begin(self, seed: int | None, seat: str | None) -> Any:
        try:
            return self._sessions.begin_for_caller(seed, seat).session
        except ParlourError as error:
            raise Refusal(str(error)) from None

    def left(self, game: Any) -> str:
        return self._sessions.leave(game).message

    def answer_to(self, value: str) -> str | None:
        raise NotImplementedError("it takes no messages")


@contextmanager
def in_process(out: Path | None, **settings: Any) -> Iterator[Served]:
    sessions = Sessions(SessionSettings(game=GAME, options={"num_players": 5}, out=out, **settings))
    try:
        yield InProcess(sessions)
    finally:
        sessions.close()


class OverStdio:
    """`parlour serve mcp`."""

    tools = ("new_game", "say", "look", "leave")

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self._calls = process, 0
        self._lines = selectors.DefaultSelector()
        assert process.stdout is not None
        self._lines.register(process.stdout, selectors.EVENT_READ)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        self._asked("initialize", json.dumps(client), _STARTED)
        self._say('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def begin(self, seed: int | None, seat: str | None) -> Any:
        given = {key: value for key, value in {"seed": seed, "seat": seat}.items() if value is not None}
        return self._called("new_game", given)["session"]

    def left(self, game: Any) -> str:
        return str(self._called("leave", {"session": game})["message"])

    def answer_to(self, value: str) -> str | None:
        field = "seed" if value.isdecimal() else "seat"
        return self._asked("tools/call", f'{{"name": "new_game", "arguments": {{"{field}": {value}}}}}')

    def _called(self, tool: str, arguments: dict[str, Any]) -> Any:
        answer = self._asked("tools/call", json.dumps({"name": tool, "arguments": arguments}))
        if answer is None:
            raise Refusal(f"no answer to {tool}")
        result = json.loads(answer)["result"]
        if result.get("isError"):
            raise Refusal(result["content"][0]["text"])
        return result["structuredContent"]

    def _asked(self, method: str, parameters: str, seconds: float = _SOON) -> str | None:
        self._calls += 1
        self._say(f'{{"jsonrpc": "2.0", "id": {self._calls}, "method": "{method}", "params": {parameters}}}')
        return self._process.stdout.readline() if self._lines.select(seconds) else None  # type: ignore[union-attr]

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()


@contextmanager
def over_stdio(out: Path | None, **settings: Any) -> Iterator[Served]:
    with command("mcp", out, settings, stdin=subprocess.PIPE) as process:
        yield OverStdio(process)


class OverWebSocket:
    """`parlour serve openenv`."""

    tools = ("reset",)

    def __init__(self, url: str) -> None:
        from websockets.sync.client import connect

        self._connect = lambda: connect(f"ws://{url}/ws", proxy=None)
        self._socket = self._connect()

    def begin(self, seed: int | None, seat: str | None) -> Any:
        given = {key: value for key, value in {"seed": seed, "seat": seat}.items() if value is not None}
        self._socket.send(json.dumps({"type": "reset", "data": given}))
        answer = json.loads(self._socket.recv(timeout=_SOON))
        if answer["type"] == "error":
            raise Refusal(answer["data"]["message"])
        return answer["data"]["observation"]["message"]

    def left(self, game: Any) -> str:
        """No answer tells the end of a game that was left: its beginning tells which one it is."""
        return str(game)

    def answer_to(self, value: str) -> str | None:
        from websockets.exceptions import ConnectionClosed

        field = "seed" if value.isdecimal() else "episode_id"
        self._socket.send(f'{{"type": "reset", "data": {{"{field}": {value}}}}}')
        try:
            return str(self._socket.recv(timeout=_SOON))
        except (TimeoutError, ConnectionClosed):
            self._socket = self._connect()
            return None

    def close(self) -> None:
        self._socket.close()


@contextmanager
def over_websocket(out: Path | None, **settings: Any) -> Iterator[Served]:
    with openenv(out, **settings) as (url, _), ExitStack() as stack:
        served = OverWebSocket(url)
        stack.callback(served.close)
        yield served


@contextmanager
def openenv(out: Path | None = None, **settings: Any) -> Iterator[tuple[str, str]]:
    with command("openenv", out, settings, "--port", "0") as process:
        assert process.stdout is not None
        yield process.stdout.readline().split("http://")[1].strip(), "/reset"


@contextmanager
def mcp_over_http() -> Iterator[tuple[str, str]]:
    from tests.integrations.ports import free_port, wait_for

    port = free_port()
    with command("mcp", None, {}, "--http", str(port)):
        wait_for(port)
        yield f"127.0.0.1:{port}", "/mcp"


@contextmanager
def guarded() -> Iterator[tuple[str, str]]:
    """What both listen with, around an application that echoes."""
    from parlour.training.harnesses.listening import GuardedApp, SeatServer, listening
    from starlette.requests import Request
    from starlette.responses import Response

    async def echo(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await Response(await Request(scope, receive).body())(scope, receive, send)

    own = listening("127.0.0.1", 0)
    with answering(SeatServer(GuardedApp(echo, (), lambda reason: {"detail": reason}), 4), own):
        yield f"127.0.0.1:{own.getsockname()[1]}", "/"


@contextmanager
def answering(server: Any, own: Any) -> Iterator[None]:
    """A server of uvicorn's in a thread, at a socket."""
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
        own.close()


@contextmanager
def command(
    name: str, out: Path | None, settings: dict[str, Any], *words: str, stdin: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[str]]:
    """A command of parlour that serves, until the block ends."""
    options = [word for key, value in settings.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    folder = [] if out is None else ["--out", str(out)]
    asked = [
        sys.executable,
        "-m",
        "parlour.training.cli",
        "serve",
        name,
        GAME,
        "--players",
        "5",
        *folder,
        *options,
        *words,
    ]
    environment = {**os.environ, "NO_COLOR": "1"}
    process = subprocess.Popen(
        asked, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    )
    try:
        yield process
    finally:
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_STARTED)
        except subprocess.TimeoutExpired:
            process.kill()
        assert process.stdout is not None
        process.stdout.close()


HOSTS: Final[dict[str, Host]] = {"sessions": in_process}
"""Name -> starts a server of games. Those of other people's libraries need these."""
WEB: Final[dict[str, Callable[[], AbstractContextManager[tuple[str, str]]]]] = {}
"""Name -> starts a server that speaks HTTP; its address, and the path that begins something."""
if find_spec("uvicorn"):
    WEB["guarded"] = guarded
if find_spec("mcp") and find_spec("mcp.server.mcpserver"):  # not the version that openenv wants
    HOSTS["mcp"] = over_stdio
    WEB["mcp"] = mcp_over_http
if find_spec("openenv"):
    HOSTS["openenv"] = over_websocket
    WEB["openenv"] = openenv
