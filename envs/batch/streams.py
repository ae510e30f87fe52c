"""Random numbers inside kernels: SplitMix64, one 64-bit word of state for each stream.

Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (with the constants of
`java.util.SplittableRandom`). A record of a game has two streams, `nature` for the deal and `players` for whoever is
played inside the kernel, so that who plays does not change the deals. In a kernel:

    g.nature = advance(g.nature)
    leader = below(g.nature, 5)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.batch.compiled import kernel

Words = np.ndarray[Any, np.dtype[np.uint64]]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


@kernel
def advance(state: Any) -> Any:
    """The next state of a stream."""
    return state + _STEP


@kernel
def mixed(state: Any) -> Any:
    """The 64 random bits of a state."""
    x = (state ^ (state >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@kernel
def below(state: Any, count: int) -> Any:
    """A whole number in [0, count); count < 2**32. Too likely by 2**-32 at most."""
    return np.int64(((mixed(state) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@kernel
def fraction(state: Any) -> Any:
    """A number in [0, 1)."""
    return np.float64(mixed(state) >> np.uint64(11)) * 2.0**-53


def started(seeds: Sequence[int], stream: int) -> Words:
    """The first states of stream number `stream` of games with these seeds, shape (games,)."""
    words = np.array([seed & (2**64 - 1) for seed in seeds], dtype=np.uint64)
    with np.errstate(over="ignore"):
        return _mixed_words(_mixed_words(words + _STEP) ^ np.uint64(stream))


def _mixed_words(words: Words) -> Words:
    x = (words ^ (words >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))
