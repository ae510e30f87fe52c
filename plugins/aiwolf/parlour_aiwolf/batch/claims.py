"""Claims by day that a speaker of the village knows to be false, over the records of many games."""

from __future__ import annotations

from typing import Any

import numpy as np

from parlour_aiwolf.batch.layout import ACCUSE, CLAIM, DEFEND, REPORT, Array


def known_false(tables: Any, actions: Array) -> Array:
    """Where a seat of the village would say what it knows to be false: (B,) bool.

    That is a role that it has not, a report of a result that it has not heard or has reported already, an accusation or a
    defence against such a result. While it has a result that it never reported, anything but a role or a report keeps this back, and
    counts too. Werewolves and the possessed lie freely.

    Args:
        tables: Of AIWolf's Werewolf, with kernels.
        actions: (B,): what the seats to move are about to do, in their own frames.
    """
    g, r, here = tables.games, tables.rules[0], np.arange(tables.num_envs)
    me, kind, evil = np.maximum(g.actor, 0), r.kind[actions], r.verdict[actions] == 1
    target = (me + np.maximum(r.aim[actions], 0)) % r.seats
    role = g.roles[here, me]
    wolf = np.select([g.seer == me, g.medium == me], [g.seen, g.identified_wolf], 0) >> target & 1 == 1
    human = np.select([g.seer == me, g.medium == me], [g.cleared, g.identified_human], 0) >> target & 1 == 1
    repeated = g.reported[here, me, target] == np.where(evil, 1, -1)
    false = (kind == ACCUSE) & human
    false |= (kind == DEFEND) & wolf
    false |= (kind == CLAIM) & (r.aim[actions] != role)
    false |= (kind == REPORT) & (repeated | ~np.where(evil, wolf, human))
    results = np.select([g.seer == me, g.medium == me], [g.seen | g.cleared, g.identified_wolf | g.identified_human], 0)
    has = results[:, None] >> np.arange(r.seats) & 1 == 1
    false |= (kind < CLAIM) & (has & (g.reported[here, me, : r.seats] == 0)).any(axis=1)
    return false & (role != r.wolf) & (role != r.possessed)
