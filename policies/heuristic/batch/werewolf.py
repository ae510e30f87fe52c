"""Werewolf's heuristic over arrays: what `parlour.policies.heuristic.werewolf` does, from the beliefs in the record.

It draws from the players' stream of each game, so its games differ from the scalar player's with the same seed. In the
same state it has the same action probabilities. The numbers are the scalar player's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.streams import advance, fraction
from parlour.envs.batch.werewolf.belief import look_on, marginals, rows_of, weigh_seers
from parlour.envs.batch.werewolf.layout import (
    ACCUSE,
    CHECK,
    CLAIM,
    DEFEND,
    HUNT,
    LAST,
    POISON,
    PROTECT,
    REPORT,
    SAVE,
    SHOOT,
    TALK,
    VOTE,
    WHISPER,
)
from parlour.envs.batch.werewolf.options import NONE, may_aim
from parlour.policies.heuristic.werewolf import (
    ACCUSES,
    ACCUSES_AS_WOLF,
    LETS_DIE,
    LIES,
    POISONS,
    PRESSED,
    SHOOTS,
    VOTES,
)

_TIE = 1e-6


def choose(tables: Any, where: Any, actions: Any) -> None:
    """Write the heuristic's actions; see `parlour.policies.heuristic.batch`. Raises `ParlourError` without beliefs."""
    _choose_all(tables.games, tables.rules, tables.weights, tables.hypotheses, tables.acting(where), actions)


@loop
def _choose_all(games: Any, rules: Any, weights: Any, h: Any, where: Any, actions: Any) -> None:
    for b in prange(len(games)):
        if where[b] and games[b].actor >= 0:
            actions[b] = _decide(games[b], rules[0], weights[b], h)


@kernel
def _decide(g: Any, r: Any, w: Any, h: Any) -> int:
    """What the seat to move does, a number of its own frame."""
    wolf, seer, looks = np.empty(r.seats), np.empty(r.seats), g.looks_wolf[: r.seats]
    as_wolf = g.roles[g.actor] == r.wolf
    rows = rows_of(r, h)
    weigh_seers(g, r, h, rows)
    if as_wolf:
        look_on(g, r, w, h, rows)
    if not as_wolf or g.phase <= HUNT:
        marginals(g, r, w, h, rows, g.actor, wolf, seer)
    if g.phase == TALK or g.phase == LAST:
        return _speech_as_wolf(g, r, looks) if as_wolf else _speech(g, r, wolf)
    if g.phase == SAVE:
        saves = g.attacked == g.actor or wolf[g.attacked] < LETS_DIE
        return r.idle[SAVE] + saves
    target = NONE
    if g.phase == WHISPER or g.phase == HUNT:
        target = _prey(g, r, seer, looks)
    elif g.phase == VOTE:
        target = _worst(g, _victims(g), looks, 1.0) if as_wolf else _suspect(g, r, wolf)
    elif g.phase == PROTECT:
        target = _ward(g, r, wolf, seer)
    elif g.phase == POISON:
        target = _poisoned(g, r, wolf)
    elif g.phase == CHECK:
        target = _checked(g, r, wolf)
    elif g.phase == SHOOT:
        target = _worst(g, _others(g), wolf, 1.0)
        if target != NONE and wolf[target] < SHOOTS:
            target = NONE
    return r.idle[g.phase] if target == NONE else r.aimed[g.phase] + _place(g, r, target)


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
def _victims(g: Any) -> int:
    """Those of them that are no werewolves."""
    return _others(g) & ~np.int64(g.wolf_set)


@kernel
def _tie(g: Any) -> float:
    """So little that it only decides ties."""
    g.players = advance(g.players)
    return _TIE * fraction(g.players)


@kernel
def _worst(g: Any, seats: int, chance: Any, sign: float) -> int:
    """Of a set of seats the one with most chance times `sign`, ties by lot; `NONE` of no seats."""
    worst, most = NONE, -np.inf
    for j in range(len(chance)):
        if (seats >> j) & 1:
            worth = sign * chance[j] + _tie(g)
            if worth > most:
                worst, most = j, worth
    return worst


# -- by night --------------------------------------------------------------------------------------------------------


@kernel
def _prey(g: Any, r: Any, seer: Any, looks: Any) -> int:
    """Whom a fellow has named; else who is most likely the seer, and looks innocent."""
    victims = _victims(g)
    for k in range(g.proposals):
        if g.proposer[k] != g.actor and (victims >> g.proposal[k]) & 1:
            return g.proposal[k]
    return _worst(g, victims, 2 * seer - looks, 1.0)


