"""The 60 deals of DeepRole's table, and what each seat sees of them.

Five seats: Merlin, two Loyal Servants, the Assassin and one Minion (Serrino et al. 2019, "Finding Friend and Foe in Multi-Agent
Games", arXiv 1906.02330). Seat 0 leads: tables with another leader are turned.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]

SEATS: Final = 5
DEALS: Final[tuple[tuple[int, ...], ...]] = tuple(permutations(range(SEATS), 3))
"""Seats of Merlin, the Assassin and the Minion."""
VIEWS: Final = 15
"""What a seat can know in the night: a servant; Merlin with one of six pairs; the Assassin or the Minion with one of four."""
EVIL_VIEWS: Final = 7
"""Views from this number on are evil's."""
_PAIRS: Final = tuple(combinations(range(1, SEATS), 2))


def view_of(seat: int, deal: tuple[int, ...]) -> int:
    """The number of what a seat sees of a deal, 0..14; other seats count from it round the table.

    >>> view_of(0, (1, 2, 3)), view_of(1, (1, 2, 3)), view_of(2, (1, 2, 3)), view_of(3, (1, 2, 3))
    (0, 1, 7, 14)
    """
    merlin, assassin, minion = deal
    if seat == merlin:
        pair = sorted((other - seat) % SEATS for other in (assassin, minion))
        return 1 + _PAIRS.index((pair[0], pair[1]))
    if seat == assassin:
        return EVIL_VIEWS - 1 + (minion - seat) % SEATS
    if seat == minion:
        return EVIL_VIEWS + 3 + (assassin - seat) % SEATS
    return 0


VIEW: Final = np.array([[view_of(seat, deal) for deal in DEALS] for seat in range(SEATS)], np.int64)
"""(seats, deals): number of the view."""
EVIL: Final = VIEW >= EVIL_VIEWS
"""(seats, deals)."""
MERLIN: Final = np.array([deal[0] for deal in DEALS], np.int64)
SAME_EVIL: Final = np.array(
    [[k for k, deal in enumerate(DEALS) if deal[1:] == pair] for pair in permutations(range(SEATS), 2)]
)
"""(20, 3): the deals that the Assassin cannot distinguish."""
TEAMS: Final = {size: np.array(list(combinations(range(SEATS), size)), np.int64) for size in (2, 3)}
"""Size -> (10, size): the teams in the order of the catalogue."""
_PATTERNS: Final = np.array([[number >> seat & 1 for seat in range(SEATS)] for number in range(2**SEATS)], np.int64)
APPROVED: Final = np.ascontiguousarray(_PATTERNS[_PATTERNS.sum(axis=1) > SEATS // 2])
"""(16, seats): the votes by which a team goes."""
REJECTED: Final = np.ascontiguousarray(_PATTERNS[_PATTERNS.sum(axis=1) <= SEATS // 2])


def turned(by: int) -> Array:
    """Indices (60,) with which a belief is taken over to the frame of the seat `by` places on: `belief[turned(by)]`.

    >>> int(turned(1)[DEALS.index((0, 1, 2))]) == DEALS.index((1, 2, 3))
    True
    """
    return np.array([DEALS.index(tuple((seat + by) % SEATS for seat in deal)) for deal in DEALS])


def other_seatings() -> Array:
    """Indices (24, 60) that exchange the seats 1 to 4 in every way."""
    orders = [(0, *order) for order in permutations(range(1, SEATS))]
    return np.array([[DEALS.index(tuple(order[seat] for seat in deal)) for deal in DEALS] for order in orders])
