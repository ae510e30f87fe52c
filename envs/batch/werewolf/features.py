"""Werewolf's features as kernels: the numbers of `parlour.envs.werewolf.seat_encode` for the seat to move, in its frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.batch.streams import kernel
from parlour.envs.batch.werewolf import belief
from parlour.envs.batch.werewolf.layout import SEATS
from parlour.envs.batch.werewolf.options import seat_at
from parlour.envs.werewolf.encode import PHASES, SEAT_FEATURES, TABLE_FEATURES
from parlour.envs.werewolf.state import CHECK, HUNT, LAST, POISON, PROTECT, SAVE, TALK, VOTE, WHISPER

_COLUMNS = len(SEAT_FEATURES)
_PHASES = len(PHASES)
_TABLE = _PHASES + len(TABLE_FEATURES)


@kernel
def clipped(x: float) -> Any:
    """Within the box of the features."""
    return np.float32(min(max(x, -1.0), 1.0))


@kernel
def observe(g: Any, r: Any, w: Any, h: Any, f: Any) -> None:
    """Write the features that the rules record asks for to `f`."""
    at = summary(g, r, f)
    if r.record:
        at = pairs(g, r, f, at)
        at = history(g, r, f, at)
    if r.belief:
        at = chances(g, r, w, h, g.actor, f, at)
        chances(g, r, w, h, belief.ONLOOKER, f, at)


@kernel
def summary(g: Any, r: Any, f: Any) -> int:
    """The first features of all kinds; returns where they end."""
    n, me = r.seats, g.actor
    for k in range(r.kinds):
        f[k] = 0
    f[g.roles[me]] = 1
    at = r.kinds
    known = np.empty(SEATS, np.int8)
    certain = write_known(g, r, known)
    for place in range(n):
        j = seat_at(g, r, place)
        _of_seat(g, r, j, known, certain, f, at)
        _of_night(g, r, j, f, at)
        at += _COLUMNS
        for k in range(r.kinds):
            f[at + k] = g.claimed[j] == k
        at += r.kinds
    _of_table(g, r, f, at)
    return at + _TABLE


@kernel
def write_known(g: Any, r: Any, known: Any) -> int:
    """By seat: surely a werewolf (1), surely none (-1), or not known (0) to the seat to move; returns the set known."""
    me, certain = g.actor, 0
    wolf = g.roles[me] == r.wolf
    for j in range(r.seats):
        if wolf or j == me:
            known[j] = 1 if g.roles[j] == r.wolf else -1
        elif me == g.seer and (g.seen >> j) & 1:
            known[j] = 1
        elif me == g.seer and (g.cleared >> j) & 1:
            known[j] = -1
        else:
            known[j] = g.known[j]
        certain |= (known[j] != 0) << j
    return certain


@kernel
def _of_seat(g: Any, r: Any, j: int, known: Any, certain: int, f: Any, at: int) -> None:
    """What is known of seat j for good: the first 16 of `SEAT_FEATURES`."""
    n, me = r.seats, g.actor
    f[at] = g.alive[j]
    f[at + 1] = g.by_night[j]
    f[at + 2] = g.executed[j]
    f[at + 3] = known[j]
    f[at + 4] = clipped(g.accused_sum[j] / 10)
    f[at + 5] = clipped(g.defended_sum[j] / 10)
    f[at + 6] = clipped(g.accused_made[j] / 10)
    f[at + 7] = clipped(g.defended_made[j] / 10)
    f[at + 8] = clipped((g.accused[me, j] - g.defended[me, j]) / 5)
    f[at + 9] = clipped(g.reported[j] / 5)
    f[at + 10] = clipped(g.reports_made[j] / 5)
    f[at + 11] = g.latest_sum[j] / n
    f[at + 12] = clipped(g.votes_sum[j] / (3 * n))
    f[at + 13] = clipped(g.votes[j, me] / 3)
    f[at + 14] = g.passes[j] / max(g.ballots[j], 1)
    for_known = 0
    if certain:
        for t in range(n):
            for_known += g.votes[j, t] * known[t]
    f[at + 15] = clipped(for_known / 3)


@kernel
def _of_night(g: Any, r: Any, j: int, f: Any, at: int) -> None:
    """What the seat to move saw of this night: the last 4 of `SEAT_FEATURES`."""
    me = g.actor
    f[at + 16] = me == g.witch and j == g.attacked
    f[at + 17] = me == g.guard and j == g.guarded
    f[at + 18] = f[at + 19] = 0
    if g.roles[me] == r.wolf:
        wanted = g.wanted[j] if r.hunt_as_cast else int(g.hunted[me] == j)
        f[at + 18] = clipped(g.proposed[j] / 5)
        f[at + 19] = clipped((wanted + (g.chosen == j)) / 5)


@kernel
def _of_table(g: Any, r: Any, f: Any, at: int) -> None:
    n, me, phase = r.seats, g.actor, g.phase
    f[at] = phase in (TALK, LAST)
    f[at + 1] = phase == WHISPER
    f[at + 2] = phase == HUNT
    f[at + 3] = phase == PROTECT
    f[at + 4] = phase == POISON
    f[at + 5] = phase == CHECK
    f[at + 6] = phase == VOTE
    f[at + 7] = phase == SAVE
    at += _PHASES
    f[at] = phase <= CHECK
    f[at + 1] = g.day / r.max_days
    f[at + 2] = g.living / n
    f[at + 3] = g.alive[me]
    f[at + 4] = me == g.witch and g.antidote
    f[at + 5] = me == g.witch and g.poison
    f[at + 6] = (g.wolves - g.alive[me]) / 5 if g.roles[me] == r.wolf else 0.0
    f[at + 7] = g.place[me] / n


@kernel
def pairs(g: Any, r: Any, f: Any, at: int) -> int:
    """The four `PAIR_FEATURES`, each by acting seat and seat acted on."""
    n = r.seats
    square = n * n
    for i in range(n):
        j = seat_at(g, r, i)
        for k in range(n):
            t = seat_at(g, r, k)
            f[at] = clipped((g.accused[j, t] - g.defended[j, t]) / 5)
            f[at + square] = clipped((g.reports_evil[j, t] - g.reports_good[j, t]) / 2)
            f[at + 2 * square] = clipped(g.votes[j, t] / 3)
            f[at + 3 * square] = g.latest[j] == t
            at += 1
    return at + 3 * square


@kernel
def history(g: Any, r: Any, f: Any, at: int) -> int:
    """By seat: when it died, when it talks, what it was."""
    for i in range(r.seats):
        j = seat_at(g, r, i)
        f[at] = g.died_on[j] / r.max_days
        f[at + 1] = g.place[j] / r.seats
        for k in range(r.kinds):
            f[at + 2 + k] = g.shown[j] == k
        at += 2 + r.kinds
    return at


@kernel
def chances(g: Any, r: Any, w: Any, h: Any, seat: int, f: Any, at: int) -> int:
    """What a seat, or an onlooker, believes: who is a werewolf, then who is the seer."""
    n = r.seats
    wolf = np.empty(n)
    seer = np.empty(n)
    belief.marginals(g, r, w, h, seat, wolf, seer)
    for place in range(n):
        j = seat_at(g, r, place)
        f[at + place] = min(wolf[j], 1.0)
        f[at + n + place] = min(seer[j], 1.0)
    return at + 2 * n
