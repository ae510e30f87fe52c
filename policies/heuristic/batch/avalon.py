"""Avalon's heuristic over arrays: what `parlour.policies.heuristic.avalon` does, from the beliefs in the record.

It draws from the players' stream of each game, so its games differ from the scalar player's with the same seed. In the
same state it has the same action probabilities. The numbers are the scalar player's. Seats are numbers at
the table until an action is given in the frame of the seat to move.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numba import prange
from parlour.envs.batch.avalon.belief import look_from, look_from_outside
from parlour.envs.batch.avalon.layout import ACCUSE, BALLOT, CARD, DEFEND, GUESS, HUNT, PROPOSE, QUEST, RECOMMEND, VOTE
from parlour.envs.batch.avalon.play import turned
from parlour.envs.batch.compiled import kernel, loop, lowest
from parlour.envs.batch.streams import advance, below, fraction
from parlour.policies.heuristic.avalon import (
    ACCUSES_GOOD,
    LESS_SUSPECTED,
    OR_DEFENDS,
    PICKY,
    PRAISES,
    SURE_OF_MERLIN,
    SUSPICIOUS,
    AvalonStyle,
)
from parlour.policies.heuristic.settings import HeuristicSettings

_LIMIT: Final = len(PICKY)
_TIE: Final = 1e-6
"""Chances that are closer than that are alike."""


_USUAL: Final = AvalonStyle()
_COVER, _DIRTY, _CLEAN, _FIRST, _PICKY = range(5)
"""Places of the settings of a style in an array, in the order of its fields."""


def choose(tables: Any, where: Any, actions: Any, style: AvalonStyle = _USUAL) -> None:
    """Write the heuristic's actions; see `parlour.policies.heuristic.batch`. Raises `ParlourError` without beliefs."""
    _choose_all(tables.games, tables.rules, *tables.numbers, tables.acting(where), actions, _numbers(style))


@lru_cache(maxsize=64)
def _numbers(style: AvalonStyle) -> Any:
    """The settings of a style, in the order of its fields."""
    return np.array([value for name, value in style if name not in HeuristicSettings.model_fields])


@loop
def _choose_all(games: Any, rules: Any, first: Any, teams: Any, where: Any, actions: Any, style: Any) -> None:
    for b in prange(len(games)):
        if where[b] and games[b].actor >= 0:
            actions[b] = decide(games[b], rules[0], first, teams, style)


@kernel
def decide(g: Any, r: Any, first: Any, teams: Any, style: Any) -> int:
    """What the seat to move does, a number of its own frame."""
    n, me = len(g.roles), g.actor
    if g.phase == VOTE:
        return first[BALLOT] + (0 if approves(g, r, style) else 1)
    if g.phase == PROPOSE:
        team = evil_team(g, r) if g.side[me] else best_team(g, r, style)
        return teams[turned(team, (n - me) % n, n)]
    if g.phase == QUEST:
        return first[CARD] + (1 if sabotages(g, r, style) else 0)
    if g.phase == HUNT:
        return first[GUESS] + merlin(g, r)
    return evil_speech(g, r, first) if g.side[me] else good_speech(g, r, first, style)


@kernel
def chance(g: Any, probability: float) -> bool:
    """Whether something of this probability happens; a number of the players' stream is spent on it."""
    g.players = advance(g.players)
    return fraction(g.players) < probability


@kernel
def fellows(g: Any) -> int:
    """The bits of an evil seat to move and of those that the night showed it."""
    return g.shown[g.actor] | (1 << g.actor)


@kernel
def suspicions(g: Any, r: Any) -> Any:
    """How evil each seat looks to an onlooker, with ties broken at random."""
    n = len(g.roles)
    look_from_outside(g, r)
    chances = np.empty(n)
    for j in range(n):
        g.players = advance(g.players)
        chances[j] = g.outside[j] + fraction(g.players) * _TIE
    return chances


