"""Games in threads, each with a worker of its own that plays one game at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, Protocol, TypeVar

from parlour.policies.llm.at_once import Gathering
from parlour.training.play.rollout import Stopped


class GameJob(Protocol):
    """A game that is to be played: a frozen dataclass, picklable where games are played in other processes."""

    @property
    def transcript(self) -> Path | None:
        """The file to write it to."""


J_contra = TypeVar("J_contra", bound=GameJob, contravariant=True)
J = TypeVar("J", bound=GameJob)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class GameWorker(Protocol[J_contra, R_co]):
    """Plays one game at a time; picklable where games are played in other processes."""

    def play(self, job: J_contra, stop: Event | None = None) -> R_co:
        """One game, given up once `stop` is set. Raises `Stopped` then, and whatever a game may raise."""


def play_in_threads(workers: Sequence[GameWorker[J, R]], jobs: Sequence[J]) -> Generator[tuple[int, R], None, None]:
    """Play as many games at once as there are workers, and yield number and result of each as it is finished.

    If one fails, no other game begins and the others end at their next turn; so they do if the iterator is closed. No
    thread is left then. A single worker plays in the calling thread.

    Raises:
        BaseException: What a game raised; of several, what the first of them raised, in the order of the jobs.
    """
    if len(workers) == 1:
        yield from ((number, workers[0].play(job)) for number, job in enumerate(jobs))
        return
    running: _Running[J, R] = _Running(jobs, Gathering(len(workers)))
    threads = [Thread(target=running.work, args=(worker,), name=f"worker {k}") for k, worker in enumerate(workers)]
    try:
        for thread in threads:
            thread.start()
        for _ in jobs:
            finished = running.done.get()
            if finished is None:
                break
            yield finished
    finally:
        running.stop.set()
        for thread in threads:
            _join(thread)
    if running.errors:
        raise running.errors[min(running.errors)]


def _join(thread: Thread) -> None:
    """Wait until a thread that is being stopped has ended: no longer than its turn lasts."""
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            continue  # it is being stopped already


class _Running(Generic[J, R]):
    """What the threads share: each takes the next game until there is none, or until one of them fails."""

    def __init__(self, jobs: Sequence[J], gathering: Gathering) -> None:
        self._gathering = gathering
        self.done: SimpleQueue[tuple[int, R] | None] = SimpleQueue()
        """Number and result of each game; None if one has failed."""
        self.errors: dict[int, BaseException] = {}
        self.stop = Event()
        self._waiting = deque(enumerate(jobs))

    def work(self, worker: GameWorker[J, R]) -> None:
        with self._gathering.member():
            while not self.stop.is_set():
                try:
                    number, job = self._waiting.popleft()
                except IndexError:
                    return
                try:
                    self.done.put((number, worker.play(job, self.stop)))
                except Stopped:
                    return
                except BaseException as error:  # whatever it is belongs to the caller, who raises it in his own thread
                    self.errors[number] = error
                    self.stop.set()
                    self.done.put(None)
