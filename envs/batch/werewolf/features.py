"""Werewolf's features as kernels, the numbers of `parlour.envs.werewolf.encode` for the seat to move, and the loops over all games."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.kernel_tables import Task, blank, rest
from parlour.envs.batch.tables import ILLEGAL, RESETS_NEXT, RESETS_NOW
from parlour.envs.batch.werewolf import belief
from parlour.envs.batch.werewolf.layout import (
    CHECK,
    HUNT,
    LAST,
    POISON,
    PROTECT,
    SAVE,
    SEATS,
    SHOOT,
    TALK,
    VOTE,
    WHISPER,
)
from parlour.envs.batch.werewolf.options import ONGOING, is_legal, random_action, seat_at, write_mask
from parlour.envs.batch.werewolf.play import DRAW, VILLAGE, begin, end, play, start
from parlour.envs.werewolf.encode import PHASES, SEAT_FEATURES, TABLE_FEATURES

_COLUMNS = len(SEAT_FEATURES)
_THIRD = 1 / 3
_PHASES = len(PHASES)
_OF_TABLE = len(TABLE_FEATURES)


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
        rows = belief.rows_of(r, h)
        belief.weigh_seers(g, r, h, rows)
        wolf, seer = np.empty(r.seats), np.empty(r.seats)
        belief.marginals(g, r, w, h, rows, g.actor, wolf, seer)
        belief.look_on(g, r, w, h, rows)
        at = chances(g, r, wolf, seer, f, at)
        chances(g, r, g.looks_wolf, g.looks_seer, f, at)


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
    return _of_table(g, r, f, at)


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
    share = r.share[n]
    f[at] = g.alive[j]
    f[at + 1] = g.by_night[j]
    f[at + 2] = g.executed[j]
    f[at + 3] = known[j]
    f[at + 4] = clipped(g.accused_sum[j] * 0.1)
    f[at + 5] = clipped(g.defended_sum[j] * 0.1)
    f[at + 6] = clipped(g.accused_made[j] * 0.1)
    f[at + 7] = clipped(g.defended_made[j] * 0.1)
    f[at + 8] = clipped((g.accused[me, j] - g.defended[me, j]) * 0.2)
    f[at + 9] = clipped(g.reported[j] * 0.2)
    f[at + 10] = clipped(g.reports_made[j] * 0.2)
    f[at + 11] = g.latest_sum[j] * share
    f[at + 12] = clipped(g.votes_sum[j] * share * _THIRD)
    f[at + 13] = clipped(g.votes[j, me] * _THIRD)
    f[at + 14] = g.passes[j] / max(g.ballots[j], 1)
    for_known = 0
    if certain:
        for t in range(n):
            for_known += g.votes[j, t] * known[t]
    f[at + 15] = clipped(for_known * _THIRD)


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
def _of_table(g: Any, r: Any, f: Any, at: int) -> int:
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
    at += _OF_TABLE
    if r.hunter >= 0:
        f[at] = phase == SHOOT
        at += 1
    return at


@kernel
def pairs(g: Any, r: Any, f: Any, at: int) -> int:
    """The four `PAIR_FEATURES`, each by acting seat and seat acted on."""
    n, me = r.seats, g.actor
    for place in range(n):
        j = seat_at(g, r, place)
        _pairs_of(g, n, j, me, n, f, at)
        _pairs_of(g, n, j, 0, me, f, at + n - me)
        at += n
    return at + 3 * n * n


@kernel
def _pairs_of(g: Any, n: int, j: int, first: int, last: int, f: Any, at: int) -> None:
    """Those of seat j with the seats from `first` to before `last`, from `at` on."""
    square = n * n
    for k in range(last - first):
        t = first + k
        f[at + k] = clipped((g.accused[j, t] - g.defended[j, t]) * 0.2)
        f[at + k + square] = clipped((g.reports_evil[j, t] - g.reports_good[j, t]) * 0.5)
        f[at + k + 2 * square] = clipped(g.votes[j, t] * _THIRD)
        f[at + k + 3 * square] = g.latest[j] == t


@kernel
def history(g: Any, r: Any, f: Any, at: int) -> int:
    """By seat: when it died, when it talks, what it was."""
    for i in range(r.seats):
        j = seat_at(g, r, i)
        checked = r.character and g.actor == g.seer and ((g.seen | g.cleared) >> j) & 1
        f[at] = g.died_on[j] / r.max_days
        f[at + 1] = g.place[j] / r.seats
        for k in range(r.kinds):
            f[at + 2 + k] = (g.roles[j] if checked else g.shown[j]) == k
        at += 2 + r.kinds
    return at


@kernel
def chances(g: Any, r: Any, wolf: Any, seer: Any, f: Any, at: int) -> int:
    """Who is a werewolf, then who is the seer."""
    n = r.seats
    for place in range(n):
        j = seat_at(g, r, place)
        f[at + place] = min(wolf[j], 1.0)
        f[at + n + place] = min(seer[j], 1.0)
    return at + 2 * n


# -- all games: each writes to its own row of the buffers of `Turns` ----------------------------------------------------


@kernel
def look(g: Any, r: Any, w: Any, h: Any, b: int, turns: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    turns.actor[b] = g.actor
    if g.actor < 0:
        blank(b, turns.mask, turns.observation)
        return
    write_mask(g, r, turns.mask[b])
    observe(g, r, w, h, turns.observation[b])


@kernel
def turn(g: Any, r: Any, w: Any, h: Any, action: int, b: int, turns: Any, winner: Any) -> None:
    """Play an action of game b, pay, and deal again when it is over."""
    won = play(g, r, w, h, action)
    over = won != ONGOING
    winner[b], turns.terminated[b] = won if over else DRAW, over
    for j in range(r.seats):
        wins = (g.roles[j] != r.wolf) == (won == VILLAGE)
        turns.rewards[b, j] = (1 if wins else -1) if over and won != DRAW else 0
    if over:
        if r.reset == RESETS_NOW:
            begin(g, r, w, h)
        else:
            end(g)


@loop
def run_all(games: Any, rules: Any, weights: Any, h: Any, task: int, actions: Any, turns: Any, winner: Any) -> None:
    """See `KernelTables._run`."""
    for index in prange(len(games)):
        b = np.uint64(index)  # see `compiled.loop`
        g, r, w = games[b], rules[0], weights[b]
        if task == Task.DEAL:
            begin(g, r, w, h)
        elif task == Task.START:
            start(g, r, w, h)
        elif task != Task.SHOW_ONLY:
            if g.actor < 0:
                rest(b, turns.rewards, turns.terminated, winner, DRAW)
                if r.reset == RESETS_NEXT:
                    begin(g, r, w, h)
                    look(g, r, w, h, b, turns)
                continue
            action = actions[b]
            if task == Task.PLAY_AT_RANDOM:
                action = random_action(g, r)
            elif not is_legal(g, r, action):
                winner[b] = ILLEGAL
                continue
            turn(g, r, w, h, action, b, turns, winner)
        look(g, r, w, h, b, turns)
