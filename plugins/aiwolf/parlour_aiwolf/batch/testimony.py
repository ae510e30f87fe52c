"""What claims come to for the seat to move, as kernels: `parlour_aiwolf.testimony`.

Sets of seats are bits. `wolf_by`, `none_by` and `accused_by` hold for each seat who last reported it as a werewolf, as none, and
who accused nobody since; `seers`, `mediums` and `bodyguards` who claims these roles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.batch.compiled import kernel, lowest
from parlour.envs.batch.werewolf.options import NONE

from parlour_aiwolf.batch.layout import SEATS
from parlour_aiwolf.testimony import TESTIMONY

_REPORTED, _REFUTED, _ACCUSED, _I_ACCUSE, _I_REPORTED, _ALONE, _NAMED = range(len(TESTIMONY))
_FIELD = 0b11111
"""The bits of one of the counts that `_counts` packs."""

# -- what is heard ---------------------------------------------------------------------------------------------------


@kernel
def forget_testimony(g: Any) -> None:
    """Nobody has said anything."""
    g.seers = g.mediums = g.bodyguards = 0
    g.wolf_by[:] = 0
    g.none_by[:] = 0
    g.accused_by[:] = 0


@kernel
def hear_claim(g: Any, r: Any, by: int, role: int) -> None:
    """A seat claims a role; its last claim counts."""
    bit = 1 << by
    g.seers &= ~bit
    g.mediums &= ~bit
    g.bodyguards &= ~bit
    g.seers |= (role == r.seer) << by
    g.mediums |= (role == r.medium) << by
    g.bodyguards |= (role == r.bodyguard) << by


@kernel
def hear_report(g: Any, by: int, about: int, wolf: bool) -> None:
    """A seat reports; its last report about a seat counts. Who claimed nothing claims by it to be the seer."""
    bit = 1 << by
    g.wolf_by[about] &= ~bit
    g.none_by[about] &= ~bit
    g.wolf_by[about] |= wolf << by
    g.none_by[about] |= (not wolf) << by
    if g.claimed[by] == NONE:
        g.seers |= bit


@kernel
def hear_accusation(g: Any, by: int, before: int, about: int) -> None:
    """A seat accuses another; its last accusation counts."""
    if before != NONE:
        g.accused_by[before] &= ~(1 << by)
    g.accused_by[about] |= 1 << by


# -- what it comes to ------------------------------------------------------------------------------------------------


@kernel
def show_testimony(g: Any, r: Any, f: Any) -> None:
    """Write the block, column after column; `f` begins where it does."""
    n, me, alive = r.seats, g.actor, np.int64(g.alive_set)
    refuted = _refuted(g, r)
    quotients = r.quotients[max(1, _counts(np.int64(g.seers) & ~refuted))]
    others, most = alive & ~(1 << me), 1
    for place in range(n):
        j = me + place
        j -= n if j >= n else 0
        wolf_by, none_by, accused_by = np.int64(g.wolf_by[j]), np.int64(g.none_by[j]), np.int64(g.accused_by[j])
        counts = _counts((wolf_by & ~refuted) | ((none_by & ~refuted) << 16) | ((accused_by & others) << 32))
        accusers = (counts >> 32) & _FIELD
        f[_REPORTED * n + place] = quotients[SEATS + (counts & _FIELD) - ((counts >> 16) & _FIELD)]
        f[_ACCUSED * n + place] = accusers
        f[_I_ACCUSE * n + place] = (accused_by >> me) & 1
        f[_I_REPORTED * n + place] = ((wolf_by >> me) & 1) - ((none_by >> me) & 1)
        if (alive >> j) & 1 and accusers > most:
            most = accusers
    for place in range(n):
        at = _ACCUSED * n + place
        f[at] = r.quotients[most, SEATS + int(f[at])]
    alone = (
        _only(np.int64(g.seers) & alive) | _only(np.int64(g.mediums) & alive) | _only(np.int64(g.bodyguards) & alive)
    )
    _show_set(refuted, n, me, f[_REFUTED * n :])
    _show_set(alone, n, me, f[_ALONE * n :])
    _show_named(g, r, f[_NAMED * n :])


@kernel
def _refuted(g: Any, r: Any) -> int:
    """Who reported another result than the seat to move knows or a lone medium reported, or claims the role that it has."""
    me, role = g.actor, g.roles[g.actor]
    wolves, others, refuted = np.int64(0), np.int64(1 << me), np.int64(0)
    if role == r.wolf:
        wolves, others = np.int64(g.wolf_set), np.int64(0)
    elif role == r.seer:
        wolves, others, refuted = np.int64(g.seen), others | np.int64(g.cleared), np.int64(g.seers)
    elif role == r.medium:
        wolves, others = np.int64(g.identified_wolf), others | np.int64(g.identified_human)
        refuted = np.int64(g.mediums)
    elif role == r.bodyguard:
        refuted = np.int64(g.bodyguards)
    medium = _only(np.int64(g.mediums))
    if medium:
        known = wolves | others
        for j in range(r.seats):
            said = (np.int64(g.wolf_by[j]) & medium) != 0, (np.int64(g.none_by[j]) & medium) != 0
            wolves |= (said[0] << j) & ~known
            others |= (said[1] << j) & ~known
    while wolves:
        refuted |= np.int64(g.none_by[lowest(wolves)])
        wolves &= wolves - 1
    while others:
        refuted |= np.int64(g.wolf_by[lowest(others)])
        others &= others - 1
    return refuted & ~(1 << me)


@kernel
def _show_set(seats: int, n: int, me: int, f: Any) -> None:
    """1 for each seat of a set, counted from the own one."""
    turned = (seats >> me) | (seats << (n - me))
    for place in range(n):
        f[place] = (turned >> place) & 1


@kernel
def _show_named(g: Any, r: Any, f: Any) -> None:
    """To the wolves, how recently each seat was named as the victim."""
    for place in range(r.seats):
        f[place] = 0
    if g.roles[g.actor] != r.wolf:
        return
    for j in range(r.seats):
        if g.proposed_at[j]:
            place = j - g.actor
            f[place + r.seats if place < 0 else place] = g.proposed_at[j] / g.proposals


@kernel
def _only(seats: int) -> int:
    """The set itself if it has one seat, else the empty set."""
    return 0 if seats & (seats - 1) else seats


@kernel
def _counts(sets: int) -> int:
    """How many bits are set, of each 16."""
    pairs = sets - ((sets >> 1) & 0x555555555555)
    fours = (pairs & 0x333333333333) + ((pairs >> 2) & 0x333333333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F0F0F
    return (eights + (eights >> 8)) & 0x001F001F001F
