"""Games of a pool of processes: blocks of them go out, and come back with what was played.

A process builds its table and players once and keeps them. A block lasts about a second, and gets smaller towards the end,
so that the processes finish together and little is lost with one of them. Transcripts are made where the game is played
and written here, each when it is complete, so that no game is ever written twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import atomic_write
from parlour.policies.llm.model import Model
from parlour.training.parallel.concurrent_games import Seating, WorkerTable, play_at
from parlour.training.parallel.executor import Pool, Shared, as_finished
from parlour.training.parallel.ray.pool import sendable
from parlour.training.rollout import Episode

_SECONDS: Final = 1.0
"""Wanted length of a block."""
_LONGEST: Final = 200
"""Games of a block at most."""
_SHARE: Final = 3
"""Towards the end a block has this part of what each call under way would get."""


@dataclass(frozen=True)
class SharedTables:
    """What a process keeps."""

    tables: list[WorkerTable]
    """As many as games are in flight in a process."""
    model: Model | None


@dataclass(frozen=True)
class Block:
    """Games that were played, in the order of the jobs."""

    first: int
    """Number of the first one's job."""
    episodes: tuple[Episode, ...]
    transcripts: tuple[str | None, ...]
    """Of these games, and of one that failed as far as it went."""
    seconds: float
    usage: Any
    """What the model used, as its meter has it."""


class BlockFailed(Exception):  # noqa: N818 - the error is what it carries
    """A game raised something; with what was played before it, and the error."""

    def __init__(self, block: Block, error: Exception) -> None:
        super().__init__(block, error)
        self.block, self.error = block, error


def play_block(shared: Shared[SharedTables], first: int, games: Sequence[Seating]) -> Block:
    """Play some games in this process.

    Args:
        shared: Where.
        first: The number of the first one.
        games: All of them.

    Raises:
        BlockFailed: One of them failed.
    """
    setting = shared.get()
    meter = getattr(setting.model, "meter", None)
    if meter is not None:
        meter.take()  # what was counted before this block is told already, or belongs to one that was given up
    episodes: list[Episode] = []
    began = time.perf_counter()
    failed: Exception | None = None
    with TemporaryDirectory(prefix="parlour-") as folder:
        files = [None if game.transcript is None else Path(folder) / str(k) for k, game in enumerate(games)]
        here = [replace(game, transcript=file) for game, file in zip(games, files, strict=True)]
        try:
            play_at(setting.tables[: len(games)], here, lambda _, episode: episodes.append(episode))
        except Exception as error:
            failed = sendable(error)
        seconds = time.perf_counter() - began
        upto = files[: len(episodes) + (failed is not None)]
        told = tuple(file.read_text("utf-8") if file is not None and file.exists() else None for file in upto)
    block = Block(first, tuple(episodes), told, seconds, None if meter is None else meter.take())
    if failed is not None:
        raise BlockFailed(block, failed)
    return block


class RayFlight:
    """Games in flight in a pool. Satisfies `parlour.training.parallel.concurrent_games.Flight`."""

    def __init__(self, tables: list[WorkerTable], games: Sequence[Seating], pool: Pool) -> None:
        self._games, self._pool, self._threads = games, pool, len(tables)
        self._setting = SharedTables(tables, pool.model)
        self._ready: deque[tuple[int, Episode]] = deque()
        self._seconds: float | None = None
        """That a game of the last block took."""
        self._error: Exception | None = None

    def begin(self) -> None:
        self._blocks = as_finished(self._pool, play_block, self._calls(), lambda: self._pool.ahead)

    def next(self) -> tuple[int, Episode] | None:
        while not self._ready and self._error is None:
            try:
                self._take(next(self._blocks)[1])
            except BlockFailed as failed:
                self._error = failed.error
                self._take(failed.block)
            except Exception as error:  # Ray's own, or a transcript that cannot be written
                self._error = error
        return self._ready.popleft() if self._ready else None

    def end(self) -> None:
        self._blocks.close()

    def raise_first(self) -> None:
        if self._error is not None:
            raise self._error

    def _calls(self) -> Iterator[tuple[Any, ...]]:
        self._shared = self._pool.share(self._setting)  # kept as long as this: Ray drops what nobody holds
        first = 0
        while first < len(self._games):
            games = self._games[first : first + self._size(len(self._games) - first)]
            yield self._shared, first, games
            first += len(games)

    def _size(self, left: int) -> int:
        """Games of the next block; as few as there are tables until it is known how long they take."""
        if self._seconds is None:
            return self._threads
        wanted = min(_LONGEST, int(_SECONDS / self._seconds), left // (_SHARE * self._pool.ahead))
        return max(self._threads, wanted)

    def _take(self, block: Block) -> None:
        if block.usage is not None:
            meter: Any = getattr(self._pool.model, "meter", None)
            meter.add(block.usage)
        for number, text in enumerate(block.transcripts, block.first):
            file = self._games[number].transcript
            if file is not None and text is not None:
                if file.exists():
                    raise ParlourError(f"transcript {str(file)!r} exists; accepted: a new file")
                atomic_write(file, text)
        if block.episodes:
            self._seconds = max(block.seconds, 1e-6) / len(block.episodes)
        self._ready.extend(enumerate(block.episodes, block.first))