# -- votes and teams -------------------------------------------------------------------------------------------


@kernel
def look_as_shown(g: Any, r: Any, style: Any) -> Any:
    """What a good seat acts by. Merlin sometimes acts on public knowledge alone, while no quest is at stake."""
    if g.roles[g.actor] == r.merlin and g.evil < 2 and chance(g, style[_COVER]):
        look_from_outside(g, r)
        return g.outside
    look_from(g, r, g.actor)
    return g.inside


@kernel
def clean_chances(g: Any, r: Any) -> Any:
    """For each set of seats how likely all evil seats are in it, from `scratch`: a sum over subsets, bit by bit."""
    n = len(g.roles)
    within = np.zeros(1 << n)
    total = 0.0
    for s in range(len(g.scratch)):
        within[r.sides[s]] = g.scratch[s]
        total += g.scratch[s]
    for j in range(n):
        bit = 1 << j
        for low in range(1 << n):
            if low & bit:
                within[low] += within[low ^ bit]
    return within / total


@kernel
def approves(g: Any, r: Any, style: Any) -> bool:
    """The vote of the seat to move."""
    at_limit = g.counted >= _LIMIT
    if g.side[g.actor]:
        return evil_approves(g, r, at_limit, style)
    if at_limit or g.leader == g.actor:
        return True
    chances = look_as_shown(g, r, style)
    n = len(g.roles)
    least = PICKY[g.counted - 1] * style[_PICKY]
    return chances[2 * n] >= least * prospect(g, r, chances) - 1e-9 if g.team else True


@kernel
def prospect(g: Any, r: Any, chances: Any) -> float:
    """How likely the next leaders' teams are to be clean: a good one takes his best team, an evil one none."""
    n, size = len(g.roles), r.sizes[g.quest]
    every, within = (1 << n) - 1, clean_chances(g, r)
    best = np.zeros(n)
    for team in range(1 << n):
        if r.bits[team] == size:
            clean = within[every ^ team]
            for j in range(n):
                if (team >> j) & 1 and clean > best[j]:
                    best[j] = clean
    following, total = _LIMIT - g.counted, 0.0
    for k in range(1, following + 1):
        j = (g.leader + k) % n
        total += (1 - chances[j]) * best[j]
    return total / following


@kernel
def evil_approves(g: Any, r: Any, at_limit: bool, style: Any) -> bool:
    """The vote of an evil seat."""
    if at_limit and r.rejections_lose:
        return False
    dirty = fellows(g) & g.team != 0
    if g.leader == g.actor or (dirty and g.evil == 2):
        return True
    if not dirty and g.good == 2:
        return False
    return chance(g, style[_DIRTY] if dirty else style[_CLEAN])


@kernel
def best_team(g: Any, r: Any, style: Any) -> int:
    """A good leader takes one of the teams with him that are most likely clean."""
    n, me, size = len(g.roles), g.actor, r.sizes[g.quest]
    look_as_shown(g, r, style)
    every, within = (1 << n) - 1, clean_chances(g, r)
    highest, alike = -1.0, 0
    for team in range(1 << n):
        if (team >> me) & 1 and r.bits[team] == size:
            highest = max(highest, within[every ^ team])
    for team in range(1 << n):
        alike += (team >> me) & 1 and r.bits[team] == size and within[every ^ team] >= highest - _TIE
    g.players = advance(g.players)
    left = below(g.players, alike)
    for team in range(1 << n):
        if (team >> me) & 1 and r.bits[team] == size and within[every ^ team] >= highest - _TIE:
            if left == 0:
                return team
            left -= 1
    return every  # not reached


