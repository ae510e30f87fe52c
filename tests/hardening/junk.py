"""What is no action: numbers out of range, things of other types, moves that may not be made now."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from parlour.envs.core import Move

HUGE = 10**400
JUNK: tuple[Any, ...] = (
    *(999, -1, -999, HUGE, -HUGE, np.int64(-1), np.int64(2**40)),
    *(float("nan"), float("inf"), -float("inf"), 0.5, 1.7, np.float32("nan"), np.float64(0.5), 1j),
    *(None, "", "x", "0", "9" * 100_000, b"0", object(), int, len),
    *([], [0], [[0]], (), (0,), (0, 1), (None, None, None), {}, {0: 0}, {0}, slice(0, 1)),
    *(
        np.array([]),
        np.array([0, 1]),
        np.zeros((2, 2)),
        np.array(float("nan")),
        np.array("x"),
        np.zeros(3, dtype=np.int8),
    ),
    *(Move("nonsense"), Move("vote", (1,)), Move("", (), "words")),
)


def junk(rng: np.random.Generator, mask: Any, *, words: bool = False, masked: bool = True) -> Any:
    """Something that is no action for who may act by this mask.

    Args:
        rng: Chance.
        mask: Ones and zeros, one for each number.
        words: Whether actions are words: then it is none.
        masked: Whether a number that the mask leaves out is no action; half of the time it is one.
    """
    closed = np.flatnonzero(np.asarray(mask) == 0)
    if masked and len(closed) and rng.random() < 0.5:
        return int(closed[int(rng.integers(len(closed)))])
    while True:
        value = JUNK[int(rng.integers(len(JUNK)))]
        if not (words and isinstance(value, str)) and not 0 <= _number(value) < len(mask):
            return value


def _number(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        return -1


def name_of(value: Any) -> str:
    """A value in a few words, the same in every process."""
    text = type(value).__name__ if type(value) in (object, type, type(len)) else " ".join(repr(value).split())
    return text if len(text) < 60 else f"{text[:40]}... ({len(text)} characters)"
