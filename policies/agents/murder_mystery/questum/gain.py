"""Who is asked, by information gain (Questum, section 2.2, Eq. 1 to 3): the arithmetic of lists of suspects.

The list of suspects is a uniform belief over its n members, with entropy H = ln n, which questions bring down to 0. A gain is what
a list lost: IG_t = H_(t-1) - H_t, negative when it grew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from parlour.envs.core import accept

BETA: Final = 0.2
"""Share of the past in a score (appendix C.1)."""
EPSILON: Final = 0.1
"""Probability of asking a random suspect (appendix C.1)."""
EXPECTED: Final = {"high": 1.0, "medium": 0.0, "low": -1.0}
"""Eq. 2: the gain that an answer of the information-value sensor stands for."""


def entropy(suspects: int) -> float:
    """Entropy of a uniform belief over a number of suspects, in nats.

    >>> round(entropy(4), 4)
    1.3863

    Raises:
        ParlourError: There is no suspect: somebody did it.
    """
    if suspects < 1:
        raise accept("number of suspects", suspects, "1 or more")
    return math.log(suspects)


def gain(before: int, after: int) -> float:
    """What was gained when a list went from `before` to `after` suspects, in nats; negative if it grew.

    >>> round(gain(4, 2), 4)
    0.6931
    """
    return entropy(before) - entropy(after)


def weighted_gain(history: Sequence[float]) -> float:
    """Eq. 1: the mean of the gains so far, oldest first, the k-th of i with weight exp(-(i - k)); 0 without any.

    >>> round(weighted_gain([0.0, 1.0]), 4)  # (0/e + 1) / (1/e + 1)
    0.7311
    """
    if not history:
        return 0.0
    last = len(history)
    weights = [math.exp(k - last) for k in range(1, last + 1)]
    return math.fsum(w * g for w, g in zip(weights, history, strict=True)) / math.fsum(weights)


def expected_gain(level: str) -> float:
    """Eq. 2: 1 for "high", 0 for "medium", -1 for "low", in letters of any case; 0 for any other word."""
    return EXPECTED.get(level.strip().casefold(), 0.0)


def score(history: Sequence[float], expected: float, beta: float = BETA) -> float:
    """Eq. 3: beta times the weighted gain of the past plus (1 - beta) times the expected gain."""
    return beta * weighted_gain(history) + (1 - beta) * expected


def choose(scores: Mapping[int, float], epsilon: float, rng: np.random.Generator) -> int:
    """The epsilon-greedy choice: with probability epsilon any suspect, all alike, otherwise the best, one of equals.

    Args:
        scores: A score for each suspect, in the order of the list.
        epsilon: 0 .. 1.
        rng: Where chance comes from; always one number of it is used, and a second one for a random suspect or among equals.

    Raises:
        ParlourError: The list is empty.
    """
    if not scores:
        raise accept("list of suspects", [], "one or more")
    among = list(scores)
    if rng.random() >= epsilon:
        best = round(max(scores.values()), 12)  # sums of the same gains in another order are equal
        among = [suspect for suspect in scores if round(scores[suspect], 12) == best]
        if len(among) == 1:
            return among[0]
    return among[int(rng.integers(len(among)))]


def pruned(proposed: Sequence[int], before: Sequence[int], others: Sequence[int]) -> tuple[int, ...]:
    """The list of suspects after pruning.

    Args:
        proposed: Players that the pruner named, in its order; any players, any number of times.
        before: The list as it was; it stays if no possible suspect was named.
        others: All possible suspects; any of them may return to the list.
    """
    known = frozenset(others)
    named = tuple(dict.fromkeys(seat for seat in proposed if seat in known))
    return named or tuple(before)
