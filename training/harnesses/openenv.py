"""One seat of a game as an OpenEnv server: an environment for each session, over a WebSocket.

Interfaces of the package `openenv` 0.10, which was called `openenv-core` up to 0.3: `Environment`, `Action`, `Observation`,
`State`, `create_fastapi_app`. A session is a connection; its game ends with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, ClassVar, Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, EnvironmentMetadata, Observation, State
from parlour.envs.core import ParlourError
from parlour.envs.language.text import MAX_WORDS
from parlour.training.harnesses.listening import GuardedApp
from parlour.training.harnesses.sessions import Sessions, SessionTurn
from pydantic import Field

_OPENER: Final = "reset"
_IDLE: Final = 3600.0
"""Seconds after which a session that was opened over HTTP and is not used is closed."""


_SHOWN: Final = 200
"""Characters of a fault that are shown."""


class SeatAction(Action):
    """What a seat says: one of the options, or words of its own."""

    words: str = Field(max_length=MAX_WORDS, description="One of the options, or your own words.")


class SeatObservation(Observation):
    """The message to a seat; `reward` is its return, 0.0 until the game is over."""

    seat: str
    message: str = Field(description="What is new, and what may be done now, or how the game ended.")
    options: list[str] = Field(description="Sentences that are always understood; empty at the end.")
    faults: dict[str, int] = Field(description="Words that could not be used, by kind; moves replaced.")


class TableEnvironment(Environment[SeatAction, SeatObservation, State]):
    """A seat at a table, one game after the other.

    Args:
        sessions: Deals the games.
    """

    SUPPORTS_CONCURRENT_SESSIONS: ClassVar[bool] = True

    def __init__(self, sessions: Sessions) -> None:
        super().__init__()
        self._sessions = sessions
        self._turn: SessionTurn | None = None
        self._episode: str | None = None
        self._steps = 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, seat: str | None = None, **_: Any
    ) -> SeatObservation:
        """Deal a game: the rules, the role, what has happened and what may be done now.

        A game that is not over is played to its end without the caller.

        Args:
            seed: Seed of the game, where the host allows it; None: the server's own.
            episode_id: The caller's name for the game; None: one is drawn.
            seat: The caller's, by agent's name; None: the server's choice.

        Raises:
            ParlourError: An argument is not accepted, or too many games are in progress.
        """
        if episode_id is not None and not isinstance(episode_id, str):
            raise ParlourError(f"episode_id {episode_id!r} is not accepted; accepted: a text")
        self._sessions.admit(seed, seat)
        self.close()
        self._turn = self._sessions.begin(seed, seat)
        self._episode, self._steps = self._turn.session if episode_id is None else episode_id, 0
        return _observation(self._turn)

    def step(self, action: SeatAction, timeout_s: float | None = None, **_: Any) -> SeatObservation:
        """Answer at the seat's turn: what happens until the next one. `timeout_s` has no effect.

        Raises:
            ParlourError: No game was dealt in this session, or it is over.
        """
        if not isinstance(action, SeatAction):
            raise ParlourError('an action without words is not accepted; accepted: {"words": "..."}')
        if self._turn is None:
            raise ParlourError("no game was dealt in this session; accepted: reset first, over the WebSocket /ws")
        self._turn = self._sessions.say(self._turn.session, action.words)
        self._steps += 1
        return _observation(self._turn)

    @property
    def state(self) -> State:
        """Which game this is and how far the seat is; nothing that the seat was not told."""
        if self._turn is None:
            return State()
        turn = self._turn
        return State(
            episode_id=self._episode,
            step_count=self._steps,
            game=self._sessions.settings.game,
            seat=turn.seat,
            done=turn.done,
            reward=turn.reward,
            faults=dict(turn.faults),
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Metadata of the game, whatever is being played."""
        settings = self._sessions.settings
        return EnvironmentMetadata(
            name=f"parlour-{settings.game}",
            description=f"One of {len(settings.seats)} seats of {settings.game}; players of parlour hold the others.",
            version=version("parlour"),
            author="parlour contributors",
        )

    def close(self) -> None:
        """Leave the table: a game that is not over is played to its end without the caller, and counted."""
        if self._turn is not None:
            self._sessions.end(self._turn.session)
            self._turn = None


def app_of(sessions: Sessions, hosts: Sequence[str] = ()) -> GuardedApp:
    """The application: /ws, where games are played, and the other routes of OpenEnv, which concern no game.

    Args:
        sessions: Deals the games.
        hosts: Names of this server, besides IP addresses and localhost.
    """
    sessions.opener = _OPENER
    limits = ConcurrencyConfig(max_concurrent_envs=sessions.settings.max_games, session_timeout=_IDLE)
    made: FastAPI = create_fastapi_app(
        partial(TableEnvironment, sessions), SeatAction, SeatObservation, concurrency_config=limits
    )
    made.add_exception_handler(ParlourError, _refusal)
    made.add_exception_handler(RequestValidationError, _no_request)
    made.add_exception_handler(HTTPException, _no_request)
    return GuardedApp(made, hosts, _error_body)


def _error_body(reason: str) -> dict[str, Any]:
    """A refusal, as OpenEnv has it over HTTP (`detail`) and over a WebSocket (`type` and `data`)."""
    return {"type": "error", "data": {"message": reason, "code": "INVALID_JSON"}, "detail": reason}


def _observation(turn: SessionTurn) -> SeatObservation:
    return SeatObservation(
        seat=turn.seat,
        message=turn.message,
        options=list(turn.options),
        faults=dict(turn.faults),
        done=turn.done,
        reward=turn.reward,
    )


async def _refusal(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 409)


async def _no_request(_: Request, error: Exception) -> JSONResponse:
    """The refusal of a body that is no request: the first fault, without the body."""
    if isinstance(error, HTTPException) and isinstance(error.detail, str):
        return JSONResponse({"detail": error.detail}, error.status_code)
    assert isinstance(error, RequestValidationError | HTTPException)
    faults: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else error.detail
    where = ".".join(str(part) for part in faults[0]["loc"])[:_SHOWN]
    return JSONResponse({"detail": f"{where}: {faults[0]['msg']}"[: 2 * _SHOWN]}, 422)
