"""Seats of a game in an array: who is asked, and sets of seats given as bits."""

from __future__ import annotations

from typing import Any

from parlour.envs.batch.compiled import kernel


@kernel
def ask(g: Any, phase: int, seat: int) -> int:
    """One seat is asked; the game is not over."""
    g.phase, g.actor, g.waiting, g.asked = phase, seat, 1, 0
    return -2


@kernel
def ask_next(g: Any) -> bool:
    """Ask the next of the queue; False if there is none."""
    g.asked += 1
    if g.asked == g.waiting:
        return False
    g.actor = g.queue[g.asked]
    return True


@kernel
def seat_at(g: Any, r: Any, place: int) -> int:
    """The seat that is `place` further than the one to move."""
    j = g.actor + place
    return j - r.seats if j >= r.seats else j


@kernel
def lowest(bits: int) -> int:
    """The first seat of a set of seats that is not empty."""
    j = 0
    while not (bits >> j) & 1:
        j += 1
    return j
