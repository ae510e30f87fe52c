"""Calls in other processes: what comes back, in which order, how many are under way, and what follows an error."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from itertools import count

import pytest
from parlour.training.play.parallel.executor import as_finished, carry_out, in_order, opened


class Held:
    """Carries out nothing before it is told to."""

    def __init__(self, ahead: int) -> None:
        self.ahead = ahead
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


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_with_the_number_of_their_call_and_are_put_in_order(workers):
    assert dict(carry_out(workers, pow, [(2, k) for k in range(20)])) == {k: 2**k for k in range(20)}
    assert list(in_order(carry_out(workers, pow, [(2, k) for k in range(20)]))) == [2**k for k in range(20)]
    assert list(carry_out(workers, pow, [])) == []


def test_a_shared_value_is_the_same_in_every_process_and_an_error_comes_back():
    with opened(2) as pool:
        shared = pool.share({"two": 2})
        assert [pool.submit(_power, shared, k).result() for k in range(4)] == [1, 2, 4, 8]
        with pytest.raises(TypeError, match="unsupported operand"):
            list(as_finished(pool, _power, [(shared, "x")]))


def _power(shared, k):
    return shared.get()["two"] ** k


def test_so_many_calls_are_under_way_and_no_more_are_taken():
    pool, taken = Held(3), count()
    finished = as_finished(pool, max, ((next(taken),) for _ in range(100)))
    for k in range(10):
        threading.Timer(0.01, pool.answer, [k] if k < len(pool.calls) else [0]).start()
        assert next(finished) == (k, k)
        assert len(pool.calls) <= k + 3
    finished.close()
    assert next(taken) == len(pool.calls)
    assert all(future.done() for future, _ in pool.calls)  # answered, or cancelled


def test_of_several_errors_that_of_the_first_call_is_raised_and_those_behind_it_are_given_up():
    pool = Held(4)
    finished = as_finished(pool, max, ((k,) for k in range(100)))
    threading.Timer(0.01, pool.answer, [3]).start()
    assert next(finished) == (3, 3)
    threading.Timer(0.01, pool.fail, [2]).start()  # the fifth call is sent by then
    threading.Timer(0.10, pool.answer, [0]).start()
    assert next(finished) == (0, 0)  # waited for, though a later one has failed
    threading.Timer(0.01, pool.fail, [1]).start()
    with pytest.raises(KeyError, match="1"):
        next(finished)
    assert len(pool.calls) == 5  # none was sent after the first error
    assert pool.calls[4][0].cancelled()