@kernel
def evil_team(g: Any, r: Any) -> int:
    """An evil leader takes as many saboteurs as the quest needs, and the least suspected good seats."""
    n, me, size = len(g.roles), g.actor, r.sizes[g.quest]
    suspicion, own = suspicions(g, r), fellows(g)
    late = suspicion.copy()  # fellows who are not clearly less suspected than he come after him
    for j in range(n):
        if j != me and suspicion[j] > suspicion[me] - LESS_SUSPECTED:
            late[j] += 2
    team = pick(own, late, min(r.fails_needed[g.quest], size))
    return team | pick(((1 << n) - 1) & ~own, suspicion, size - r.bits[team])


@kernel
def pick(among: int, key: Any, count: int) -> int:
    """The bits of the `count` seats of a set with the lowest keys; all bits if there are fewer."""
    picked = 0
    for _ in range(count):
        lowest_seat = -1
        for j in range(len(key)):
            if (among & ~picked) >> j & 1 and (lowest_seat < 0 or key[j] < key[lowest_seat]):
                lowest_seat = j
        if lowest_seat >= 0:
            picked |= 1 << lowest_seat
    return picked


# -- cards, guesses, words -------------------------------------------------------------------------------------


@kernel
def sabotages(g: Any, r: Any, style: Any) -> bool:
    """Whether the seat to move plays fail."""
    if not g.side[g.actor]:
        return False
    own = fellows(g)
    on_team, needed = own & g.team, r.fails_needed[g.quest]
    if r.bits[on_team] < needed and r.bits[own] > 1:
        return False
    if g.quest == 0 and r.bits[g.team] == 2 and g.evil == 0:
        return chance(g, style[_FIRST])
    before = r.bits[on_team & ((1 << g.actor) - 1)]
    return g.good == 2 or g.evil == 2 or before < needed


@kernel
def merlin(g: Any, r: Any) -> int:
    """The Assassin's guess: 0 to pass, or 1 + the place of the seat that he names."""
    n, me, target, most = len(g.roles), g.actor, 0, -1.0
    look_from(g, r, me)
    for j in range(n):
        g.players = advance(g.players)
        likely = g.inside[n + j] + fraction(g.players) * _TIE
        if likely > most:
            target, most = j, likely
    if not r.hunt_at_end:
        good, evil = g.good + g.success, g.evil + 1 - g.success
        if evil == 3 or (good < 3 and g.inside[n + target] < SURE_OF_MERLIN):
            return 0
    return 1 + (target - me) % n


@kernel
def good_speech(g: Any, r: Any, first: Any, style: Any) -> int:
    """What a good seat says."""
    n, me = len(g.roles), g.actor
    if g.roles[me] == r.merlin and chance(g, style[_COVER]):
        return first[RECOMMEND]
    look_from(g, r, me)
    worst = best = (me + 1) % n
    for j in range(n):  # the first of those alike
        if j != me:
            if g.inside[j] > g.inside[worst] + _TIE or (j < worst and g.inside[j] > g.inside[worst] - _TIE):
                worst = j
            if g.inside[j] < g.inside[best] - _TIE or (j < best and g.inside[j] < g.inside[best] + _TIE):
                best = j
    if g.inside[worst] > SUSPICIOUS:
        return first[ACCUSE] + (worst - me) % n
    return first[RECOMMEND] + ((best - me) % n if chance(g, PRAISES) else 0)


@kernel
def evil_speech(g: Any, r: Any, first: Any) -> int:
    """What an evil seat says."""
    n, me, own = len(g.roles), g.actor, fellows(g)
    g.players = advance(g.players)
    draw = fraction(g.players)
    if draw < ACCUSES_GOOD:
        look_from_outside(g, r)
        victim = lowest(~own)
        for j in range(n):
            if not (own >> j) & 1 and g.outside[j] > g.outside[victim] + _TIE:
                victim = j
        return first[ACCUSE] + (victim - me) % n
    friends = own & ~(1 << me)
    if draw < OR_DEFENDS and friends:
        g.players = advance(g.players)
        for _ in range(below(g.players, r.bits[friends])):
            friends &= friends - 1
        return first[DEFEND] + (lowest(friends) - me) % n
    return first[RECOMMEND]
