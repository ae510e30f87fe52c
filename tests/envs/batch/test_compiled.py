"""What kernels are made of: `parlour.envs.batch.compiled`."""

from __future__ import annotations

import numpy as np
import pytest

numba = pytest.importorskip("numba")
compiled = pytest.importorskip("parlour.envs.batch.compiled")
copy = compiled.copy


@numba.njit
def second_row(to, of):
    copy(to[1], of)


@numba.njit
def from_the_third(to, of):
    copy(to[2:], of[1:3])


def test_copy_writes_the_beginning_of_a_row_and_nothing_beside_it():
    table = np.zeros((3, 4), np.uint8)
    second_row(table, np.array([7, 8, 9], np.uint8))
    assert table.tolist() == [[0, 0, 0, 0], [7, 8, 9, 0], [0, 0, 0, 0]]


def test_copy_counts_elements_not_bytes():
    numbers = np.zeros(5)
    from_the_third(numbers, np.array([1.0, 2.0, 3.0, 4.0]))
    assert numbers.tolist() == [0, 0, 2, 3, 0]


@pytest.mark.parametrize("of", [np.zeros(3, np.int8), np.zeros(6, np.uint8)[::2]], ids=["another type", "with gaps"])
def test_copy_refuses_what_memcpy_would_garble(of):
    with pytest.raises(numba.TypingError, match="contiguous arrays of one type"):
        second_row(np.zeros((3, 4), np.uint8), of)


def test_only_loops_and_kernels_call_kernels():
    """Twice 3 is 6 from a loop; from Python it is refused."""

    @compiled.kernel
    def twice(x):
        return 2 * x

    @numba.njit
    def calls(x):
        return twice(x)

    assert calls(3) == 6
    with pytest.raises(TypeError, match="twice is a kernel; only loops and kernels may call it"):
        twice(3)
