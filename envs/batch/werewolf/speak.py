"""What is said by day at a table of Werewolf, as kernels: counted as in `parlour.envs.werewolf.tally`, and believed."""

from __future__ import annotations

from typing import Any

from parlour.envs.batch.compiled import kernel
from parlour.envs.batch.werewolf import belief
from parlour.envs.batch.werewolf.layout import ACCUSE, CLAIM, DEFEND, REPORT


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
