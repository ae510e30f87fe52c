"""Claims of the village that the speaker knows to be false, over the records of many games."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.batch.werewolf.layout import ACCUSE, CLAIM, DEFEND, REPORT, Array

_EVIL, _GOOD = 1, -1
"""In `known`, the sides that shown roles give away."""


def known_false(tables: Any, actions: Array) -> Array:
    """Where a seat of the village would say what it knows to be false: (B,) bool.

    That is a role that it has not, a report of a check that it has not seen or has reported already, and an accusation or a
    defence against a check of its own or a role that was shown. Werewolves lie freely.

    Args:
        tables: Of Werewolf, with kernels.
        actions: (B,): what the seats to move are about to do, in their own frames.
    """
    g, r, here = tables.games, tables.rules[0], np.arange(tables.num_envs)
    me, kind, evil = np.maximum(g.actor, 0), r.kind[actions], r.verdict[actions] == 1
    target = (me + np.maximum(r.aim[actions], 0)) % r.seats
    role, sees = g.roles[here, me], g.seer == me
    found_evil, found_good = ((sees & (checks >> target & 1 == 1)) for checks in (g.seen, g.cleared))
    reported = np.where(evil, g.reports_evil[here, me, target], g.reports_good[here, me, target]) > 0
    of_kind = {
        ACCUSE: found_good | (g.known[here, target] == _GOOD),
        DEFEND: found_evil | (g.known[here, target] == _EVIL),
        CLAIM: r.aim[actions] != role,
        REPORT: reported | ~np.where(evil, found_evil, found_good),
    }
    false = np.zeros(tables.num_envs, np.bool_)
    for said, wrong in of_kind.items():
        false |= (kind == said) & wrong
    return false & (role != r.wolf)
