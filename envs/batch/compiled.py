"""How kernels are compiled by Numba, and where the compiled loops are kept.

Numba keeps what it compiled as long as the file of the function is the same, but kernels call kernels of other files and
take constants from the scalar games. So loops are kept in a folder that is named by the sources of all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Final, NoReturn

import numba
from filelock import FileLock
from numba import njit
from numba.core import cgutils, config, types
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, overload

_HERE: Final = Path(__file__).resolve().parent


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Decorator of functions of one game, which become part of the loops that call them; dividing by zero is no error.

    Python cannot call them. So Numba compiles no entries for Python and C, which takes a seventh of the time.

    Args:
        function: What Numba compiles.
        options: Other options of `numba.njit`.
    """

    @wraps(function)
    def called(*arguments: Any) -> NoReturn:
        raise TypeError(f"{function.__name__} is a kernel; only loops and kernels may call it")

    chosen: Any = {"error_model": "numpy", "no_cfunc_wrapper": True, **options}
    overload(called, jit_options=chosen, strict=False)(lambda *arguments: function)
    return called


def loop(function: Callable[..., Any], *, parallel: bool = True) -> Any:
    """Decorator of loops over all games: `prange`, which pays with a single thread too. Kept on disk.

    Without `parallel` it compiles faster, and runs in one thread. The numbers of `prange` are signed where types are inferred and
    unsigned where code is made: a loop makes them uint64 before a kernel gets them, or all kernels are compiled for both.

    A loop hands a tuple of arrays that it writes to, such as `Turns`, to kernels as a whole: Numba takes an array that the body of
    the loop itself names for another than the one in the tuple, and reorders writes to it. Arrays as arguments of
    their own are faster where a turn is short: with tuples a turn of Avalon took a quarter longer, and one of Werewolf the same.
    """
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    folder = _folder(before, Path(function.__code__.co_filename).resolve().parents[1])
    config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    try:
        compiled: Any = njit(cache=True, error_model="numpy", parallel=parallel)(function)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]
    compiled.compile = _once(compiled.compile, folder / f"{function.__module__}.{function.__qualname__}.lock")
    return compiled


def _once(compile_loop: Callable[[Any], Any], lock: Path) -> Callable[[Any], Any]:
    """Compile in one process while others that need the same loop wait; then they read it from the disk.

    Names of what is compiled hold numbers that Numba counts from 1 in each process, of the function and of its record types. So a
    process that read a loop for five seats, compiled by one process, and one for six, compiled by another, mixed up their parts
    and crashed. Here functions are counted from a random number.
    """

    @wraps(compile_loop)
    def compile_or_wait(signature: Any) -> Any:
        lock.parent.mkdir(parents=True, exist_ok=True)
        with global_compiler_lock, FileLock(lock):  # in this order in each thread
            FunctionIdentity._unique_ids = count(int.from_bytes(os.urandom(6), "big"))
            return compile_loop(signature)

    return compile_or_wait


def use_threads(count: int) -> None:
    """How many cores the loops of this thread use from now on, as far as Numba has them."""
    numba.set_num_threads(min(count, config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]


def _copy(typing: Any, to: Any, of: Any) -> Any:
    """What Numba is to write for a call of `copy`. Raises `TypingError`."""
    if (to.dtype, to.layout, of.layout) != (of.dtype, "C", "C"):
        raise numba.TypingError(f"copy of {of} to {to} is not accepted; accepted: contiguous arrays of one type")

    def written(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        )
        cgutils.raw_memcpy(builder, target.data, source.data, source.nitems, source.itemsize)  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(to, of), written


copy: Final[Any] = intrinsic(_copy)
"""`copy(to, of)` inside kernels: write an array to the beginning of another that is at least as long.

Both are contiguous and of one type. It is C's `memcpy`, which LLVM does not make of a loop over arrays that may overlap: rows
of masks and features are copied at every turn, and with the loop a turn of Avalon takes a sixth longer.
"""


@kernel
def lowest(bits: int) -> int:
    """The first seat of a set of seats, given as bits; the set is not empty."""
    j = 0
    while not (bits >> j) & 1:
        j += 1
    return j


@cache
def _folder(given: str, above: Path) -> Path:
    """Where loops are kept: as Numba is told (NUMBA_CACHE_DIR), beside the sources, or among the user's caches."""
    if given:
        base = Path(given)
    elif os.access(_HERE, os.W_OK):
        base = _HERE / "__pycache__"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / f"parlour-kernels-{_sources(above)}"


def _sources(above: Path) -> str:
    """A name for the sources of the kernels and of the games that they take constants from, and for those `above`."""
    digest = sha256()
    games = [_HERE.parent / folder.name for folder in _HERE.iterdir() if folder.is_dir()]
    for folder in dict.fromkeys((_HERE, *games, above)):
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