@kernel
def _ward(g: Any, r: Any, wolf: Any, seer: Any) -> int:
    """Who is most likely the seer and trusted, of those whom the guard may protect."""
    worth = (1 - wolf) * (0.1 + seer)
    open_to = 0
    for j in range(r.seats):
        open_to |= may_aim(g, r, j) << j
    return _worst(g, open_to, worth, 1.0)


@kernel
def _poisoned(g: Any, r: Any, wolf: Any) -> int:
    worst = _worst(g, _others(g), wolf, 1.0)
    late = g.living - 1 <= r.all_wolves + 1
    return worst if wolf[worst] > POISONS - 0.2 * late else NONE


@kernel
def _checked(g: Any, r: Any, wolf: Any) -> int:
    """The seat most in doubt."""
    unknown = _others(g) & ~np.int64(g.seen | g.cleared)
    return _worst(g, unknown, np.abs(wolf - 0.5), -1.0)


# -- by day ----------------------------------------------------------------------------------------------------------


@kernel
def _suspect(g: Any, r: Any, wolf: Any) -> int:
    """Whom one of the village votes for, if anybody stands out."""
    others, total = _others(g), 0.0
    for j in range(r.seats):
        total += wolf[j] * ((others >> j) & 1)
    worst = _worst(g, others, wolf, 1.0)
    return worst if wolf[worst] >= VOTES * total / max(g.living - 1, 1) else NONE


@kernel
def _said(g: Any, r: Any, kind: int, seat: int) -> int:
    return r.said[kind] + _place(g, r, seat)


@kernel
def _report(g: Any, r: Any, seat: int, evil: int) -> int:
    return r.said[REPORT] + 2 * _place(g, r, seat) + evil


@kernel
def _speech(g: Any, r: Any, wolf: Any) -> int:
    """What one of the village says: a check, who it is when pressed, else whom it suspects or trusts."""
    me, others = g.actor, _others(g)
    pressed = _pressed(g, r)
    if me == g.seer:
        target = _to_tell(g, 1)
        if target != NONE:
            return _report(g, r, target, 1)
        target = _to_tell(g, 0)
        if target != NONE and (g.day > 1 or pressed):
            return _report(g, r, target, 0)
    if pressed and g.roles[me] != r.villager:
        return r.said[CLAIM] + g.roles[me]
    if others == 0:
        return 0
    worst = _worst(g, others, wolf, 1.0)
    if wolf[worst] > ACCUSES:
        return _said(g, r, ACCUSE, worst)
    return _said(g, r, DEFEND, _worst(g, others, wolf, -1.0))


@kernel
def _pressed(g: Any, r: Any) -> bool:
    """Whether silence costs more than to be known to the werewolves."""
    me = g.actor
    accusers = 0
    for j in range(r.seats):
        accusers += (g.accusers[me] >> j) & 1
    rivals = g.claimants - _claimed(g, me)
    return g.alive[me] == 0 or accusers >= PRESSED or (me == g.seer and rivals > 0)


@kernel
def _claimed(g: Any, seat: int) -> bool:
    """Whether a seat has said it is the seer, or told of a check."""
    claimed = False
    for k in range(g.claimants):
        claimed |= g.claimant[k] == seat
    return claimed


@kernel
def _to_tell(g: Any, evil: int) -> int:
    """The latest check of a living seat with this result that the seer has not told of."""
    me = g.actor
    for k in range(g.checks - 1, -1, -1):
        j = g.checked[k]
        reported = g.reports_evil[me, j] + g.reports_good[me, j] > 0
        if (g.seen >> j) & 1 == evil and g.alive[j] and not reported:
            return j
    return NONE


@kernel
def _speech_as_wolf(g: Any, r: Any, looks: Any) -> int:
    me, victims = g.actor, _victims(g)
    if victims == 0:
        return 0
    for k in range(g.claimants - 1, -1, -1):
        j = g.claimant[k]
        if (victims >> j) & 1 and (g.accusers[me] >> j) & 1:
            return _report(g, r, j, 1)  # reported by a seer: two seers then, and one of them lies
    suspect = _worst(g, victims, looks, 1.0)
    g.players = advance(g.players)
    draw = fraction(g.players)
    one_of_us_sees = g.reports_made[me] > 0
    for k in range(g.claimants):
        one_of_us_sees |= g.claimant[k] != me and (g.wolf_set >> g.claimant[k]) & 1 == 1
    if draw < LIES and not one_of_us_sees:
        return _report(g, r, suspect, 1)
    if draw < ACCUSES_AS_WOLF:
        return _said(g, r, ACCUSE, suspect)
    return _said(g, r, DEFEND, _worst(g, victims, looks, -1.0))
