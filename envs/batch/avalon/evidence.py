"""Scores of evidence as kernels (`parlour.envs.avalon.evidence`): what records taught; used instead of fixed rates.

Without Mordred and Oberon a score depends on the evil side and on who Merlin is, so it fits into the factors of `belief.py`: the side's
factor takes all others for plain good seats, and `special[s, m]` holds the ratio of Merlin's score to that of a plain good seat.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.avalon.evidence import CARD_STRIDE, IMPOSSIBLE, USUAL
from parlour.envs.avalon.habits import COUNTS, EVIDENCE_TEAMS, EVIDENCE_VOTES, PublicEvidence
from parlour.envs.avalon.public import plain_chances
from parlour.envs.batch.compiled import kernel

_MOST: Final = len(COUNTS) - 1
_MOST_EVIL: Final = 3
_VOTE_TERMS: Final = len(EVIDENCE_VOTES)
_TEAM_TERMS: Final = len(EVIDENCE_TEAMS)
EVIL, MERLIN, GOOD = range(3)
"""Kinds of seats, numbers into `habits.LEADERS`."""
KINDS: Final = 3
_LEAST: Final = 1e-300


def fill_scores(r: Any, n: int, evidence: PublicEvidence) -> None:
    """Write the coefficients to a rules record."""
    rows = KINDS * len(COUNTS)
    r.scored = 1
    r.score_votes[0] = np.array(evidence.votes)[:rows].reshape(KINDS, len(COUNTS), -1)
    r.score_teams[0] = np.array(evidence.teams)[:rows].reshape(KINDS, len(COUNTS), -1)
    r.score_cards[0] = evidence.cards
    for size in range(1, n + 1):
        for fails in range(size + 1):
            r.plain[0, size, : size + 1, fails] = plain_chances(size, fails)


@kernel
def forget(g: Any) -> None:
    """Before the first proposal."""
    g.by_cards[:] = 1
    for j in range(len(g.roles)):
        g.on_failed[j] = g.on_succeeded[j] = g.backed[j] = g.blocked[j] = 0
    g.kept = g.before = 0


@kernel
def counted(evil: int) -> int:
    """The class of a number of evil seats on the team."""
    return evil if evil < _MOST else _MOST


@kernel
def find_best(g: Any, r: Any, size: int) -> None:
    """For each seat, were it good, by the quest cards alone: the chance that the best team of this size is clean."""
    n = len(g.roles)
    g.best[:] = 0
    g.if_good[:] = 0
    for s in range(len(g.by_cards)):
        for j in range(n):
            if not (r.sides[s] >> j) & 1:
                g.if_good[j] += g.by_cards[s]
    chances = np.empty(n, np.float64)
    for team in range(1, 1 << n):
        if r.bits[team] == size:
            chance_clean(g, r, team, chances)
            for j in range(n):
                g.best[j] = max(g.best[j], chances[j])


@kernel
def chance_clean(g: Any, r: Any, team: int, chances: Any) -> None:
    """The chance that a team is clean, to each seat were it good; written to `chances`, shape (n,)."""
    n = len(g.roles)
    chances[:] = 0
    for s in range(len(g.by_cards)):
        if not r.sides[s] & team:
            for j in range(n):
                if not (r.sides[s] >> j) & 1:
                    chances[j] += g.by_cards[s]
    for j in range(n):
        chances[j] /= max(g.if_good[j], _LEAST)


@kernel
def find_doubts(g: Any, r: Any, team: int) -> None:
    """The term `doubt` of all seats, to `g.doubts`."""
    chance_clean(g, r, team, g.doubts)
    for j in range(len(g.roles)):
        g.doubts[j] = 1 - g.doubts[j] / max(g.best[j], _LEAST)


@kernel
def most_failed(g: Any, team: int) -> int:
    """The most failed quests that a member was on."""
    most = 0
    for j in range(len(g.roles)):
        if (team >> j) & 1:
            most = max(most, g.on_failed[j])
    return most


@kernel
def score_team(g: Any, r: Any, leader: int, team: int) -> None:
    """A leader names a team."""
    size = r.bits[team]
    if g.tried == 1:
        find_best(g, r, size)
    find_doubts(g, r, team)
    again = g.before if g.tried > 1 else 0
    terms = np.empty(_TEAM_TERMS, np.float64)
    terms[0], terms[1], terms[2] = 1.0, (team >> leader) & 1, g.doubts[leader]
    terms[3], terms[4] = r.bits[g.kept & team] / size, r.bits[again & team] / size
    terms[5], terms[6], terms[7] = g.tried > 1, g.quest == 0, g.quest == 1
    terms[8], terms[9] = g.evil == 2, g.good == 2
    terms[10], terms[11], terms[12] = most_failed(g, team), g.on_failed[leader], g.backed[leader]
    g.before = team
    factors = np.empty((KINDS, _MOST + 1), np.float64)
    for kind in range(KINDS):
        for count in range(_MOST + 1):
            factors[kind, count] = np.exp(dot(r.score_teams[kind, count], terms))
    for s in range(len(g.weight)):
        side = r.sides[s]
        count = counted(r.bits[side & team])
        own = factors[EVIL if (side >> leader) & 1 else GOOD, count]
        if not (side >> leader) & 1:
            g.special[s, leader] *= factors[MERLIN, count] / own
        g.weight[s] *= own
        g.own[leader, s] /= own


@kernel
def dot(coefficients: Any, terms: Any) -> float:
    """A score."""
    total = 0.0
    for k in range(len(terms)):
        total += coefficients[k] * terms[k]
    return total


@kernel
def vote_terms(g: Any, r: Any, voter: int, terms: Any) -> None:
    """Write the terms of a vote, by `EVIDENCE_VOTES`, before they are multiplied by how far it is from the usual."""
    n, leads = len(g.roles), voter == g.leader
    cast = (g.votes >> voter) & 1
    last = g.tried == 5
    terms[0], terms[1], terms[2], terms[3] = 1.0, leads, ((g.team >> voter) & 1) and not leads, g.doubts[voter]
    terms[4], terms[5], terms[6], terms[7] = g.quest == 1, g.quest > 1, g.tried > 1, (g.tried - 1) / 4
    terms[8], terms[9], terms[10] = last, g.evil == 2, g.good == 2
    terms[11], terms[12] = g.on_failed[g.leader], most_failed(g, g.team)
    terms[13] = (r.bits[g.votes] - cast) / (n - 1) - 0.5
    terms[14] = terms[13] * last
    terms[15] = (g.sums[voter, 5] - cast + 1) / (g.ballots - 1 + 2) - 0.5
    terms[16], terms[17] = g.on_failed[voter], g.on_succeeded[voter]
    terms[18], terms[19] = g.backed[voter], g.blocked[voter]


@kernel
def score_all_votes(g: Any, r: Any) -> None:
    """All votes on the team are shown; the approvals of `g.sums` count them already."""
    n = len(g.roles)
    factors = np.empty((n, KINDS, _MOST + 1), np.float64)
    terms = np.empty(_VOTE_TERMS, np.float64)
    for j in range(n):
        vote_terms(g, r, j, terms)
        far = ((g.votes >> j) & 1) - USUAL
        for kind in range(KINDS):
            for count in range(_MOST + 1):
                factors[j, kind, count] = np.exp(far * dot(r.score_votes[kind, count], terms))
    for s in range(len(g.weight)):
        side = r.sides[s]
        count = counted(r.bits[side & g.team])
        for j in range(n):
            own = factors[j, EVIL if (side >> j) & 1 else GOOD, count]
            if not (side >> j) & 1:
                g.special[s, j] *= factors[j, MERLIN, count] / own
            g.weight[s] *= own
            g.own[j, s] /= own


@kernel
def score_quest_cards(g: Any, r: Any, fails: int) -> None:
    """The fails of the quest are shown; every member knows its own card."""
    n, size = len(g.roles), r.bits[g.team]
    cell = (min(fails, 2) * 3 + min(g.quest, 2)) * 2 + int(size > 2)
    largest = 0.0
    for s in range(len(g.weight)):
        side = r.sides[s]
        evil = r.bits[side & g.team]
        score = r.score_cards[min(evil, _MOST_EVIL) * CARD_STRIDE + cell] if fails <= evil else IMPOSSIBLE
        g.weight[s] *= np.exp(score)
        for i in range(n):
            if (g.team >> i) & 1:
                others = evil - ((side >> i) & 1)
                by_others = fails - ((g.cards >> i) & 1)
                if not 0 <= by_others <= others:
                    g.own[i, s] *= np.exp(IMPOSSIBLE - score)
        g.by_cards[s] *= r.plain[size, evil, fails]
        largest = max(largest, g.by_cards[s])
    for s in range(len(g.by_cards)):
        g.by_cards[s] /= largest


@kernel
def keep_score(g: Any, r: Any) -> None:
    """The quest is scored."""
    for j in range(len(g.roles)):
        on, approved = (g.team >> j) & 1, (g.votes >> j) & 1
        if g.success:
            g.on_succeeded[j] += on
            g.blocked[j] += 1 - approved
        else:
            g.on_failed[j] += on
            g.backed[j] += approved
    if g.success:
        g.kept = g.team
