"""Calls that wait for somebody else, carried out at once; and answers that several who wait share.

Threads, not tasks: whoever asks a model is plain code, and an SDK's client serves many threads over one pool of connections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]], most: int) -> list[Future[T]]:
    """Carry out calls in threads, at most `most` at a time.

    Returns:
        A future for each call, in order, when all have ended: what a call raised, its `result()` raises.
    """
    if not calls:
        return []
    with ThreadPoolExecutor(min(most, len(calls)), "asks") as pool:
        return [pool.submit(call) for call in calls]


@dataclass
class _Shared(Generic[T]):
    """A call that several may need."""

    owner: str
    result: Future[T] | None = None
    """None until somebody makes the call."""
    told: bool = False

    def make(self, call: Callable[[str], T]) -> None:
        assert self.result is not None
        try:
            self.result.set_result(call(self.owner))
        except BaseException as error:
            self.result.set_exception(error)
            raise

    @property
    def done(self) -> bool:
        return self.result is not None and self.result.done() and self.result.exception() is None


class SharedCalls(Generic[T]):
    """Calls whose results are the same for all who share them: each is made once, by whoever needs it first.

    It belongs to whoever claimed it first, which can be told beforehand (`claim`): so it does not depend on which thread
    is the fastest. Safe for threads; pickled are the results, without what is under way.
    """

    def __init__(self) -> None:
        self._calls: dict[str, _Shared[T]] = {}
        self._lock = Lock()

    def claim(self, owner: str, keys: Iterable[str]) -> None:
        """`owner` will need these calls: those that nobody has claimed belong to it."""
        with self._lock:
            for key in keys:
                self._calls.setdefault(key, _Shared(owner))

    def results(self, owner: str, calls: Mapping[str, Callable[[str], T]], most: int = 1) -> list[T]:
        """The results of calls that `owner` needs, in order.

        Args:
            owner: Who needs them.
            calls: By what is called; a function of who owns the call.
            most: How many of them are carried out at once.

        Raises:
            BaseException: What a call raised, for all who share it.
        """
        self.claim(owner, calls)
        for batch in [calls] if most > 1 else [{key: call} for key, call in calls.items()]:
            missing = self._begin(batch)
            if len(missing) > 1:
                at_once(missing, most)
            elif missing:
                missing[0]()
        return [self._calls[key].result.result() for key in calls]  # type: ignore[union-attr]

    def _begin(self, calls: Mapping[str, Callable[[str], T]]) -> list[Callable[[], None]]:
        """Those that nobody has made yet, to be made by the caller."""
        with self._lock:
            missing: list[Callable[[], None]] = []
            for key, call in calls.items():
                one = self._calls[key]
                if one.result is None:
                    one.result = Future()
                    missing.append(partial(one.make, call))
            return missing

    def news(self, owner: str) -> list[T]:
        """The results of the calls that belong to `owner`, in the order of the claims, each told once."""
        with self._lock:
            found = [one for one in self._calls.values() if one.owner == owner and one.done and not one.told]
            for one in found:
                one.told = True
            return [one.result.result() for one in found if one.result is not None]

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            done = {key: one for key, one in self._calls.items() if one.done}
        return {"done": {key: (one.owner, one.result.result(), one.told) for key, one in done.items() if one.result}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._calls, self._lock = {}, Lock()
        for key, (owner, value, told) in state["done"].items():
            result: Future[T] = Future()
            result.set_result(value)
            self._calls[key] = _Shared(owner, result, told)
