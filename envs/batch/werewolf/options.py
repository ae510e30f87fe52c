"""Who is asked in a game of Werewolf, what it may do and say: the kernels' side of `parlour.envs.werewolf.choices`.

`g` is the record of a game, `r` that of the rules (`layout.py`). The seat to move acts by numbers of its own frame.
"""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.batch.compiled import kernel
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.werewolf import belief
from parlour.envs.batch.werewolf.layout import (
    ACCUSE,
    CHECK,
    CLAIM,
    DEFEND,
    HUNT,
    LAST,
    PROTECT,
    REPORT,
    SAVE,
    TALK,
    WHISPER,
)

ONGOING: Final = -2
"""Nobody has won yet."""
NONE: Final = -1
"""No seat: nobody is aimed at, no such role is in play."""


@kernel
def ask(g: Any, phase: int, seat: int) -> int:
    """One seat is asked."""
    g.phase, g.actor, g.waiting, g.asked = phase, seat, 1, 0
    return ONGOING


@kernel
def ask_wolves(g: Any, r: Any, phase: int) -> int:
    """The living wolves are asked, in seat order."""
    g.phase, g.asked, g.waiting = phase, 0, 0
    for j in range(r.seats):
        if g.alive[j] and g.roles[j] == r.wolf:
            g.queue[g.waiting] = j
            g.waiting += 1
    g.actor = g.queue[0]
    return ONGOING


@kernel
def ask_all(g: Any, r: Any, phase: int) -> int:
    """All who live are asked, in the order of talk."""
    g.phase, g.asked, g.waiting = phase, 0, 0
    for k in range(r.seats):
        if g.alive[g.order[k]]:
            g.queue[g.waiting] = g.order[k]
            g.waiting += 1
    g.actor = g.queue[0]
    return ONGOING


@kernel
def ask_next(g: Any) -> bool:
    """Ask the next of the queue; False if there is none."""
    g.asked += 1
    if g.asked == g.waiting:
        return False
    g.actor = g.queue[g.asked]
    return True


@kernel
def may_aim(g: Any, r: Any, j: int) -> bool:
    """Whether the seat to move may aim at seat j, in the phases in which seats are aimed at."""
    if not g.alive[j]:
        return False
    if g.phase == WHISPER or g.phase == HUNT:
        return r.hunt_wolves == 1 or g.roles[j] != r.wolf
    if g.phase == PROTECT:
        return r.guard_repeats == 1 or j != g.guarded
    return g.phase != CHECK or j != g.actor


@kernel
def write_mask(g: Any, r: Any, mask: Any) -> None:
    """What the seat to move may do, in its own frame; `mask` is uint8."""
    mask[:] = 0
    if g.phase == TALK or g.phase == LAST:
        for k in range(r.speeches):
            mask[r.speech[k]] = 1
        return
    idle, aimed = r.idle[g.phase], r.aimed[g.phase]
    mask[idle] = 1
    if g.phase == SAVE:
        mask[idle + 1] = 1
        return
    for place in range(r.seats):
        if may_aim(g, r, seat_at(g, r, place)):
            mask[aimed + place] = 1


@kernel
def seat_at(g: Any, r: Any, place: int) -> int:
    """The seat that is `place` further than the one to move."""
    j = g.actor + place
    return j - r.seats if j >= r.seats else j


@kernel
def is_legal(g: Any, r: Any, action: int) -> bool:
    """Whether the mask allows it."""
    if action < 0 or action >= r.actions:
        return False
    if g.phase == TALK or g.phase == LAST:
        kind = r.kind[action]
        return kind <= REPORT and (kind == CLAIM or r.aim[action] != 0)
    idle, place = r.idle[g.phase], action - r.aimed[g.phase]
    if action == idle or g.phase == SAVE:
        return action == idle or action == idle + 1
    return 0 <= place < r.seats and may_aim(g, r, seat_at(g, r, place))


@kernel
def random_action(g: Any, r: Any) -> int:
    """A legal action from the stream of the players, each as likely as the others."""
    g.players = advance(g.players)
    if g.phase == TALK or g.phase == LAST:
        return r.speech[below(g.players, r.speeches)]
    if g.phase == SAVE:
        return r.idle[g.phase] + below(g.players, 2)
    count = 1
    for j in range(r.seats):
        count += may_aim(g, r, j)
    number = below(g.players, count)
    if number == 0:
        return r.idle[g.phase]
    for place in range(r.seats):
        number -= may_aim(g, r, seat_at(g, r, place))
        if number == 0:
            return r.aimed[g.phase] + place
    return r.idle[g.phase]


# -- what is said by day: counted as in `parlour.envs.werewolf.encode.Tally`, and believed --------------------------------------


@kernel
def speak(g: Any, r: Any, w: Any, h: Any, kind: int, aim: int, verdict: int) -> None:
    """What the seat to move says, heard by everybody."""
    me = g.actor
    if kind == ACCUSE:
        g.accused[me, aim] += 1
        g.accused_sum[aim] += 1
        g.accused_made[me] += 1
        g.accusers[aim] |= 1 << me
        if r.believes:
            belief.see_aim(g, r, w, h, me, aim, r.accuses_wolf, r.wolf_accuses_wolf)
    elif kind == DEFEND:
        g.defended[me, aim] += 1
        g.defended_sum[aim] += 1
        g.defended_made[me] += 1
        if r.believes:
            belief.see_aim(g, r, w, h, me, aim, r.defends_wolf, r.wolf_defends_wolf)
    elif kind == REPORT:
        _report(g, r, w, h, aim, verdict)
    elif kind == CLAIM:
        g.claimed[me] = aim
        if aim == r.seer:
            _claim_sight(g, me)
        if r.believes:
            belief.see_claim(g, r, w, h, me, aim)


@kernel
def _report(g: Any, r: Any, w: Any, h: Any, aim: int, verdict: int) -> None:
    me = g.actor
    if verdict:
        g.reports_evil[me, aim] += 1
        g.reported[aim] += 1
    else:
        g.reports_good[me, aim] += 1
        g.reported[aim] -= 1
    g.reports_made[me] += 1
    g.accusers[aim] |= 1 << me
    _claim_sight(g, me)
    if r.believes:
        belief.see_report(g, r, w, h, me, aim, verdict)


@kernel
def _claim_sight(g: Any, me: int) -> None:
    """The seat stands as one who says it is the seer; listed once."""
    for k in range(g.claimants):
        if g.claimant[k] == me:
            return
    g.claimant[g.claimants] = me
    g.claimants += 1
