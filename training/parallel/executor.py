"""Calls that are spread over other processes, on this machine or on others: what carries them out, and how they come back.

Results come as they are finished; the number of the call comes with each, so that whoever asked puts them in order. Only so
many calls are under way as keep everybody busy: what is not sent yet is neither made nor stored.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar, runtime_checkable

from parlour.policies.llm.model import Model

R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class Submits(Protocol):
    """What `as_finished` needs: any executor of `concurrent.futures`, or a `Pool`."""

    def submit(self, function: Callable[..., R], /, *arguments: Any) -> Future[R]:
        """Have a call carried out somewhere. Function and arguments are picklable."""


class Shared(Protocol[T_co]):
    """A value that many calls need; picklable, and small whatever the value is."""

    def get(self) -> T_co:
        """The value: in each process one copy, which is kept for the next call."""


@runtime_checkable
class Pool(Submits, Protocol):
    """Processes that carry out calls; those of `parlour.training.parallel.ray` may be on other machines."""

    model: Model | None
    """Whose usage in other processes is added to what it used here."""

    @property
    def ahead(self) -> int:
        """How many calls to have under way: as many again as are carried out, so that nobody waits."""

    def share(self, value: R) -> Shared[R]:
        """Give a value to all processes, once to each that asks for it."""


Workers = int | Pool
"""So many processes of this machine, of which one is the caller's own if it is the only one; or a pool."""


def as_finished(
    pool: Submits, function: Callable[..., R], calls: Iterable[tuple[Any, ...]], ahead: Callable[[], int]
) -> Generator[tuple[int, R], None, None]:
    """Carry out calls, and yield number and result of each as it is finished.

    If one fails, no other is sent, those before it are waited for, and those behind it are given up. So they are if the
    iterator is closed.

    Args:
        pool: Who carries them out.
        function: What is called.
        calls: Its arguments; taken from as there is room.
        ahead: How many calls may be under way; asked for each.

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
            while not failed and len(under_way) < ahead() and (call := next(waiting, None)) is not None:
                sent = pool.submit(function, *call[1])
                under_way[sent] = call[0]
                sent.add_done_callback(finished.put)
            if failed and min(failed) < min(under_way.values(), default=min(failed) + 1):
                raise failed[min(failed)]
            if not under_way:
                return
            one = finished.get()
            number = under_way.pop(one)
            try:
                result = one.result()
            except Exception as error:
                failed[number] = error
            else:
                yield number, result
    finally:
        for one in under_way:
            one.cancel()


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
