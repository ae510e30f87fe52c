"""The heuristic of AIWolf's Werewolf over arrays: what `parlour_aiwolf.heuristic` does, from what was heard.

It draws from the players' stream of each game, so its games differ from the scalar player's with the same seed. In the same state
it has the same action probabilities. It needs no beliefs. The numbers are the scalar player's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from parlour.envs.batch.compiled import kernel, loop, lowest
from parlour.envs.batch.streams import advance, below, fraction
from parlour.envs.batch.werewolf.options import NONE

from parlour_aiwolf.batch.layout import ACCUSE, CHECK, CLAIM, HUNT, REPORT, TALK, VOTE, WHISPER
from parlour_aiwolf.heuristic import ACCUSED, CLEARED, REPORTED, TIE, AIWolfStyle

_USUAL = AIWolfStyle()


def choose(tables: Any, where: Any, actions: Any, style: AIWolfStyle = _USUAL) -> None:
    """Write the heuristic's actions; see `parlour.policies.heuristic.batch`."""
    _choose_all(tables.games, tables.rules, tables.acting(where), actions, float(style.open))


@loop
def _choose_all(games: Any, rules: Any, where: Any, actions: Any, opens: float) -> None:
    for b in prange(len(games)):
        if where[b] and games[b].actor >= 0:
            actions[b] = _decide(games[b], rules[0], opens)


@kernel
def _decide(g: Any, r: Any, opens: float) -> int:
    """What the seat to move does, a number of its own frame."""
    if g.phase == TALK:
        line = _line(g, r)
        return r.said[CLAIM] + r.villager if opens > 0 and _opens(g, r, opens) else line
    if g.phase == WHISPER:
        return r.over if g.proposals else _aim(g, r, _prey(g, r))
    if g.phase == HUNT:
        return _aim(g, r, _prey(g, r))
    if g.phase == VOTE:
        return _aim(g, r, _suspect(g, r))
    if g.phase == CHECK:
        return _aim(g, r, _to_check(g, r))
    return _aim(g, r, _to_guard(g, r))


@kernel
def _aim(g: Any, r: Any, seat: int) -> int:
    return r.aimed[g.phase] + _place(g, r, seat)


@kernel
def _place(g: Any, r: Any, seat: int) -> int:
    """A seat in the frame of the one to move."""
    place = seat - g.actor
    return place + r.seats if place < 0 else place


@kernel
def _others(g: Any) -> int:
    """The living seats but the one to move, as a set of bits."""
    return np.int64(g.alive_set) & ~(1 << g.actor)


@kernel
def _but_wolves(g: Any, r: Any) -> int:
    """Those of them that the one to move does not know as werewolves."""
    return _others(g) & ~np.int64(g.wolf_set) if g.roles[g.actor] == r.wolf else _others(g)


@kernel
def _best(g: Any, seats: int, worth: Any, sign: float) -> int:
    """Of a set of seats the one with most `worth` times `sign`, ties by lot."""
    best, most = NONE, -np.inf
    for j in range(len(worth)):
        if (seats >> j) & 1:
            g.players = advance(g.players)
            here = sign * worth[j] + TIE * fraction(g.players)
            if here > most:
                best, most = j, here
    return best


# -- what was heard --------------------------------------------------------------------------------------------------


@kernel
def _claim(g: Any, r: Any, seat: int) -> int:
    """The role that a seat claims: who reports, and claimed none, claims to be the seer."""
    if g.claimed[seat] >= 0:
        return g.claimed[seat]
    for j in range(r.seats):
        if g.reported[seat, j]:
            return r.seer
    return NONE


@kernel
def _claims(g: Any, r: Any, claimed: Any, role: int) -> int:
    """The seats that claim a role, as a set of bits; none claims a role that is not in play."""
    seats = 0
    for j in range(r.seats):
        seats |= (claimed[j] == role and role >= 0) << j
    return seats


@kernel
def _count(seats: int) -> int:
    count = 0
    while seats:
        seats &= seats - 1
        count += 1
    return count


@kernel
def _claimed(g: Any, r: Any) -> Any:
    claimed = np.empty(r.seats, np.int64)
    for j in range(r.seats):
        claimed[j] = _claim(g, r, j)
    return claimed


@kernel
def _result(g: Any, r: Any, seat: int) -> Any:
    """What the seat to move found as seer or medium: 1 a werewolf, -1 none, 0 nothing."""
    role = g.roles[g.actor]
    if role == r.seer:
        return int((g.seen >> seat) & 1) - int((g.cleared >> seat) & 1)
    if role == r.medium:
        return int((g.identified_wolf >> seat) & 1) - int((g.identified_human >> seat) & 1)
    return 0


@kernel
def _liars(g: Any, r: Any, claimed: Any) -> int:
    """The seats known to lie, as bits: they reported another result than is known, or claim the role of who has results."""
    me = g.actor
    known = np.zeros(r.seats, np.int64)
    known[me] = 1 if g.roles[me] == r.wolf else -1
    mediums = _claims(g, r, claimed, r.medium)
    results = False
    for j in range(r.seats):
        if _count(mediums) == 1 and g.reported[lowest(mediums), j]:
            known[j] = g.reported[lowest(mediums), j]
        if _result(g, r, j):
            known[j] = _result(g, r, j)
            results = True
    liars = 0
    for seat in range(r.seats):
        wrong = results and claimed[seat] >= 0 and claimed[seat] == claimed[me]
        for j in range(r.seats):
            wrong |= g.reported[seat, j] != 0 and known[j] != 0 and g.reported[seat, j] != known[j]
        liars |= (wrong and seat != me) << seat
    return liars


