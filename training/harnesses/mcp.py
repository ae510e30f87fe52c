"""One seat of a game as a server of the Model Context Protocol, so that any assistant can sit down and play.

Interfaces of the package `mcp` 2.3: `MCPServer`, tools with typed arguments and structured results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, cast

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from parlour.envs.core import ParlourError
from parlour.training.harnesses.sessions import Sessions, SessionTurn
from pydantic import Field
from typing_extensions import TypedDict

_INSTRUCTIONS: Final = (
    "You play one seat of a game with others. Call new_game once; it tells the rules, your role and what you may do now. "
    "Then answer each message with say, in one sentence, until done is true. What you say to the table is in the game's "
    "record; think before you call, not in the words that you say."
)


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


def server_of(sessions: Sessions) -> MCPServer[Any]:
    """The server: tools `new_game`, `say`, `look`, `leave`."""
    made: MCPServer[Any] = MCPServer(f"parlour-{sessions.settings.game}", instructions=_INSTRUCTIONS, log_level="ERROR")

    @made.tool()
    def new_game(
        seed: Annotated[int | None, Field(ge=0, description="The same seed deals the same game.")] = None,
        seat: Annotated[str | None, Field(description="Such as player_0; by default the server's own choice.")] = None,
    ) -> ToolAnswer:
        """Begin a game: the rules, your role, what has happened, and what you may do now."""
        return _answer(lambda: sessions.begin(seed, seat))

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
    return cast(ToolAnswer, turn.as_json())
