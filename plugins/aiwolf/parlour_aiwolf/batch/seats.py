"""Seats of a game in an array: who is asked, sets of seats given as bits, and tables that are over."""

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


@kernel
def blank(b: int, mask: Any, observation: Any) -> None:
    """Nobody moves at a table that is over: its mask and features are zeros."""
    mask[b, :] = 0
    observation[b, :] = 0


@kernel
def rest(b: int, rewards: Any, terminated: Any, winner: Any, nobody: int) -> None:
    """Nothing happens at a table that is over."""
    rewards[b, :] = 0
    terminated[b] = 0
    winner[b] = nobody
