"""Avalon's features as kernels, the numbers of `parlour.envs.avalon.encode` for the seat to move, and the loops over all games."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import prange
from parlour.envs.avalon.encode import TABLE_SIZE
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN
from parlour.envs.batch.avalon import belief
from parlour.envs.batch.avalon.layout import DONE, HUNT, PROPOSE, QUEST, SEAT_SIZE, SLOTS, TALK, VOTE
from parlour.envs.batch.avalon.play import ONGOING, begin, clipped, end, mask_row, play, start
from parlour.envs.batch.compiled import copy, kernel, loop
from parlour.envs.batch.kernel_tables import Task, blank, rest
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.tables import ILLEGAL, RESETS_NEXT, RESETS_NOW

_SHOWN_PHASES: Final = (TALK, PROPOSE, VOTE, QUEST, HUNT)
PHASE_PLACES: Final = tuple(_SHOWN_PHASES.index(p) if p in _SHOWN_PHASES else 0 for p in range(DONE + 1))
"""Phase -> place of its one-hot."""


@kernel
def observe(g: Any, r: Any, f: Any) -> None:
    """Write the features that the rules record asks for to `f`."""
    at = summary(g, r, f)
    if r.record:
        at = record(g, r, f, at)
    if r.belief:
        chances(g, r, f, at)


@kernel
def summary(g: Any, r: Any, f: Any) -> int:
    """The numbers of `encode.py`; where the next block begins."""
    n, me, roles = len(g.roles), g.actor, r.roles
    for k in range(roles):
        f[k] = 0
    f[g.roles[me]] = 1
    size = len(g.rows)
    copy(f[roles:], g.rows[me * SEAT_SIZE :])
    copy(f[roles + size - me * SEAT_SIZE :], g.rows[: me * SEAT_SIZE])
    at, shown = roles, g.shown[me]
    for place in range(n):
        j = me + place - (n if me + place >= n else 0)
        f[at + 2] = (shown >> j) & 1
        if r.talk:
            f[at + 12] = clipped(g.remarks[me, j])
        at += SEAT_SIZE
    table(g, r, f[at:])
    return at + TABLE_SIZE


@kernel
def table(g: Any, r: Any, f: Any) -> None:
    """The end of the summary: phase, quest, score and team."""
    me, team = g.actor, g.team
    for k in range(5 + QUESTS):
        f[k] = 0
    f[PHASE_PLACES[g.phase]] = 1
    f[5 + g.quest] = 1
    mine, known = (team >> me) & 1, r.bits[team & g.shown[me]]
    f[10] = np.float32(g.good) / np.float32(QUESTS_TO_WIN)
    f[11] = np.float32(g.evil) / np.float32(QUESTS_TO_WIN)
    f[12] = clipped(np.float32(g.counted) / np.float32(PROPOSALS))
    f[13] = np.float32(r.sizes[g.quest]) / np.float32(5)
    f[14] = r.fails_needed[g.quest] == 2
    f[15] = mine
    f[16] = np.float32(known) / np.float32(4)
    f[17] = clipped(np.float32(r.bits[team] - known - mine) / np.float32(4))
    f[18] = r.night[g.roles[me]]


@kernel
def record(g: Any, r: Any, f: Any, at: int) -> int:
    """All proposals so far; where the next block begins."""
    n, me = len(g.roles), g.actor
    for slot in range(SLOTS):
        if g.led[slot] < 0:
            for k in range(3 * n + 3):
                f[at + k] = 0
            at += 3 * n + 3
            continue
        voted = slot != g.slot or g.phase != VOTE
        for place in range(n):
            j = (me + place) % n
            named, went = (g.named[slot] >> j) & 1, (g.went[slot] >> j) & 1
            f[at + place] = j == g.led[slot]
            f[at + n + place] = membership(named, went, g.went[slot] != 0)
            f[at + 2 * n + place] = (1 if (g.approved[slot] >> j) & 1 else -1) if voted else 0
        at += 3 * n
        result = g.result[slot]
        f[at] = 0 if result == 0 else (1 if result > 0 else -1)
        f[at + 1] = 0 if result == 0 else clipped((abs(result) - 1) / 3)
        played = result != 0 and (g.went[slot] >> me) & 1
        f[at + 2] = 0 if not played else (-1 if (g.failed[slot] >> me) & 1 else 1)
        at += 3
    return speeches(g, r, f, at) if r.talk else at


@kernel
def membership(named: int, went: int, gone: bool) -> float:
    """1 if named, unless another team was drawn: then a half if dropped, -1/2 if drawn instead."""
    if not gone or named == went:
        return float(named)
    return 0.5 if named else -0.5


@kernel
def speeches(g: Any, r: Any, f: Any, at: int) -> int:
    """Accusations between seats, and claimed roles."""
    n, me = len(g.roles), g.actor
    for a in range(n):
        i = (me + a) % n
        for b in range(n):
            f[at + b] = clipped(g.remarks[i, (me + b) % n])
        at += n
    for a in range(n):
        i = (me + a) % n
        for role in range(r.roles):
            f[at + role] = (g.claims[i] >> role) & 1
        at += r.roles
    return at


@kernel
def chances(g: Any, r: Any, f: Any, at: int) -> None:
    """The belief, brought up to date first."""
    n, me = len(g.roles), g.actor
    if g.stale:
        belief.look_from_outside(g, r)
    belief.look_from(g, r, me)
    for place in range(n):
        j = me + place
        if j >= n:
            j -= n
        f[at + place] = g.inside[j]
        f[at + n + place] = g.inside[n + j]
        f[at + 2 * n + place] = g.outside[j]
        f[at + 3 * n + place] = g.outside[n + j]
    f[at + 4 * n] = g.inside[2 * n]
    f[at + 4 * n + 1] = g.outside[2 * n]


# -- all games: each writes to its own row of the buffers of `Turns` ----------------------------------------------------


@kernel
def _show(g: Any, r: Any, masks: Any, b: int, actor: Any, mask: Any, observation: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    actor[b] = g.actor
    if g.actor < 0:
        blank(b, mask, observation)
        return
    copy(mask[b], masks[mask_row(g)])
    observe(g, r, observation[b])


@kernel
def _turn(g: Any, r: Any, acts: Any, action: int, b: int, rewards: Any, terminated: Any, winner: Any) -> None:
    """Play an action of game b, pay, and deal anew when it is over."""
    won = play(g, r, acts[action, 0], acts[action, 1])
    over = won != ONGOING
    winner[b], terminated[b] = won, over
    for j in range(rewards.shape[1]):
        rewards[b, j] = (1 if g.side[j] == won else -1) if over else 0
    if over:
        if r.reset == RESETS_NOW:
            begin(g, r)
        else:
            end(g)


@loop
def run_all(  # type: ignore[no-untyped-def]
    games, rules, acts, masks, choices, counts, task, actions, actor, mask, observation, rewards, terminated, winner
):
    """See `KernelTables._run`; `Tables` and `Turns` one by one, see `compiled.loop`."""
    for index in prange(len(games)):
        b = np.uint64(index)  # see `compiled.loop`
        g = games[b]
        if task == Task.DEAL:
            begin(g, rules[0])
        elif task == Task.START:
            start(g, rules[0], g.leader)
        elif task != Task.SHOW_ONLY:
            if g.actor < 0:
                rest(b, rewards, terminated, winner, ONGOING)
                if rules[0].reset == RESETS_NEXT:
                    begin(g, rules[0])
                    _show(g, rules[0], masks, b, actor, mask, observation)
                continue
            row, action = mask_row(g), actions[b]
            if task == Task.PLAY_AT_RANDOM:
                g.players = advance(g.players)
                action = choices[row, below(g.players, counts[row])]
            elif action < 0 or action >= masks.shape[1] or not masks[row, action]:
                winner[b] = ILLEGAL
                continue
            _turn(g, rules[0], acts, action, b, rewards, terminated, winner)
        _show(g, rules[0], masks, b, actor, mask, observation)