@kernel
def _marks(g: Any, r: Any, claimed: Any) -> Any:
    """Marks of suspicion by seat."""
    marks = np.zeros(r.seats)
    liars = _liars(g, r, claimed)
    weight = REPORTED / max(1, _count(_claims(g, r, claimed, r.seer) & ~liars))
    for seat in range(r.seats):
        lies = (liars >> seat) & 1
        for j in range(r.seats):
            if not lies and g.reported[seat, j]:
                marks[j] += weight * (1.0 if g.reported[seat, j] > 0 else CLEARED)
        if seat != g.actor and g.accusing[seat] >= 0 and (g.alive_set >> seat) & 1:
            marks[g.accusing[seat]] += ACCUSED / r.seats
        if lies:
            marks[seat] += REPORTED
    for j in range(r.seats):
        if _result(g, r, j):
            marks[j] = 2 * REPORTED * _result(g, r, j)
    return marks


# -- whom to choose --------------------------------------------------------------------------------------------------


@kernel
def _suspect(g: Any, r: Any) -> int:
    """Whom it wants to see executed; wolves spare the wolves."""
    seats = _but_wolves(g, r)
    return _best(g, seats if seats else _others(g), _marks(g, r, _claimed(g, r)), 1.0)


@kernel
def _prey(g: Any, r: Any) -> int:
    """Whom a fellow named last; else who claims a power; else who looks least suspicious."""
    victims = _but_wolves(g, r)
    named, latest = NONE, 0
    for j in range(r.seats):
        if (victims >> j) & 1 and g.proposed_at[j] > latest:
            named, latest = j, g.proposed_at[j]
    if named != NONE:
        return named
    claimed = _claimed(g, r)
    powers = 0
    for role in (r.seer, r.medium, r.bodyguard):
        powers |= _claims(g, r, claimed, role)
    return _best(g, powers & victims if powers & victims else victims, _marks(g, r, claimed), -1.0)


@kernel
def _to_check(g: Any, r: Any) -> int:
    unknown = _others(g)
    for j in range(r.seats):
        if _result(g, r, j):
            unknown &= ~(1 << j)
    return _best(g, unknown if unknown else _others(g), _marks(g, r, _claimed(g, r)), 1.0)


@kernel
def _to_guard(g: Any, r: Any) -> int:
    """A lone seer first, then a medium, else who looks least suspicious."""
    claimed, others = _claimed(g, r), _others(g)
    for role in (r.seer, r.medium):
        claimants = _claims(g, r, claimed, role) & others
        if _count(claimants) == 1:
            return lowest(claimants)
    return _best(g, others, _marks(g, r, claimed), -1.0)


# -- talk ------------------------------------------------------------------------------------------------------------


@kernel
def _line(g: Any, r: Any) -> int:
    """What it says by day: its role, what it found, whom it suspects; over when there is nothing new."""
    me, own = g.actor, np.int64(g.roles[g.actor])
    role = np.int64(r.seer) if own == r.possessed else own
    if (role == r.seer or role == r.medium) and _comes_out(g, r, role):
        if _claim(g, r, me) != role:
            return r.said[CLAIM] + role
        target = _to_report(g, r)
        if target != NONE:
            return target
    suspect = _suspect(g, r)
    if g.accusing[me] != suspect:
        return r.said[ACCUSE] + _place(g, r, suspect)
    return r.over


@kernel
def _opens(g: Any, r: Any, opens: float) -> bool:
    """Whether it says instead that it is a villager; see `AIWolfStyle`."""
    role = g.roles[g.actor]
    if role == r.seer or role == r.medium or role == r.possessed or _claim(g, r, g.actor) != NONE:
        return False
    g.players = advance(g.players)
    return fraction(g.players) < opens


@kernel
def _comes_out(g: Any, r: Any, role: int) -> bool:
    me = g.actor
    comes = g.roles[me] == r.possessed or g.day > 1
    for j in range(r.seats):
        comes |= _result(g, r, j) > 0 or (j != me and _claim(g, r, j) == role)
    return comes


@kernel
def _to_report(g: Any, r: Any) -> int:
    """The oldest result that it has not told, or the lie of the possessed, one a day."""
    me = g.actor
    if g.roles[me] == r.possessed:
        return _lie(g, r)
    for k in range(g.checks if g.roles[me] == r.seer else g.identifications):
        j = g.checked[k] if g.roles[me] == r.seer else g.identified[k]
        if g.reported[me, j] == 0:
            return _report(g, r, j, _result(g, r, j) > 0)
    return NONE


@kernel
def _lie(g: Any, r: Any) -> int:
    """The possessed reports a rival as a werewolf, else anybody."""
    me, reported, rivals = g.actor, 0, 0
    for j in range(r.seats):
        reported |= (g.reported[me, j] != 0) << j
        rivals |= (_claim(g, r, j) == r.seer) << j
    targets = _others(g) & ~reported
    if _count(reported) >= g.day or targets == 0:
        return NONE
    among = targets & rivals if targets & rivals else targets
    g.players = advance(g.players)
    for _ in range(below(g.players, _count(among))):
        among &= among - 1
    return _report(g, r, lowest(among), True)


@kernel
def _report(g: Any, r: Any, seat: int, wolf: bool) -> int:
    return r.said[REPORT] + 2 * _place(g, r, seat) + wolf
