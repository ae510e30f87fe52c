"""Games in progress that callers from outside play by an id: one seat each, one call at a time.

Each is a game of `parlour.training.play.outside`: a caller sees only what its seat may know, and nothing that a later deal follows
from. `Sessions.begin` is for the process that holds the sessions, such as a trainer. `Sessions.begin_for_caller` is for servers: it
keeps the limits of the settings.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Condition, Lock
from time import monotonic
from typing import Annotated, Any, Final, Self

from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError, check_from, check_one_of
from parlour.envs.language.text import MAX_WORDS
from parlour.envs.settings import Settings
from parlour.training.harnesses.transcript_names import finish, last_number, name_in_progress, size_of
from parlour.training.play.outside import OutsideSeats, OutsideTable
from parlour.wrappers.opponents import Opponents
from pydantic import Field, SkipValidation, model_validator

_ID_BYTES: Final = 12
_SEED_BITS: Final = 63
"""Too many seeds for a caller to try them all."""
_MINUTE: Final = 60.0
_ROOM_WAIT: Final = 10.0
"""Seconds for which a new game waits for the end of a game that its caller left."""


class SessionSettings(Settings):
    """Which games are played, and how many at once.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str
    """Name of the game."""
    seat: str = "player_0"
    """The seat of the callers, by agent's name, where they do not ask for another."""
    opponents: Annotated[Opponents, SkipValidation] = "heuristic"
    """Who plays the other seats: as `SeatEnv` takes them."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game."""
    on_bad: str = "ask_again"
    """Handling of words that cannot be used."""
    tries: int = 3
    """How often a caller is asked again."""
    seed: int | None = Field(default=None, ge=0)
    """Makes the deals repeatable. Whoever knows or guesses it can compute every role. None: each deal is random."""
    callers_may_seed: bool = False
    """Whether a caller of a server may name the seed of its deal, and thereby know every role."""
    out: Path | None = None
    """Folder for the transcripts; None: none are written. Callers must not be able to read it."""
    max_games: int = Field(default=64, ge=1)
    """Games in progress at once, including games that their callers left. A further game replaces a finished game, or a game whose
    caller is silent; otherwise it is refused."""
    games_per_minute: int = Field(default=120, ge=1)
    """Games that callers of a server may begin in a minute."""
    max_disk: int = Field(default=2**30, ge=1)
    """Bytes in `out` beyond which callers of a server begin no game."""
    patience: float = Field(default=3600.0, ge=0)
    """Seconds without a call after which a game gives its place away where one is needed: it is ended as by `Sessions.end`."""

    @model_validator(mode="after")
    def _has_a_table(self) -> Self:
        check_one_of("seat", self.seat, self.seats)
        if isinstance(self.opponents, str):
            self.table.check_opponents()
        return self

    @property
    def table(self) -> OutsideTable:
        """How the table is set up."""
        return OutsideTable(
            **{name: getattr(self, name) for name in ("game", "options", "opponents", "on_bad", "tries")}
        )

    @property
    def seats(self) -> list[str]:
        """The agents at the table."""
        return self.table.seats


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


@dataclass(frozen=True)
class SessionCounts:
    """What became of the games of a server."""

    begun: int
    in_progress: int
    """Games in progress, except games whose callers have left."""
    left: int
    """Games that their callers left before the end; they are played to their ends without them."""


