"""Games of a pool of processes: blocks of them go out, and come back with what was played.

A process builds its workers once and keeps them. A block lasts about a second, and gets smaller towards the end,
so that the processes finish together and little is lost with one of them. Transcripts are made where the game is played
and written here, each when it is complete, so that no game is ever written twice.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Generic

from parlour.envs.core import ParlourError
from parlour.policies.files import atomic_write
from parlour.policies.llm.model import Model
from parlour.training.play.parallel.executor import Pool, Shared, add_usage, as_finished, in_order, take_usage
from parlour.training.play.parallel.threads import GameJob, GameWorker, J, R, play_in_threads

_SECONDS: Final = 1.0
"""Wanted length of a block."""
_LONGEST: Final = 200
"""Games of a block at most."""
_SHARE: Final = 3
"""Towards the end a block has this part of what each call under way would get."""


@dataclass(frozen=True)
class SharedWorkers(Generic[J, R]):
    """What a process keeps."""

    workers: Sequence[GameWorker[J, R]]
    """As many as games are played at once in a process."""
    model: Model | None


@dataclass(frozen=True)
class Block(Generic[R]):
    """Games that were played, in the order of the jobs."""

    first: int
    """Number of the job of the first game."""
    results: tuple[R, ...]
    transcripts: tuple[str | None, ...]
    """Transcripts of these games, and of a failed game as far as it went."""
    seconds: float
    usage: Any
    """What the model used, as its meter has it."""


class BlockFailed(Exception):  # noqa: N818 - the error is what it carries
    """A game raised something; with what was played before it, and the error."""

    def __init__(self, block: Block[Any], error: Exception) -> None:
        super().__init__(block, error)
        self.block, self.error = block, error


def play_block(shared: Shared[SharedWorkers[Any, R]], first: int, jobs: Sequence[Any]) -> Block[R]:
    """Play some games in this process.

    Args:
        shared: Who plays.
        first: The number of the first one.
        jobs: All of them.

    Raises:
        BlockFailed: One of them failed.
    """
    setting = shared.get()
    take_usage(setting.model)  # what was counted before this block is told already, or belongs to one that was given up
    results: list[R] = []
    began = time.perf_counter()
    failed: Exception | None = None
    with TemporaryDirectory(prefix="parlour-") as folder:
        files = [None if job.transcript is None else Path(folder) / str(k) for k, job in enumerate(jobs)]
        here = [replace(job, transcript=file) for job, file in zip(jobs, files, strict=True)]
        try:
            for result in in_order(play_in_threads(setting.workers[: len(jobs)], here)):
                results.append(result)
        except Exception as error:
            failed = shared.sendable(error)
        seconds = time.perf_counter() - began
        upto = files[: len(results) + (failed is not None)]
        stored = tuple(file.read_text("utf-8") if file is not None and file.exists() else None for file in upto)
    block = Block(first, tuple(results), stored, seconds, take_usage(setting.model))
    if failed is not None:
        raise BlockFailed(block, failed)
    return block


def play_in_pool(
    workers: Sequence[GameWorker[J, R]], jobs: Sequence[J], pool: Pool
) -> Generator[tuple[int, R], None, None]:
    """Play games in a pool, and yield number and result of each as it is finished.

    Args:
        workers: Who plays in each process, as many as games are played at once there.
        jobs: The games. Their transcripts are written here.
        pool: The processes.

    Raises:
        Exception: What the first of the games that failed raised; it is written as far as it went, and those behind it
            that were under way are given up.
    """
    pieces = _Blocks(jobs, len(workers), pool)
    shared = pool.share(SharedWorkers(workers, pool.model))  # kept as long as this: Ray drops what nobody holds
    calls = ((shared, first, some) for first, some in pieces)
    with closing(as_finished(pool, play_block, calls)) as finished:
        try:
            for _, block in finished:
                pieces.take(block)
                yield from enumerate(block.results, block.first)
        except BlockFailed as failed:
            pieces.take(failed.block)
            yield from enumerate(failed.block.results, failed.block.first)
            raise failed.error from None


class _Blocks:
    """The jobs, cut into blocks by how long the last one took."""

    def __init__(self, jobs: Sequence[GameJob], at_once: int, pool: Pool) -> None:
        self._jobs, self._at_once, self._pool = jobs, at_once, pool
        self._seconds: float | None = None
        """That a game of the last block took."""

    def __iter__(self) -> Iterator[tuple[int, Sequence[GameJob]]]:
        first = 0
        while first < len(self._jobs):
            some = self._jobs[first : first + self._size(len(self._jobs) - first)]
            yield first, some
            first += len(some)

    def _size(self, left: int) -> int:
        """Games of the next block; as few as there are workers until it is known how long they take."""
        if self._seconds is None:
            return self._at_once
        wanted = min(_LONGEST, int(_SECONDS / self._seconds), left // (_SHARE * self._pool.ahead))
        return max(self._at_once, wanted)

    def take(self, block: Block[Any]) -> None:
        """Count what a block used and took, and write its transcripts."""
        add_usage(self._pool.model, block.usage)
        for number, text in enumerate(block.transcripts, block.first):
            file = self._jobs[number].transcript
            if file is not None and text is not None:
                if file.exists():
                    raise ParlourError(f"transcript {str(file)!r} exists; accepted: a new file")
                atomic_write(file, text)
        if block.results:
            self._seconds = max(block.seconds, 1e-6) / len(block.results)
