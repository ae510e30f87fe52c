"""Games in flight: so many at once, each at a table of its own, with players of its own.

This is for players who wait: while a language model answers one game over HTTP, the others go on. The games run in
threads, so players who compute gain nothing from it; those gain from a pool of processes (`parlour.training.parallel.ray`), each
of which has so many games in flight. Results do not depend on how many games are in flight: players are
reset for each game from its seed, and what was played is handed over in the order of the games. Only a player that
carries something over from game to game, against the sense of `reset`, can make a difference.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol, TypeVar

from parlour.envs.aec import GameEnv
from parlour.envs.core import ParlourError, accept
from parlour.envs.turn import Player
from parlour.policies import HumanPolicy
from parlour.training.parallel.executor import Pool
from parlour.training.rollout import Episode, Stopped, play
from parlour.wrappers import Recorder
from pettingzoo.utils.env import AECEnv

MakePolicy = Callable[[], Player]
"""Makes a player; called as often as games are in flight and seats are taken, always from the calling thread."""
Progress = Callable[[Iterable[int], str], Iterable[int]]
"""Wraps numbers, one for each game, and is asked for the next one when the game before it is finished."""
T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """A game that is to be played."""

    seed: int
    players: tuple[tuple[str, MakePolicy], ...]
    """For each seat, in order, the name and the maker of who sits there."""
    transcript: Path | None = None
    """The file to write it to; its header names the players."""


@dataclass(frozen=True)
class Seating:
    """A job whose makers are numbers: picklable."""

    seed: int
    names: tuple[str, ...]
    makers: tuple[int, ...]
    transcript: Path | None


class Flight(Protocol):
    """Games under way, wherever they are played."""

    def begin(self) -> None:
        """Let them begin."""

    def next(self) -> tuple[int, Episode] | None:
        """Number and course of the next game to be finished; None if one has failed."""

    def end(self) -> None:
        """Stop all games; none is left when this returns."""

    def raise_first(self) -> None:
        """Raise what the first of the games that failed raised, if any did."""


def no_progress(games: Iterable[int], _what: str) -> Iterable[int]:
    """Count silently."""
    return games


def play_all(
    env: AECEnv[str, Any, Any],
    jobs: Sequence[Job],
    *,
    workers: int = 1,
    progress: Progress = no_progress,
    what: str = "games",
    pool: Pool | None = None,
) -> list[Episode]:
    """Play games and keep them all; see `play_each`."""
    return play_each(env, jobs, lambda _, episode: episode, workers=workers, progress=progress, what=what, pool=pool)


def play_each(
    env: AECEnv[str, Any, Any],
    jobs: Sequence[Job],
    keep: Callable[[int, Episode], T],
    *,
    workers: int = 1,
    progress: Progress = no_progress,
    what: str = "games",
    pool: Pool | None = None,
) -> list[T]:
    """Play games and keep of each what `keep` makes of it.

    An exception in a game ends the run: no other game begins, those in flight end at their next turn, and their
    transcripts hold what was played. So does an interrupt. When this returns or raises, no thread is left.

    Args:
        env: What `rollout.table` makes; with several workers, copies of it.
        jobs: The games.
        keep: Called with the number of the job and the game, in the order of the jobs, from the calling thread, as soon
            as the game and all before it are finished.
        workers: How many games are in flight; with a pool, in each of its processes. With 1 and no pool, everything
            happens in the calling thread.
        progress: Counts the games that are finished.
        what: What `progress` calls them.
        pool: Processes that play; table and players must be picklable then. Transcripts are written here, each when its
            game is finished (of those in flight when a game fails, only that game's own is written as far as it went).

    Returns:
        What `keep` returned, a value for each job.

    Raises:
        ParlourError: A setting or a transcript's file is not accepted, or a player sits in two games at once.
        BaseException: What a game raised; of several, what the first of them raised, in the order of the jobs.
    """
    if workers < 1:
        raise accept("workers", workers, "a whole number from 1")
    _check_files(env, jobs, alone=workers == 1 and pool is None)
    tables, games = _tables(env, jobs, max(1, min(workers, len(jobs))), pool)
    if pool is not None:
        from parlour.training.parallel.ray.games import RayFlight  # it needs this file

        return _keep_all(RayFlight(tables, games, pool), len(games), keep, progress, what)
    return play_at(tables, games, keep, progress, what)


def play_at(
    tables: Sequence[WorkerTable],
    games: Sequence[Seating],
    keep: Callable[[int, Episode], T],
    progress: Progress = no_progress,
    what: str = "games",
) -> list[T]:
    """Play games at tables that are there, as many at once as there are tables; see `play_each`."""
    if len(tables) == 1:
        return [keep(number, tables[0].play(games[number])) for number in progress(range(len(games)), what)]
    return _keep_all(_Flight(tables, games), len(games), keep, progress, what)


def _keep_all(flight: Flight, games: int, keep: Callable[[int, Episode], T], progress: Progress, what: str) -> list[T]:
    numbers = range(games)
    kept: list[T] = []
    early: dict[int, Episode] = {}
    try:
        flight.begin()
        for _ in progress(numbers, what):
            finished = flight.next()
            if finished is None:
                break
            early[finished[0]] = finished[1]
            while len(kept) in early:
                kept.append(keep(len(kept), early.pop(len(kept))))
    finally:
        flight.end()
    flight.raise_first()
    return kept


class WorkerTable:
    """An environment and the players of one worker: one game at a time."""

    def __init__(self, env: AECEnv[str, Any, Any], players: Mapping[int, Sequence[Player]]) -> None:
        self.env = env
        self.players = players
        """By the number of the maker."""

    def play(self, game: Seating, stop: Event | None = None) -> Episode:
        """One game."""
        free = {maker: iter(made) for maker, made in self.players.items()}
        seated = [next(free[maker]) for maker in game.makers]
        if game.transcript is None:
            return play(self.env, seated, game.seed, stop)
        names = dict(zip(self.env.possible_agents, game.names, strict=False))
        recorder = Recorder(self.env, game.transcript, header={"players": names})
        try:
            return play(recorder, seated, game.seed, stop)
        finally:
            recorder.close_transcript()


class _Flight:
    """The threads of one run: each takes the next game until there is none, or until one of them fails."""

    def __init__(self, tables: Sequence[WorkerTable], games: Sequence[Seating]) -> None:
        self._waiting = deque(enumerate(games))
        self._done: SimpleQueue[tuple[int, Episode] | None] = SimpleQueue()
        self._errors: dict[int, BaseException] = {}
        self._stop = Event()
        self._threads = [Thread(target=self._work, args=(table,), name=f"table {k}") for k, table in enumerate(tables)]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def next(self) -> tuple[int, Episode] | None:
        return self._done.get()

    def end(self) -> None:
        """Stop all games and wait until they have stopped: no longer than their turns last."""
        self._stop.set()
        for thread in self._threads:
            while thread.is_alive():
                try:
                    thread.join()
                except KeyboardInterrupt:
                    continue  # it is being stopped already

    def raise_first(self) -> None:
        """Raise what the first of the games that failed raised, once all threads have ended."""
        if self._errors:
            raise self._errors[min(self._errors)]

    def _work(self, table: WorkerTable) -> None:
        while not self._stop.is_set():
            try:
                number, game = self._waiting.popleft()
            except IndexError:
                return
            try:
                self._done.put((number, table.play(game, self._stop)))
            except Stopped:
                return
            except BaseException as error:  # whatever it is belongs to the caller, who raises it in his own thread
                self._errors[number] = error
                self._stop.set()
                self._done.put(None)


def _tables(
    env: AECEnv[str, Any, Any], jobs: Sequence[Job], workers: int, pool: Pool | None
) -> tuple[list[WorkerTable], list[Seating]]:
    makers = {id(make): make for job in jobs for _, make in job.players}
    number = {maker: k for k, maker in enumerate(makers)}
    games = [
        Seating(
            job.seed, tuple(n for n, _ in job.players), tuple(number[id(m)] for _, m in job.players), job.transcript
        )
        for job in jobs
    ]
    needed = [max(game.makers.count(k) for game in games) for k in range(len(makers))]
    tables = [
        WorkerTable(
            _copy(env) if copy else env,
            {k: [make() for _ in range(needed[k])] for k, make in enumerate(makers.values())},
        )
        for copy in range(workers)
    ]
    players = [player for table in tables for made in table.players.values() for player in made]
    if workers > 1 and len({id(player) for player in players}) < len(players):
        raise ParlourError("a player sits in two games at once; accepted: makers whose players are new, or one worker")
    if any(isinstance(player, HumanPolicy) for player in players):
        if pool is not None:
            raise ParlourError("a person is at the table, who cannot sit on other machines; accepted: play without Ray")
        if workers > 1:
            raise ParlourError(f"workers {workers} is not accepted with a person at the table; accepted: 1")
    return tables, games


def _copy(env: AECEnv[str, Any, Any]) -> AECEnv[str, Any, Any]:
    """Another table like this one; they share the rules and their wording, which never change."""
    base = env.unwrapped
    assert isinstance(base, GameEnv), "only parlour's own environments can be in flight"
    copied: AECEnv[str, Any, Any] = deepcopy(env, {id(kept): kept for kept in (base.spec, base.game, base.text)})
    return copied


def _check_files(env: AECEnv[str, Any, Any], jobs: Sequence[Job], *, alone: bool) -> None:
    """Before anything is played: games may be dear."""
    files = [job.transcript for job in jobs if job.transcript is not None]
    if len(set(files)) < len(files):
        raise ParlourError("two games have the same transcript; accepted: a file for each game")
    for file in files:
        if file.exists():
            raise ParlourError(f"transcript {str(file)!r} exists; accepted: a new file")
    if hasattr(env, "annotate") and (files or not alone):
        raise ParlourError(
            "the environment is in a Recorder already; accepted: a bare table, and transcripts in the jobs"
        )