class Sessions:
    """Games by id.

    Args:
        settings: Which games are played.
        opener: What a caller uses to begin a game; refusals name it. Servers set it.
    """

    def __init__(self, settings: SessionSettings, opener: str = "begin") -> None:
        self.settings, self.opener = settings, opener
        self._games: dict[str, _Session] = {}
        self._begun = self._left = self._ending = 0
        self._earlier = 0 if settings.out is None else last_number(settings.out, settings.game)
        """Number of the last game in the folder, of an earlier server."""
        self._recent: deque[float] = deque()
        """When callers began games in the last minute."""
        self._lock = Lock()
        self._room = Condition(self._lock)
        self._endings = ThreadPoolExecutor(1, "endings of sessions")

    @property
    def counts(self) -> SessionCounts:
        """What became of the games so far."""
        with self._lock:
            going_on = sum(not game.over for game in self._games.values())
            return SessionCounts(self._begun, going_on, self._left)

    def begin(self, seed: int | None = None, seat: str | None = None) -> SessionTurn:
        """Deal a game, for the process that holds the sessions.

        Args:
            seed: Seed of the game; None: a seed that follows from the settings' seed, or a random one.
            seat: The caller's seat; None: the seat in the settings.

        Raises:
            ParlourError: An argument is not accepted, or too many games are in progress.
        """
        self.check_game(seed, seat)
        agent = self.settings.seat if seat is None else seat
        with self._room:
            self._make_room()
            self._begun += 1
            number = self._earlier + self._begun
            name = secrets.token_hex(_ID_BYTES)
            session = self._games[name] = self._session_at(agent, name, number)
        try:
            with session.taken() as game:
                game.deal(self._seed_of(number) if seed is None else seed)
                return session.turn()
        except BaseException:
            self._games.pop(name).close()  # what was not dealt never ends
            raise

    def begin_for_caller(self, seed: int | None = None, seat: str | None = None) -> SessionTurn:
        """Deal a game, for somebody outside: within the limits of the settings. Raises `ParlourError` as `begin`."""
        self.admit(seed, seat)
        return self.begin(seed, seat)

    def admit(self, seed: int | None = None, seat: str | None = None) -> None:
        """Count a game that somebody outside is about to begin. Raises `ParlourError` for one too many."""
        self.check_caller(seed, seat)
        self._check_disk()
        self._check_rate()

    def check_caller(self, seed: int | None, seat: str | None) -> None:
        """Raise `ParlourError` for arguments with which no caller of a server begins a game."""
        self.check_game(seed, seat)
        if seed is not None and not self.settings.callers_may_seed:
            raise ParlourError(
                f"a seed is not accepted from callers of this server; accepted: {self.opener} without seed"
            )

    def check_game(self, seed: int | None, seat: str | None) -> None:
        """Raise `ParlourError` for arguments with which no game begins."""
        if seat is not None:
            check_one_of("seat", seat, self.settings.seats)
        if seed is not None:
            check_from("seed", seed, 0)
            if seed.bit_length() > _SEED_BITS:
                raise ParlourError(
                    f"a seed of {seed.bit_length()} bits is not accepted; accepted: {_SEED_BITS} at most"
                )

    def say(self, session: str, words: str) -> SessionTurn:
        """Answer at the turn of the caller's seat.

        Raises:
            ParlourError: There is no such game, it is over, answers another call, or the words are too long.
        """
        if len(words) > MAX_WORDS:
            raise ParlourError(f"{len(words)} characters are not accepted; accepted: {MAX_WORDS} at most")
        played = self._session(session)
        with played.taken() as game:
            if game.done:
                raise ParlourError(f"the game is over; accepted: {self.opener}")
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
        """Take a game away, for a caller that is gone or begins another: its id is unknown at once.

        An unfinished game is played to its end as by `leave`, in a thread, one game after the other; then the transcript is
        closed and its place is free. Raises `ParlourError` for an unknown id.
        """
        with self._lock:
            self._end(self._session(session))

    def close(self) -> None:
        """Close the transcripts, once the games that callers left are at their ends; games in progress stay unfinished."""
        self._endings.shutdown()
        for session in self._games.values():
            session.close()
        self._games.clear()

    # -- inside ------------------------------------------------------------------------------------------------

    def _session_at(self, agent: str, name: str, number: int) -> _Session:
        chosen = self.settings
        path = None if chosen.out is None else name_in_progress(chosen.out)
        others = chosen.opponents if isinstance(chosen.opponents, str) else "own"
        players = {seat: "caller" if seat == agent else others for seat in chosen.seats}
        game = OutsideSeats(chosen.table, [agent], path, {"players": players}, private=True)
        return _Session(name, agent, game, path, number)

    def _seed_of(self, number: int) -> int:
        """Seed of a deal: no seed tells another one without the seed of the settings."""
        if self.settings.seed is None:
            return secrets.randbits(_SEED_BITS)
        drawn = sha256(f"{self.settings.seed} {number}".encode()).digest()
        return int.from_bytes(drawn) & (1 << _SEED_BITS) - 1

    def _check_rate(self) -> None:
        with self._lock:
            now, most = monotonic(), self.settings.games_per_minute
            while self._recent and now - self._recent[0] >= _MINUTE:
                self._recent.popleft()
            if len(self._recent) >= most:
                later = f"{self.opener} again in {_MINUTE - (now - self._recent[0]):.0f} s"
                raise ParlourError(f"more than {most} games in a minute are not accepted; accepted: {later}")
            self._recent.append(now)

    def _check_disk(self) -> None:
        out, most = self.settings.out, self.settings.max_disk
        if out is not None and size_of(out) >= most:
            raise ParlourError(
                f"the transcripts fill {most} bytes; accepted: {self.opener} when the host has made room"
            )

    def _session(self, name: str) -> _Session:
        session = self._games.get(name)
        if session is None:
            raise ParlourError(f"there is no such session; accepted: the session that {self.opener} returned")
        return session

    def _make_room(self) -> None:
        """Wait for a place, with the lock held. Raises `ParlourError` if none becomes free."""
        chosen = self.settings
        while len(self._games) + self._ending >= chosen.max_games:
            idle = [game for game in self._games.values() if not game.answering]
            ready = next((game for game in idle if game.over), min(idle, key=lambda game: game.called, default=None))
            silent = ready is not None and monotonic() - ready.called >= chosen.patience
            if ready is not None and (ready.over or (silent and not self._ending)):
                self._end(ready)
            elif not self._ending or not self._room.wait(_ROOM_WAIT):
                raise ParlourError(
                    f"{chosen.max_games} games are in progress; accepted: {self.opener} again once one of them is over"
                )

    def _end(self, game: _Session) -> None:
        del self._games[game.name]
        if game.over:
            game.close()
            return
        self._left += 1
        self._ending += 1
        self._endings.submit(self._play_out, game)

    def _play_out(self, game: _Session) -> None:
        try:
            game.play_out()
        finally:
            with self._room:
                self._ending -= 1
                self._room.notify_all()


class _Session:
    """One game, which answers one call at a time."""

    def __init__(self, name: str, agent: str, game: OutsideSeats, path: Path | None, number: int) -> None:
        self.name, self.agent, self.game, self._path, self._number = name, agent, game, path, number
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
            if self.game.dealt and self.game.done:
                self.close()
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
                self.close()

    def close(self) -> None:
        """Close the transcript, which gets its name: nobody plays this game any more."""
        self.game.close()
        if self._path is not None:
            finish(self._path, self.game.settings.game, self._number)
            self._path = None

    def turn(self, message: str | None = None) -> SessionTurn:
        """What the caller is told: what is new, or another message."""
        game, agent = self.game, self.agent
        message = game.hear(agent) if message is None else message
        return SessionTurn(self.name, agent, message, game.options, game.done, game.rewards[agent], game.faults[agent])
