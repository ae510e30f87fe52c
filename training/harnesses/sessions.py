"""Games in progress that callers from outside play by an id: one seat each, one call at a time.

Each is a game of `parlour.training.play.outside`: a caller sees only what its seat may know.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_from
from parlour.envs.terminal import tell
from parlour.envs.text import MAX_WORDS
from parlour.training.play.outside import OutsideSeats, OutsideTable
from parlour.wrappers.opponents import Opponents

_ID_BYTES: Final = 12


@dataclass(frozen=True)
class SessionSettings:
    """Which games are played, and how many at once.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str
    seat: str = "player_0"
    """The seat of the callers, by agent's name, where they do not ask for another."""
    opponents: Opponents = "heuristic"
    """Who plays the other seats: as `SeatEnv` takes them."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the game."""
    on_bad: str = "ask_again"
    tries: int = 3
    seed: int = 0
    """Seed of the first game without a seed from the caller; later games count on from it."""
    out: Path | None = None
    """Folder for the transcripts; None: none are written."""
    max_games: int = 64
    """Games in progress at once. A further game replaces a finished game, or a game whose caller is silent; otherwise it is
    refused."""
    patience: float = 3600.0
    """Seconds without a call after which a game gives its place away where one is needed: it is ended as by `Sessions.end`."""

    def __post_init__(self) -> None:
        check_from("seed", self.seed, 0)
        check_from("max_games", self.max_games, 1)
        if not self.patience >= 0:
            raise accept("patience", self.patience, "seconds, 0 or more")
        check_seat(self.seat, self.seats)
        if isinstance(self.opponents, str):
            self.table.check_opponents()

    @property
    def table(self) -> OutsideTable:
        """How the table is set up."""
        return OutsideTable(self.game, self.options, self.opponents, self.on_bad, self.tries)

    @property
    def seats(self) -> list[str]:
        """The agents at the table."""
        return self.table.seats


def check_seat(seat: str, seats: list[str]) -> None:
    """Raise `ParlourError` for a seat that is not at the table."""
    if seat not in seats:
        raise accept("seat", seat, seats)


