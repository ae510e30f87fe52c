"""One seat of a game as a server of the Model Context Protocol, so that any assistant can sit down and play.

Interfaces of the package `mcp` 2.3: `MCPServer`, tools with typed arguments and structured results.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Final, cast

import anyio
from mcp import types
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError, accept
from parlour.training.harnesses.listening import LONGEST_MESSAGE, GuardedApp, unanswerable
from parlour.training.harnesses.sessions import Sessions, SessionTurn
from pydantic import Field, ValidationError
from typing_extensions import TypedDict

_INSTRUCTIONS: Final = (
    "You play one seat of a game with others. Call new_game once; it tells the rules, your role and what you may do now. "
    "Then answer each message with say, in one sentence, until done is true. What you say to the table is in the game's "
    "record; think before you call, not in the words that you say."
)


_SHOWN: Final = 60
"""Characters of an argument's name that a refusal shows."""
_PARSE_ERROR: Final = -32700
"""Code of JSON-RPC 2.0."""


class ToolAnswer(TypedDict):
    """The message to the seat."""

    session: Annotated[str, Field(description="Names the game in the calls that follow.")]
    seat: str
    message: Annotated[str, Field(description="What is new, and what may be done now, or how the game ended.")]
    options: Annotated[list[str], Field(description="Sentences that are always understood; empty at the end.")]
    done: Annotated[bool, Field(description="Whether the game is over.")]
    reward: Annotated[float, Field(description="The seat's return; 0 until the game is over.")]
    faults: Annotated[dict[str, int], Field(description="Words that could not be used, by kind; moves replaced.")]


Session = Annotated[str, Field(description="The id that new_game told.")]


class AnsweringServer(MCPServer[Any]):
    """A server that answers every message, including messages that cannot be read, and refuses in one line."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool. Raises `ToolError`."""
        tools = [tool.name for tool in await self.list_tools()]
        if name not in tools:
            raise ToolError(str(accept("tool", name, tools)))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            first = error.__cause__.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))[:_SHOWN]
            raise ToolError(f"{where} of {name}: {first['msg']}") from None

    async def run_stdio_async(self) -> None:
        """Answer at standard input and output."""
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            readable, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)

            async def refuse_unreadable() -> None:
                async with readable:
                    async for message in incoming:
                        if isinstance(message, Exception):
                            await outgoing.send(SessionMessage(_unread(message)))
                        else:
                            await readable.send(message)

            tasks.start_soon(refuse_unreadable)
            await self._lowlevel_server.run(read, outgoing, self._lowlevel_server.create_initialization_options())
            tasks.cancel_scope.cancel()


def _unread(error: Exception) -> types.JSONRPCError:
    """The answer to a line that is no message, under its id if it tells one."""
    line = error.errors()[0]["input"] if isinstance(error, ValidationError) else ""
    reason = "this is no message of JSON-RPC; accepted: a call such as tools/call"
    if isinstance(line, str):
        reason = unanswerable(line) or reason
    return types.JSONRPCError(jsonrpc="2.0", id=_id_in(line), error=types.ErrorData(code=_PARSE_ERROR, message=reason))


def _id_in(line: Any) -> int | str | None:
    """The id of a message, whatever else is wrong with it."""
    try:
        told = json.loads(line, parse_int=_short_int).get("id")
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None
    return told if isinstance(told, int | str) and not isinstance(told, bool) and str(told).isprintable() else None


def _short_int(digits: str) -> int | None:
    return int(digits) if len(digits) < 20 else None


def _error_body(reason: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": _PARSE_ERROR, "message": reason}}


def http_app_of(sessions: Sessions) -> GuardedApp:
    """The application for HTTP, path /mcp; the package checks Host and Origin, too."""
    app = server_of(sessions).streamable_http_app(
        max_request_body_size=LONGEST_MESSAGE, max_sessions=2 * sessions.settings.max_games
    )
    return GuardedApp(app, (), _error_body)


def server_of(sessions: Sessions) -> AnsweringServer:
    """The server: tools `new_game`, `say`, `look`, `leave`."""
    sessions.opener = "new_game"
    made = AnsweringServer(f"parlour-{sessions.settings.game}", instructions=_INSTRUCTIONS, log_level="ERROR")

    @made.tool()
    def new_game(
        seed: Annotated[
            int | None, Field(ge=0, description="The same seed deals the same game; only where the host allows it.")
        ] = None,
        seat: Annotated[str | None, Field(description="Such as player_0; by default the server's own choice.")] = None,
    ) -> ToolAnswer:
        """Begin a game: the rules, your role, what has happened, and what you may do now."""
        return _answer(lambda: sessions.begin_for_caller(seed, seat))

    @made.tool()
    def say(
        session: Session, words: Annotated[str, Field(description="One of the options, or your own words.")]
    ) -> ToolAnswer:
        """Answer at your turn; what happens until your next turn comes back."""
        return _answer(lambda: sessions.say(session, words))

    @made.tool()
    def look(session: Session) -> ToolAnswer:
        """All messages to you so far, once more."""
        return _answer(lambda: sessions.look(session))

    @made.tool()
    def leave(session: Session) -> ToolAnswer:
        """Leave the table: the game continues to its end without you."""
        return _answer(lambda: sessions.leave(session))

    return made


def _answer(call: Callable[[], SessionTurn]) -> ToolAnswer:
    try:
        turn = call()
    except ParlourError as error:
        raise ToolError(str(error)) from None
    return cast(ToolAnswer, plain(turn))
