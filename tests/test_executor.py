"""Calls that are spread: what comes back, in which order, how many are under way, and what follows an error."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count

import pytest
from parlour.training.parallel.executor import as_finished, in_order


class Held:
    """Carries out nothing before it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[Future, tuple]] = []

    def submit(self, function, /, *arguments):
        future: Future = Future()
        self.calls.append((future, arguments))
        return future

    def answer(self, number: int) -> None:
        future, arguments = self.calls[number]
        future.set_result(arguments[0])

    def fail(self, number: int) -> None:
        self.calls[number][0].set_exception(KeyError(number))


def test_results_come_with_the_number_of_their_call_and_are_put_in_order():
    with ThreadPoolExecutor(3) as pool:
        found = dict(as_finished(pool, pow, [(2, k) for k in range(20)], lambda: 5))
        assert found == {k: 2**k for k in range(20)}
        assert list(in_order(as_finished(pool, pow, [(2, k) for k in range(20)], lambda: 5))) == [
            2**k for k in range(20)
        ]
        assert list(as_finished(pool, pow, [], lambda: 5)) == []


def test_so_many_calls_are_under_way_and_no_more_are_taken():
    pool, taken = Held(), count()
    found = as_finished(pool, max, ((next(taken),) for _ in range(100)), lambda: 3)
    for k in range(10):
        threading.Timer(0.01, pool.answer, [k] if k < len(pool.calls) else [0]).start()
        assert next(found) == (k, k)
        assert len(pool.calls) <= k + 3
    found.close()
    assert next(taken) == len(pool.calls)
    assert all(future.done() for future, _ in pool.calls)  # answered, or cancelled


def test_of_several_errors_that_of_the_first_call_is_raised_and_those_behind_it_are_given_up():
    pool = Held()
    found = as_finished(pool, max, ((k,) for k in range(100)), lambda: 4)
    threading.Timer(0.01, pool.answer, [3]).start()
    assert next(found) == (3, 3)
    threading.Timer(0.01, pool.fail, [2]).start()  # the fifth call is sent by then
    threading.Timer(0.10, pool.answer, [0]).start()
    assert next(found) == (0, 0)  # waited for, though a later one has failed
    threading.Timer(0.01, pool.fail, [1]).start()
    with pytest.raises(KeyError, match="1"):
        next(found)
    assert len(pool.calls) == 5  # none was sent after the first error
    assert pool.calls[4][0].cancelled()
