"""The exact posterior of `parlour.envs.avalon.belief` as kernels, kept once for all seats of a game.

A hypothesis is an evil side s, a Merlin m outside of it and, with Oberon in play, an Oberon o within it. Given s, what m
and o do is independent, so the likelihood of everything seen is a product:

    weight[s] * special[s, m] * special[s, o]

where `weight` takes all of s for evil seats that know their fellows and all others for blind ones, and `special[s, j]` is
the ratio of what j has done as Merlin (j not in s) or as Oberon (j in s) to that. A seat does not learn from what it did
itself: `own[i, s]` takes that out again. It depends on s alone, because a seat knows what it is itself. What the night
showed a seat picks the hypotheses that it sums over. So evidence costs |s| * n steps, not one for each deal and observer.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.avalon.belief import AvalonHabits, chance_clean, fails_chance
from parlour.envs.avalon.presets import EVIL_COUNT
from parlour.envs.batch.avalon import evidence
from parlour.envs.batch.avalon.layout import evil_sides
from parlour.envs.batch.compiled import kernel

_WRONG: Final = float(np.exp(-50.0))  # see AvalonBelief.see_exposure
_TINY: Final = 1e-60


def fill(r: Any, n: int, habits: AvalonHabits) -> None:
    """Write the tables of likelihoods to a rules record."""
    h, e = habits, EVIL_COUNT[n]
    sides = evil_sides(n)
    r.number = -1
    for s, side in enumerate(sides):
        bits = sum(1 << j for j in side)
        r.sides[0, s], r.evil[0, s], r.number[0, bits] = bits, side, s
        r.good[0, s] = [j for j in range(n) if j not in side]
    for i in range(n):
        r.without[0, i] = [s for s, side in enumerate(sides) if i not in side]
    blind = np.array([1 - h.approve_blind, h.approve_blind])
    for dirty, evil, merlin in (
        (0, h.approve_clean_evil, h.approve_clean_merlin),
        (1, h.approve_dirty_evil, h.approve_dirty_merlin),
    ):
        r.vote_evil[0, dirty] = np.array([1 - evil, evil]) / blind
        r.vote_merlin[0, dirty] = np.array([1 - merlin, merlin]) / blind
    r.team_evil = 1 - h.evil_on_own_team, h.evil_on_own_team
    merlin_leads = np.array([h.clean_team_merlin, 1 - h.clean_team_merlin])
    for size in range(n + 1):
        likely = (1 - chance_clean(n, e, size)) * 0.8
        blind_leads = np.array([1 - likely, likely or 1.0])  # no team of nobody is dirty
        r.team_blind[0, size], r.team_merlin[0, size] = blind_leads, merlin_leads / blind_leads
        for evil_on in range(min(e, size) + 1):
            for fails in range(n + 1):
                r.fails[0, size, evil_on, fails] = fails_chance(evil_on, size - evil_on, fails, habits)
    for praised, by_good, by_evil in (
        (0, h.accuse_evil, h.evil_accuses_evil),
        (1, h.defend_evil, h.evil_defends_evil),
    ):
        r.remark[0, praised] = ((1 - by_good, by_good), (1 - by_evil, by_evil))


# -- evidence --------------------------------------------------------------------------------------------------


@kernel
def prior(g: Any) -> None:
    """Before the first word."""
    g.weight[:] = 1
    g.special[:] = 1
    g.own[:] = 1
    g.stale = 1
    evidence.forget(g)


@kernel
def see_team(g: Any, r: Any, leader: int, team: int) -> None:
    """A leader names a team."""
    g.stale = 1
    if r.scored:
        evidence.score_team(g, r, leader, team)
        return
    size = r.bits[team]
    for s in range(len(g.weight)):
        side = r.sides[s]
        dirty = int(side & team != 0)
        if (side >> leader) & 1:
            factor = r.team_evil[dirty]
        else:
            factor = r.team_blind[size, dirty]
            g.special[s, leader] *= r.team_merlin[size, dirty]
        g.weight[s] *= factor
        g.own[leader, s] /= factor


@kernel
def see_votes(g: Any, r: Any) -> None:
    """All votes on the team are shown."""
    g.stale = 1
    if r.scored:
        evidence.score_all_votes(g, r)
    else:
        see_rated_votes(g, r)
    largest = 0.0
    for s in range(len(g.weight)):
        largest = max(largest, g.weight[s])
    if not _TINY < largest < 1 / _TINY:
        for s in range(len(g.weight)):
            g.weight[s] /= largest


@kernel
def see_rated_votes(g: Any, r: Any) -> None:
    """Votes by fixed rates."""
    with_oberon = r.oberon >= 0
    for s in range(len(g.weight)):
        side = r.sides[s]
        dirty = int(side & g.team != 0)
        no, yes = r.vote_evil[dirty, 0], r.vote_evil[dirty, 1]
        for k in range(r.evil.shape[1]):
            j = r.evil[s, k]
            factor = yes if (g.votes >> j) & 1 else no
            g.weight[s] *= factor
            if with_oberon:
                g.special[s, j] /= factor
                if g.roles[j] != r.oberon:
                    g.own[j, s] /= factor
        no, yes = r.vote_merlin[dirty, 0], r.vote_merlin[dirty, 1]
        for k in range(r.good.shape[1]):
            j = r.good[s, k]
            g.special[s, j] *= yes if (g.votes >> j) & 1 else no


@kernel
def see_cards(g: Any, r: Any, fails: int) -> None:
    """The cards of the quest are shown; every member knows its own."""
    g.stale = 1
    if r.scored:
        evidence.score_quest_cards(g, r, fails)
        return
    n, size = len(g.roles), r.bits[g.team]
    for s in range(len(g.weight)):
        side = r.sides[s]
        evil = r.bits[side & g.team]
        factor = r.fails[size, evil, fails]
        g.weight[s] *= factor
        for i in range(n):
            if (g.team >> i) & 1:
                others = r.fails[size - 1, evil - ((side >> i) & 1), fails - ((g.cards >> i) & 1)]
                g.own[i, s] *= others / factor


@kernel
def see_remark(g: Any, r: Any, speaker: int, target: int, praised: int) -> None:
    """A seat accuses (`praised` 0) or defends or recommends (1) another."""
    for s in range(len(g.weight)):
        side = r.sides[s]
        factor = r.remark[praised, (side >> speaker) & 1, (side >> target) & 1]
        g.weight[s] *= factor
        g.own[speaker, s] /= factor
    g.stale = 1


@kernel
def see_exposure(g: Any, r: Any, assassin: int, named: int) -> None:
    """The Assassin has named somebody who is not Merlin; the other case ends the game."""
    for s in range(len(g.weight)):
        side = r.sides[s]
        if not (side >> assassin) & 1:
            g.weight[s] *= _WRONG
            continue
        g.special[s, assassin] *= _WRONG  # were he Oberon
        if not (side >> named) & 1:
            g.special[s, named] *= _WRONG
    g.stale = 1


# -- posteriors ------------------------------------------------------------------------------------------------


@kernel
def oberons_among(g: Any, r: Any, s: int, among: int) -> float:
    """The factor of side s, summed over who in it and `among` these seats may be Oberon; 1 if he is not in play."""
    if r.oberon < 0:
        return 1.0
    total = 0.0
    for k in range(r.evil.shape[1]):
        if (among >> r.evil[s, k]) & 1:
            total += g.special[s, r.evil[s, k]]
    return total


@kernel
def share(g: Any, chances: Any, total: float) -> None:
    """Divide by the sum; a clean team is reported only while one exists."""
    scale = 1 / total
    for k in range(len(chances)):
        chances[k] *= scale
    if not g.team:
        chances[-1] = 0


@kernel
def add(g: Any, r: Any, s: int, mass: float, chances: Any) -> None:
    """Side s has this much."""
    g.scratch[s] = mass
    for k in range(r.evil.shape[1]):
        chances[r.evil[s, k]] += mass
    chances[-1] += 0.0 if r.sides[s] & g.team else mass


@kernel
def look_from_outside(g: Any, r: Any) -> None:
    """An onlooker's posterior: sides to `scratch`, chances of each seat to `outside` (evil, then Merlin, then clean)."""
    n, chances = len(g.roles), g.outside
    total = 0.0
    chances[:] = 0
    for s in range(len(g.weight)):
        base, mass = g.weight[s] * oberons_among(g, r, s, (1 << n) - 1), 0.0
        for k in range(r.good.shape[1]):
            m = r.good[s, k]
            w = base * g.special[s, m]
            mass += w
            chances[n + m] += w
        total += mass
        add(g, r, s, mass, chances)
    share(g, chances, total)
    g.stale = 0


