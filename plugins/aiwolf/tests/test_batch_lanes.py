"""A row of small whole numbers becomes a row of features: `parlour_aiwolf.batch.lanes`."""

from __future__ import annotations

import numpy as np
import pytest

numba = pytest.importorskip("numba")
lanes = pytest.importorskip("parlour_aiwolf.batch.lanes")


@numba.njit
def widened_from_the_second(to, of):
    lanes.widen(to[2:], of[1:])


def test_widen_writes_sixteen_numbers_and_nothing_beside_them():
    numbers = np.full(20, 0.5, np.float32)
    widened_from_the_second(numbers, np.arange(-3, 15, dtype=np.int8))
    assert numbers.tolist() == [0.5, 0.5, *range(-2, 14), 0.5, 0.5]


def test_widen_refuses_other_types():
    with pytest.raises(numba.TypingError, match="contiguous arrays, int8 to float32"):
        widened_from_the_second(np.zeros(20), np.zeros(20, np.int8))