@dataclass(frozen=True)
class SessionTurn:
    """The reply to a call."""

    session: str
    """Names the game in the calls that follow."""
    seat: str
    message: str
    """What is new, and what may be done now, or how the game ended."""
    options: tuple[str, ...]
    """Sentences that are always understood; other words may be, too. Empty at the end."""
    done: bool
    reward: float
    """The seat's return; 0.0 until the game is over."""
    faults: Mapping[str, int]
    """How many of its words were unreadable, ambiguous, illegal, and how many moves were replaced."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"options": list(self.options), "faults": dict(self.faults)}


@dataclass(frozen=True)
class SessionCounts:
    """What became of the games of a server."""

    begun: int
    in_progress: int
    """Games in progress, except games whose callers have left."""
    left: int
    """Games that their callers left before the end; they are played to their ends without them."""


class Sessions:
    """Games by id."""

    def __init__(self, settings: SessionSettings) -> None:
        self.settings = settings
        self._games: dict[str, _Session] = {}
        self._begun = self._left = 0
        self._lock = Lock()
        self._endings = ThreadPoolExecutor(1, "endings of sessions")

    @property
    def counts(self) -> SessionCounts:
        """What became of the games so far."""
        with self._lock:
            going_on = sum(not game.over for game in self._games.values())
            return SessionCounts(self._begun, going_on, self._left)

    def begin(self, seed: int | None = None, seat: str | None = None) -> SessionTurn:
        """Deal a game.

        Args:
            seed: Seed of the game; None: the next seed of the settings.
            seat: The caller's seat; None: the seat in the settings.

        Raises:
            ParlourError: An argument is not accepted, or too many games are in progress.
        """
        self.check_game(seed, seat)
        chosen, agent = self.settings, self.settings.seat if seat is None else seat
        with self._lock:
            self._make_room()
            number, self._begun = self._begun, self._begun + 1
            name = secrets.token_hex(_ID_BYTES)
            session = self._games[name] = _Session(name, agent, self._dealt_by(agent, number))
        try:
            with session.taken() as game:
                game.deal(chosen.seed + number if seed is None else seed)
                return session.turn()
        except BaseException:
            self._games.pop(name).game.close()  # what was not dealt never ends
            raise

    def check_game(self, seed: int | None, seat: str | None) -> None:
        """Raise `ParlourError` for arguments with which no game begins."""
        if seat is not None:
            check_seat(seat, self.settings.seats)
        if seed is not None:
            check_from("seed", seed, 0)

    def say(self, session: str, words: str) -> SessionTurn:
        """Answer at the turn of the caller's seat.

        Raises:
            ParlourError: There is no such game, it is over, answers another call, or the words are too long.
        """
        if len(words) > MAX_WORDS:
            raise ParlourError(f"{len(words)} characters are not accepted; accepted: {MAX_WORDS} at most")
        played = self._session(session)
        with played.taken() as game:
            game.say(words)
            return played.turn()

    def look(self, session: str) -> SessionTurn:
        """All messages to the seat so far, again. Raises `ParlourError` as `say`."""
        played = self._session(session)
        with played.taken() as game:
            return played.turn(game.record(played.agent))

    def leave(self, session: str) -> SessionTurn:
        """Say nothing any more: the game is played to its end by the table's rules for silence, and counted so."""
        played = self._session(session)
        with played.taken() as game:
            with self._lock:
                self._left += not game.done
            game.leave(played.agent)
            return played.turn()

    def end(self, session: str) -> None:
        """Take a game away, for a caller that is gone or begins another: its place is free and its id unknown at once.

        An unfinished game is played to its end as by `leave`, in a thread, one game after the other; then the transcript is
        closed. Raises `ParlourError` for an unknown id.
        """
        with self._lock:
            self._end(self._session(session))

    def close(self) -> None:
        """Close the transcripts, once the games that callers left are at their ends; games in progress stay unfinished."""
        self._endings.shutdown()
        for session in self._games.values():
            session.game.close()
        self._games.clear()

    # -- inside ------------------------------------------------------------------------------------------------

    def _dealt_by(self, agent: str, number: int) -> OutsideSeats:
        chosen = self.settings
        path = None if chosen.out is None else chosen.out / f"{chosen.game}-{number + 1}.jsonl"
        others = chosen.opponents if isinstance(chosen.opponents, str) else "own"
        players = {seat: "caller" if seat == agent else others for seat in chosen.seats}
        return OutsideSeats(chosen.table, [agent], path, {"players": players})

    def _session(self, name: str) -> _Session:
        session = self._games.get(name)
        if session is None:
            raise ParlourError("there is no such session; accepted: the id that the beginning of a game told")
        return session

    def _make_room(self) -> None:
        if len(self._games) < self.settings.max_games:
            return
        idle = [game for game in self._games.values() if not game.answering]
        ready = next((game for game in idle if game.over), min(idle, key=lambda game: game.called, default=None))
        if ready is None or (not ready.over and monotonic() - ready.called < self.settings.patience):
            raise ParlourError(
                f"{len(self._games)} games are in progress; accepted: a new one once one of them is over"
            )
        self._end(ready)

    def _end(self, game: _Session) -> None:
        del self._games[game.name]
        self._left += not game.over
        self._endings.submit(game.play_out)


class _Session:
    """One game, which answers one call at a time."""

    def __init__(self, name: str, agent: str, game: OutsideSeats) -> None:
        self.name, self.agent, self.game = name, agent, game
        self.called = monotonic()
        """When its caller was heard of last, in seconds."""
        self._lock = Lock()

    @property
    def answering(self) -> bool:
        return self._lock.locked()

    @property
    def over(self) -> bool:
        return not self.answering and self.game.done

    @contextmanager
    def taken(self) -> Iterator[OutsideSeats]:
        if not self._lock.acquire(blocking=False):
            raise ParlourError("this game answers another call; accepted: one call at a time")
        self.called = monotonic()
        try:
            yield self.game
        finally:
            self.called = monotonic()
            self._lock.release()

    def play_out(self) -> None:
        """Play to the end without the caller, and close the transcript."""
        with self._lock:
            try:
                self.game.leave_all()
            except Exception as error:  # of a player, or of its model: no caller is left to be told
                tell(f"a game that its caller left could not be played to its end: {error}", error=True)
            finally:
                self.game.close()

    def turn(self, message: str | None = None) -> SessionTurn:
        """What the caller is told: what is new, or another message."""
        game, agent = self.game, self.agent
        message = game.hear(agent) if message is None else message
        return SessionTurn(self.name, agent, message, game.options, game.done, game.rewards[agent], game.faults[agent])