@kernel
def look_from(g: Any, r: Any, me: int) -> None:
    """The posterior of seat `me`: sides to `scratch`, chances to `inside` (evil, then Merlin, then clean)."""
    g.inside[:] = 0
    g.scratch[:] = 0
    role = g.roles[me]
    if role == r.merlin:
        total = look_as_merlin(g, r, me)
    elif not g.side[me]:
        total = look_as_good(g, r, me, role == r.percival)
    else:
        total = look_as_evil(g, r, me, role == r.oberon)
    share(g, g.inside, total)


@kernel
def look_as_merlin(g: Any, r: Any, me: int) -> float:
    """He sees all evil seats but Mordred."""
    n, shown, total = len(g.roles), g.shown[me], 0.0
    if r.mordred < 0:
        add(g, r, r.number[shown], 1.0, g.inside)
        total = 1.0
    else:
        for s in range(len(g.weight)):
            side = r.sides[s]
            if side & shown == shown and not (side >> me) & 1:
                mass = g.weight[s] * g.own[me, s] * oberons_among(g, r, s, shown)
                total += mass
                add(g, r, s, mass, g.inside)
    g.inside[n + me] = total
    return total


@kernel
def look_as_good(g: Any, r: Any, me: int, is_percival: bool) -> float:
    """A seat that knows nobody's side; Percival sees Merlin and Morgana, and not which is which."""
    n, total = len(g.roles), 0.0
    every = (1 << n) - 1
    shown = g.shown[me]
    merlins = (shown if is_percival else every) & ~(1 << me)
    oberons = every & ~shown if is_percival else every  # Morgana is not Oberon
    shown_evil = int(is_percival and r.morgana >= 0)
    for at in range(r.without.shape[1]):
        s = r.without[me, at]
        if r.bits[r.sides[s] & shown] != shown_evil:
            continue
        base, mass = g.weight[s] * g.own[me, s] * oberons_among(g, r, s, oberons), 0.0
        for k in range(r.good.shape[1]):
            m = r.good[s, k]
            w = base * g.special[s, m] * ((merlins >> m) & 1)  # a branch here would be guessed wrong too often
            mass += w
            g.inside[n + m] += w
        total += mass
        add(g, r, s, mass, g.inside)
    return total


@kernel
def look_as_evil(g: Any, r: Any, me: int, is_oberon: bool) -> float:
    """The evil side know each other but Oberon, who knows nobody."""
    known = g.shown[me] | (1 << me)
    if r.oberon < 0:
        return look_for_merlin(g, r, r.number[known], 1.0)
    total = 0.0
    for s in range(len(g.weight)):
        side = r.sides[s]
        if side & known == known:
            oberon = 1 << me if is_oberon else side & ~known
            total += look_for_merlin(g, r, s, g.weight[s] * g.own[me, s] * oberons_among(g, r, s, oberon))
    return total


@kernel
def look_for_merlin(g: Any, r: Any, s: int, base: float) -> float:
    """All Merlins that side s leaves possible."""
    n, mass = len(g.roles), 0.0
    for k in range(r.good.shape[1]):
        m = r.good[s, k]
        w = base * g.special[s, m]
        mass += w
        g.inside[n + m] += w
    add(g, r, s, mass, g.inside)
    return mass
