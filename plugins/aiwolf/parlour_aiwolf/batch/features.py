"""Features of AIWolf's Werewolf as kernels, as in `parlour_aiwolf.encode`, for the seat to move, and the loop over all games."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from parlour.envs.batch.compiled import copy, kernel, loop
from parlour.envs.batch.kernel_tables import Task, blank, rest
from parlour.envs.batch.tables import ILLEGAL, NOBODY, RESETS_NEXT, RESETS_NOW
from parlour.envs.batch.werewolf.options import NONE, ONGOING, seat_at

from parlour_aiwolf.batch.lanes import widen
from parlour_aiwolf.batch.layout import CHECK, KNOWN, REPORTS, STANDS
from parlour_aiwolf.batch.options import decision, is_legal, random_action, write_mask
from parlour_aiwolf.batch.play import VILLAGE, begin, play, start
from parlour_aiwolf.batch.testimony import show_testimony
from parlour_aiwolf.testimony import TESTIMONY


@kernel
def observe(g: Any, r: Any, f: Any) -> None:
    """Write the features that the rules record asks for to `f`."""
    at = _summary(g, r, f)
    if r.testimony:
        show_testimony(g, r, f[at:])
        at += r.seats * len(TESTIMONY)
    if r.record:
        _pairs(g, r, f[at:])


@kernel
def _summary(g: Any, r: Any, f: Any) -> int:
    """The first features of all kinds; returns where they end."""
    me, kinds, columns = g.actor, r.kinds, r.columns
    for k in range(kinds):
        f[k] = 0
    f[g.roles[me]] = 1
    end, own = r.seats * columns, me * columns
    copy(f[kinds:], g.rows[own:end])
    copy(f[kinds + end - own :], g.rows[:own])
    f[kinds] = 1  # it is me
    _show_known(g, r, f[kinds + KNOWN :])
    copy(f[kinds + end :], r.may[decision(g, r)][: r.moves])
    at = kinds + end + r.moves
    f[at] = min(g.day / 10, 1.0)
    f[at + 1] = g.phase <= CHECK
    return at + 2


@kernel
def _show_known(g: Any, r: Any, f: Any) -> None:
    """What the seat to move knows of others: 1 a werewolf, -1 none. `f` begins at its own number."""
    me = g.actor
    evil = good = 0
    if g.roles[me] == r.wolf:
        evil = int(g.wolf_set) & ~(1 << me)
    elif me == g.seer:
        evil, good = int(g.seen), int(g.cleared)
    elif me == g.medium:
        evil, good = int(g.identified_wolf), int(g.identified_human)
    if evil | good:
        for place in range(r.seats):
            j = seat_at(g, r, place)
            f[place * r.columns] = ((evil >> j) & 1) - ((good >> j) & 1)


@kernel
def _pairs(g: Any, r: Any, f: Any) -> None:
    """Reports, words for and against, votes: each by acting seat and seat acted on."""
    n, me = r.seats, g.actor
    votes = f[2 * n * n :]
    for table in (REPORTS, STANDS):
        for place in range(n):  # what is written beyond a row is written over later
            widen(f[(table * n + place) * n :], g.signs[table, seat_at(g, r, place)][me:])
    votes[:] = 0
    for place in range(n):
        target = g.ballot[seat_at(g, r, place)]
        if target != NONE:
            target -= me
            votes[place * n + (target + n if target < 0 else target)] = 1


# -- all games: each writes to its own row of the buffers of `Turns` ----------------------------------------------------


@kernel
def look(g: Any, r: Any, b: int, turns: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    turns.actor[b] = g.actor
    if g.actor < 0:
        blank(b, turns.mask, turns.observation)
        return
    write_mask(g, r, turns.mask[b])
    observe(g, r, turns.observation[b])


@kernel
def turn(g: Any, r: Any, action: int, b: int, turns: Any, winner: Any) -> None:
    """Play an action of game b, pay, and deal again when it is over."""
    won = play(g, r, action)
    over = won != ONGOING
    winner[b], turns.terminated[b] = won if over else NOBODY, over
    turns.rewards[b, :] = 0
    if over:
        for j in range(r.seats):
            of_village = g.roles[j] != r.wolf and g.roles[j] != r.possessed
            turns.rewards[b, j] = 1 if of_village == (won == VILLAGE) else -1
        if r.reset == RESETS_NOW:
            begin(g, r)
        else:
            g.actor = -1


@loop
def run_all(games: Any, rules: Any, task: int, actions: Any, turns: Any, winner: Any) -> None:
    """See `KernelTables._run`."""
    for index in prange(len(games)):
        b = np.uint64(index)  # see `compiled.loop`
        g, r = games[b], rules[0]
        if task == Task.DEAL:
            begin(g, r)
        elif task == Task.START:
            start(g, r)
        elif task != Task.SHOW_ONLY:
            if g.actor < 0:
                rest(b, turns.rewards, turns.terminated, winner, NOBODY)
                if r.reset == RESETS_NEXT:
                    begin(g, r)
                    look(g, r, b, turns)
                continue
            action = actions[b]
            if task == Task.PLAY_AT_RANDOM:
                action = random_action(g, r)
            elif not is_legal(g, r, action):
                winner[b] = ILLEGAL
                continue
            turn(g, r, action, b, turns, winner)
        look(g, r, b, turns)
