"""Features of AIWolf's Werewolf as kernels, as in `parlour.envs.werewolf.aiwolf.encode`, for the seat to move, and the loops over all games."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import prange
from parlour.envs.batch.aiwolf.layout import ACCUSE, IS_OVER, KINDS, RECOMMEND, REPORT, SKIP
from parlour.envs.batch.aiwolf.options import is_legal, may_skip, random_action, write_mask
from parlour.envs.batch.aiwolf.play import begin, play, start
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.kernel_tables import DEAL, START, blank, rest
from parlour.envs.batch.tables import ILLEGAL
from parlour.envs.batch.werewolf.options import ONGOING, seat_at
from parlour.envs.batch.werewolf.play import DRAW, VILLAGE, end
from parlour.envs.werewolf.aiwolf.encode import OF_SEAT
from parlour.envs.werewolf.aiwolf.state import CHECK, HUNT, PROTECT, TALK, WHISPER

_COLUMNS: Final = len(OF_SEAT)
_BY_PHASE: Final = tuple(KINDS.index(kind) for kind in ("hunt", "protect", "check", "vote"))
_HUNTS, _PROTECTS, _CHECKS, _VOTES = _BY_PHASE


@kernel
def observe(g: Any, r: Any, f: Any) -> None:
    """Write the features that the rules record asks for to `f`."""
    at = _summary(g, r, f)
    if r.record:
        _pairs(g, r, f, at)


@kernel
def _summary(g: Any, r: Any, f: Any) -> int:
    """The first features of all kinds; returns where they end."""
    me = g.actor
    for k in range(r.kinds):
        f[k] = 0
    f[g.roles[me]] = 1
    at = r.kinds
    for place in range(r.seats):
        j = seat_at(g, r, place)
        _of_seat(g, r, j, f, at)
        at += _COLUMNS
        for k in range(r.kinds):
            f[at + k] = g.claimed[j] == k
        at += r.kinds
    for k in range(r.moves):
        f[at + k] = _may(g, r, r.first_move + k)
    at += r.moves
    f[at] = min(g.day / 10, 1.0)
    f[at + 1] = g.phase <= CHECK
    return at + 2


@kernel
def _of_seat(g: Any, r: Any, j: int, f: Any, at: int) -> None:
    me, n = g.actor, r.seats
    f[at] = j == me
    f[at + 1] = g.alive[j]
    f[at + 2] = g.executed[j]
    f[at + 3] = g.by_night[j]
    f[at + 4] = _known(g, r, me, j)
    for claim in range(1, 5):
        f[at + 4 + claim] = g.counts[j, claim] / n
    f[at + 9] = g.votes[j] / n


@kernel
def _known(g: Any, r: Any, me: int, j: int) -> int:
    """What the seat to move knows of another: 1 a werewolf, -1 none."""
    if g.roles[me] == r.wolf:
        return 1 if j != me and g.roles[j] == r.wolf else 0
    if me == g.seer:
        return ((g.seen >> j) & 1) - np.int64((g.cleared >> j) & 1)
    if me == g.medium:
        return ((g.identified_wolf >> j) & 1) - np.int64((g.identified_human >> j) & 1)
    return 0


@kernel
def _may(g: Any, r: Any, kind: int) -> bool:
    """Whether some action of a kind is open to the seat to move."""
    phase = g.phase
    if phase == TALK or phase == WHISPER:
        if kind == SKIP:
            return may_skip(g, r)
        return kind <= IS_OVER or (ACCUSE <= kind <= REPORT if phase == TALK else kind == RECOMMEND)
    if phase == HUNT:
        return kind == _HUNTS
    if phase == PROTECT:
        return kind == _PROTECTS
    return kind == (_CHECKS if phase == CHECK else _VOTES)


@kernel
def _pairs(g: Any, r: Any, f: Any, at: int) -> None:
    """Reports, words for and against, votes: each by acting seat and seat acted on."""
    n = r.seats
    square = n * n
    for i in range(n):
        by = seat_at(g, r, i)
        for k in range(n):
            about = seat_at(g, r, k)
            claim = g.claims[by, about]
            f[at] = (claim == 3) - np.int64(claim == 4)
            f[at + square] = (claim == 2) - np.int64(claim == 1)
            f[at + 2 * square] = g.ballot[by] == about
            at += 1


# -- all games: each writes to its own row of the buffers of `Turns` ----------------------------------------------------


@kernel
def look(g: Any, r: Any, b: int, turns: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    turns.actor[b] = g.actor
    if g.actor < 0:
        blank(b, turns)
        return
    write_mask(g, r, turns.mask[b])
    observe(g, r, turns.observation[b])


@kernel
def turn(g: Any, r: Any, action: int, b: int, turns: Any, winner: Any) -> None:
    """Play an action of game b, pay, and deal again when it is over."""
    won = play(g, r, action)
    over = won != ONGOING
    winner[b], turns.terminated[b] = won if over else DRAW, over
    for j in range(r.seats):
        of_village = g.roles[j] != r.wolf and g.roles[j] != r.possessed
        turns.rewards[b, j] = (1 if of_village == (won == VILLAGE) else -1) if over else 0
    if over:
        if r.reset:
            begin(g, r)
        else:
            end(g)


@loop
def show_all(games: Any, rules: Any, begins: int, turns: Any) -> None:
    """Write all turns again; see `KernelTables._show_all`."""
    for b in prange(len(games)):
        if begins == DEAL:
            begin(games[b], rules[0])
        elif begins == START:
            start(games[b], rules[0])
        look(games[b], rules[0], b, turns)


@loop
def play_all(games: Any, rules: Any, actions: Any, at_random: bool, turns: Any, winner: Any) -> None:
    """Play `actions`, or legal actions drawn from the streams of the players, where somebody is to move."""
    for b in prange(len(games)):
        g, r, action = games[b], rules[0], actions[b]
        if g.actor < 0:
            rest(b, turns, winner, DRAW)
            continue
        if at_random:
            action = random_action(g, r)
        elif not is_legal(g, r, action):
            winner[b] = ILLEGAL
            continue
        turn(g, r, action, b, turns, winner)
        look(g, r, b, turns)
