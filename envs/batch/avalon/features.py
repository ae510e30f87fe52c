"""Avalon's features as kernels: the numbers of `parlour.envs.avalon.seat_encode` for the seat to move, in its frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN
from parlour.envs.avalon.state import HUNT, PROPOSE, QUEST, TALK, VOTE
from parlour.envs.batch.avalon import belief
from parlour.envs.batch.avalon.layout import SLOTS
from parlour.envs.batch.streams import kernel


@kernel
def clipped(x: float) -> Any:
    """Into [-1, 1]."""
    return np.float32(min(max(x, -1.0), 1.0))


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
    n, me, team = len(g.roles), g.actor, g.team
    shown = g.shown[me]
    for k in range(r.roles):
        f[k] = 0
    f[g.roles[me]] = 1
    at = r.roles
    votes = np.float32(1) / np.float32(max(g.ballots, 1))
    for place in range(n):
        j = me + place
        if j >= n:
            j -= n
        f[at] = j == g.leader
        f[at + 1] = (team >> j) & 1
        f[at + 2] = (shown >> j) & 1
        for k in range(9):
            f[at + 3 + k] = clipped(g.sums[j, k])
        f[at + 8] = g.sums[j, 5] * votes
        f[at + 12] = clipped(g.remarks[me, j])
        f[at + 13] = j == g.exposed
        at += 14
    return table(g, r, f, at)


@kernel
def table(g: Any, r: Any, f: Any, at: int) -> int:
    """The end of the summary: phase, quest, score and team; where the next block begins."""
    me, team = g.actor, g.team
    f[at] = g.phase == TALK
    f[at + 1] = g.phase == PROPOSE
    f[at + 2] = g.phase == VOTE
    f[at + 3] = g.phase == QUEST
    f[at + 4] = g.phase == HUNT
    for quest in range(QUESTS):
        f[at + 5 + quest] = g.quest == quest
    at += 5 + QUESTS
    mine, known = (team >> me) & 1, r.bits[team & g.shown[me]]
    f[at] = g.good / QUESTS_TO_WIN
    f[at + 1] = g.evil / QUESTS_TO_WIN
    f[at + 2] = clipped(g.counted / PROPOSALS)
    f[at + 3] = r.sizes[g.quest] / 5
    f[at + 4] = r.fails_needed[g.quest] == 2
    f[at + 5] = mine
    f[at + 6] = known / 4
    f[at + 7] = clipped((r.bits[team] - known - mine) / 4)
    f[at + 8] = r.night[g.roles[me]]
    return at + 9


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
    """Who spoke against whom, and the roles that were claimed."""
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
