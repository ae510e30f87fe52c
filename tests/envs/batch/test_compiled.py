"""What kernels are made of: `parlour.envs.batch.compiled`."""

from __future__ import annotations

import os
import subprocess
import sys

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


DOUBLES = """
import numpy as np
from numba import prange
from parlour.envs.batch.compiled import loop

@loop
def doubled(values):
    for b in prange(len(values)):
        values[b] *= 2

doubled(np.ones(3))
print(sum(doubled.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_of_three_processes_that_need_a_loop_one_compiles_it(tmp_path):
    module = tmp_path / "package" / "doubles" / "module.py"  # the sources above a loop name its folder
    module.parent.mkdir(parents=True)
    module.write_text(DOUBLES, encoding="utf-8")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    processes = [
        subprocess.Popen([sys.executable, str(module)], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert sorted(int(process.communicate()[0]) for process in processes) == [0, 0, 1]


NAMES = """
import re
import numpy as np
from parlour.envs.batch.compiled import loop

def doubled(values):
    for b in range(len(values)):
        values[b] *= 2

doubled = loop(doubled, parallel=False)
doubled(np.ones(3))
print(*re.findall(r'^define .*@"?([^"(]*doubled[^"(]*)', "".join(doubled.inspect_llvm().values()), re.MULTILINE))
"""


@pytest.mark.slow
def test_what_two_processes_compile_has_no_name_in_common(tmp_path):
    """A third that reads loops of both would take parts of one for those of the other: for six seats those for five, and crash."""
    module = tmp_path / "package" / "names" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text(NAMES, encoding="utf-8")
    named = [
        subprocess.run(
            [sys.executable, str(module)],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / cache)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for cache in ("first", "second")
    ]
    assert min(map(len, named)) > 0
    assert set(named[0]).isdisjoint(named[1])
