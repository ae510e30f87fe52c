"""Calls carried out in other processes, on this machine or on others: who carries them out, and how the results come back.

Results come as they are finished; the number of the call comes with each, so that the caller puts them in order. Only as
many calls are under way as keep all processes busy: what is not sent yet is neither made nor stored.
"""

from __future__ import annotations

import os
import pickle
import socket
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context, parent_process
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Generic, Protocol, TypeVar, runtime_checkable

from parlour.policies.llm.model import Model

R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_CACHED: Final = 2
"""Shared values that a process caches."""


class Shared(Protocol[T_co]):
    """A value that many calls need; picklable, and small whatever the value is."""

    def get(self) -> T_co:
        """The value: in each process one copy, cached for the next call."""

    def sendable(self, error: Exception) -> Exception:
        """An error of a call, in a form that the pool can send back."""


@runtime_checkable
class Pool(Protocol):
    """Processes that carry out calls; with `parlour.training.play.parallel.ray` they may be on other machines."""

    model: Model | None
    """Whose usage in other processes is added to what it used here."""

    @property
    def ahead(self) -> int:
        """How many calls to have under way: as many again as are carried out, so that nobody waits."""

    def submit(self, function: Callable[..., R], /, *arguments: Any) -> Future[R]:
        """Have a call carried out somewhere. Function and arguments are picklable."""

    def share(self, value: T) -> Shared[T]:
        """Give a value to all processes, once to each that asks for it."""


Workers = int | Pool
"""A number of processes of this machine (1: the caller's own process); or a pool."""


def carry_out(
    workers: Workers, function: Callable[..., R], calls: Sequence[tuple[Any, ...]]
) -> Generator[tuple[int, R], None, None]:
    """Carry out calls, and yield number and result of each as it is finished; see `as_finished`.

    Args:
        workers: Who carries them out; one process, or a single call, stays in this process.
        function: What is called.
        calls: Its arguments.
    """
    with opened(1 if isinstance(workers, int) and len(calls) < 2 else workers) as pool:
        if pool is None:
            yield from ((number, function(*call)) for number, call in enumerate(calls))
            return
        with closing(as_finished(pool, function, calls)) as finished:
            yield from finished


def as_finished(
    pool: Pool, function: Callable[..., R], calls: Iterable[tuple[Any, ...]]
) -> Generator[tuple[int, R], None, None]:
    """Carry out calls, and yield number and result of each as it is finished.

    If one fails, no other is sent, those before it are waited for, and those behind it are given up. So they are if the
    iterator is closed.

    Args:
        pool: Who carries them out, and how many at once.
        function: What is called.
        calls: Its arguments; taken from as there is room.

    Raises:
        Exception: What the first of the calls that failed raised, in their order.
    """
    waiting = enumerate(calls)
    under_way: dict[Future[R], int] = {}
    # not `concurrent.futures.wait`: an interrupt can leave it with locks of futures, for which the pool's threads wait
    finished: SimpleQueue[Future[R]] = SimpleQueue()
    failed: dict[int, Exception] = {}
    try:
        while True:
            while not failed and len(under_way) < pool.ahead and (call := next(waiting, None)) is not None:
                sent = pool.submit(function, *call[1])
                under_way[sent] = call[0]
                sent.add_done_callback(finished.put)
            if failed and min(failed) < min(under_way.values(), default=min(failed) + 1):
                raise failed[min(failed)]
            if not under_way:
                return
            future = finished.get()
            number = under_way.pop(future)
            try:
                result = future.result()
            except Exception as error:
                failed[number] = error
            else:
                yield number, result
    finally:
        for future in under_way:
            future.cancel()


def in_order(finished: Iterator[tuple[int, R]]) -> Iterator[R]:
    """Results in the order of their numbers, each as soon as it and all before it are there.

    >>> list(in_order(iter([(1, "b"), (2, "c"), (0, "a")])))
    ['a', 'b', 'c']
    """
    early: dict[int, R] = {}
    following = 0
    for number, result in finished:
        early[number] = result
        while following in early:
            yield early.pop(following)
            following += 1


# -- processes of this machine -----------------------------------------------------------------------------------


@contextmanager
def opened(workers: Workers) -> Iterator[Pool | None]:
    """The pool of this number of processes, None for one, the caller's own; or the pool that is given.

    The processes end with this one, however it ends.
    """
    if not isinstance(workers, int):
        yield workers
    elif workers == 1:
        yield None
    else:
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_parent) as processes:
            yield _Processes(processes, 2 * workers)


@dataclass
class _Processes:
    """Satisfies `Pool`."""

    processes: ProcessPoolExecutor
    ahead: int
    model: Model | None = None

    def submit(self, function: Callable[..., R], /, *arguments: Any) -> Future[R]:
        return self.processes.submit(function, *arguments)

    def share(self, value: T) -> _Packed[T]:
        return _Packed(str(next(_numbers)), pickle.dumps(value))


_numbers: Final = count()


@dataclass(frozen=True)
class _Packed(Generic[T]):
    """A value as it is sent with each call. Satisfies `Shared`."""

    key: str
    packed: bytes

    def get(self) -> T:
        value: T = unpacked(self.key, lambda: self.packed)
        return value

    def sendable(self, error: Exception) -> Exception:
        return sendable(error)


def _end_with_parent() -> None:
    """Without this, a killed run would play on, and its idle processes would wait for ever."""
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    parent = parent_process()
    assert parent is not None, "called in a process of a pool"
    parent.join()
    os._exit(1)


# -- in the processes --------------------------------------------------------------------------------------------


def unpacked(key: str, packed: Callable[[], bytes]) -> Any:
    """This process's copy of a shared value; the last ones are cached."""
    if key not in _values:
        while len(_values) >= _CACHED:
            _values.pop(next(iter(_values)))
        _values[key] = pickle.loads(packed())
    return _values[key]


_values: Final[dict[str, Any]] = {}


def sendable(error: Exception, dumps: Callable[[Any], bytes] = pickle.dumps) -> Exception:
    """An error with a note of where it was raised; another one in its place if it would not survive the way back."""
    trace = traceback.format_exc()
    error.add_note(f"on {socket.gethostname()}:\n{trace}")
    try:
        pickle.loads(dumps(error))
    except Exception:  # whatever its class does wrong
        return RuntimeError(f"{type(error).__name__}: {error}\n{trace}")
    return error


def take_usage(model: Model | None) -> Any:
    """What a model used since the last time, as its meter has it; None without a meter."""
    meter = getattr(model, "meter", None)
    return None if meter is None else meter.take()


def add_usage(model: Model | None, usage: Any) -> None:
    """Count what a copy of the model used in another process, as `take_usage` gave it there."""
    if usage is not None:
        meter: Any = getattr(model, "meter", None)
        meter.add(usage)
