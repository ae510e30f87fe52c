"""Avalon's rules as kernels: one game at a time, in the order of play of `parlour.envs.avalon.rules`.

`g` is the record of a game, `r` that of the rules (`layout.py`). The seat to move acts by numbers of its own frame.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.avalon.presets import PROPOSALS, QUESTS_TO_WIN
from parlour.envs.batch.avalon import belief, evidence
from parlour.envs.batch.avalon.layout import (
    ACCUSE,
    BALLOT_ROW,
    CLAIM,
    DEFEND,
    DONE,
    EVIL_CARD_ROW,
    GOOD_CARD_ROW,
    GUESS_ROW,
    HUNT,
    PROPOSE,
    QUEST,
    RECOMMEND,
    SEAT_SIZE,
    TALK,
    TALK_ROW,
    TEAM_ROW,
    VOTE,
)
from parlour.envs.batch.compiled import kernel, lowest
from parlour.envs.batch.streams import advance, below

ONGOING: Final = -1
GOOD: Final = 0
EVIL: Final = 1


@kernel
def clipped(x: float) -> Any:
    """Into [-1, 1]."""
    limit = np.float32(1)
    low = x if x < limit else limit
    return low if low > -limit else -limit


@kernel
def show_sums(g: Any, j: int) -> None:
    """The sums of seat j have changed."""
    row = g.rows[j * SEAT_SIZE :]
    for k in range(9):
        row[3 + k] = clipped(g.sums[j, k])
    show_approvals(g, j)


@kernel
def show_approvals(g: Any, j: int) -> None:
    """Seat j has approved more teams, or there were more votes."""
    g.rows[j * SEAT_SIZE + 8] = g.sums[j, 5] / np.float32(max(g.ballots, 1))


@kernel
def set_team(g: Any, team: int) -> None:
    """This team is on the table from now on; 0 for none."""
    g.team = team
    for j in range(len(g.roles)):
        g.rows[j * SEAT_SIZE + 1] = (team >> j) & 1


@kernel
def turned(bits: int, by: int, n: int) -> int:
    """A set of seats with every seat counted `by` further, 0 <= by < n."""
    return ((bits << by) | (bits >> (n - by))) & ((1 << n) - 1)


@kernel
def begin(g: Any, r: Any) -> None:
    """Deal from the stream of nature."""
    n = len(g.roles)
    for j in range(n):
        g.roles[j] = r.deck[j]
    for j in range(n - 1, 0, -1):  # Fisher and Yates
        g.nature = advance(g.nature)
        k = below(g.nature, j + 1)
        other = g.roles[k]
        g.roles[k] = g.roles[j]
        g.roles[j] = other
    g.nature = advance(g.nature)
    start(g, r, below(g.nature, n))


@kernel
def start(g: Any, r: Any, leader: int) -> None:
    """The first proposal of a game whose roles are dealt."""
    n = len(g.roles)
    g.quest = g.counted = g.good = g.evil = g.guessed = g.success = g.votes = g.cards = g.ballots = 0
    g.slot, g.tried, g.leader = 0, 0, leader
    g.rows[:] = 0
    show_night(g, r)
    for i in range(n):
        g.claims[i] = 0
        for j in range(n):
            g.remarks[i, j] = 0
        for k in range(9):
            g.sums[i, k] = 0
    for k in range(len(g.led)):
        g.named[k] = g.went[k] = g.approved[k] = g.failed[k] = g.result[k] = 0
        g.led[k] = -1
    if r.believes:
        belief.prior(g)
    open_round(g, r)


@kernel
def show_night(g: Any, r: Any) -> None:
    """The side of each seat and the seats that the night shows it, from the roles."""
    n = len(g.roles)
    for i in range(n):
        g.side[i] = r.evil_role[g.roles[i]]
        shown = 0
        for j in range(n):
            shown |= r.sees[g.roles[i], g.roles[j]] << j
        g.shown[i] = shown & ~(1 << i)


@kernel
def open_round(g: Any, r: Any) -> None:
    """Discussion of a proposal, or the proposal."""
    g.phase = TALK if r.talk else PROPOSE
    g.actor = g.leader
    g.turn = 0
    set_team(g, 0)
    for j in range(len(g.roles)):
        g.rows[j * SEAT_SIZE] = j == g.leader
    g.stale = 1


@kernel
def play(g: Any, r: Any, kind: int, what: int) -> int:
    """The seat to move does what `Tables.acts` says; the side that has won, or ONGOING."""
    if g.phase == TALK:
        return speak(g, r, kind, what)
    if g.phase == PROPOSE:
        return propose(g, r, what)
    if g.phase == VOTE:
        return vote(g, r, what)
    if g.phase == QUEST:
        return card(g, r, what)
    return guess(g, r, what)


@kernel
def speak(g: Any, r: Any, kind: int, what: int) -> int:
    """A claim; then the next speaker, or the leader names a team."""
    n, me = len(g.roles), g.actor
    if kind == CLAIM:
        g.claims[me] |= 1 << what
    elif kind in (ACCUSE, DEFEND, RECOMMEND):
        whom = (me + what) % n
        if whom != me:
            praised = kind != ACCUSE
            g.sums[whom, 7 if praised else 6] += 0.1
            g.remarks[me, whom] += -0.2 if praised else 0.2
            if not praised:
                g.sums[me, 8] += 0.1
            show_sums(g, me)
            show_sums(g, whom)
            if r.believes:
                belief.see_remark(g, r, me, whom, int(praised))
    g.turn += 1
    if g.turn < n:
        g.actor = (g.leader + g.turn) % n
    else:
        g.phase, g.actor, g.turn = PROPOSE, g.leader, 0
    return ONGOING


@kernel
def propose(g: Any, r: Any, seats: int) -> int:
    """The leader names a team, bits of seats in its own frame; then all vote."""
    set_team(g, turned(seats, g.actor, len(g.roles)))
    g.counted += 2 if r.bits[g.team] < r.sizes[g.quest] else 1  # a short team counts twice (published code)
    if g.tried:
        g.slot += 1
    g.tried += 1
    g.led[g.slot] = g.actor
    g.named[g.slot] = g.team
    if r.believes:
        belief.see_team(g, r, g.actor, g.team)
    g.phase, g.actor, g.votes, g.cards = VOTE, 0, 0, 0
    return ONGOING


@kernel
def vote(g: Any, r: Any, yes: int) -> int:
    """One vote, 1 to approve, shown to nobody before the last one."""
    n = len(g.roles)
    g.votes |= yes << g.actor
    g.actor += 1
    if g.actor < n:
        return ONGOING
    return count(g, r)


@kernel
def count(g: Any, r: Any) -> int:
    """All votes are in: send the team, open the next proposal, or end the game."""
    n = len(g.roles)
    g.ballots += 1
    for j in range(n):
        g.sums[j, 5] += (g.votes >> j) & 1
        show_approvals(g, j)
    g.approved[g.slot] = g.votes
    if r.believes:
        belief.see_votes(g, r)
    at_limit = g.counted >= PROPOSALS
    if r.bits[g.votes] >= r.carries or (at_limit and not r.rejections_lose):
        if r.bits[g.team] < r.sizes[g.quest]:
            draw_team(g, r)
        g.went[g.slot] = g.team
        g.phase, g.actor = QUEST, lowest(g.team)
        return ONGOING
    if at_limit:
        return EVIL
    g.leader = (g.leader + 1) % n
    open_round(g, r)
    return ONGOING


@kernel
def draw_team(g: Any, r: Any) -> None:
    """Nature names a whole team instead of a short one (published code)."""
    n, left = len(g.roles), r.sizes[g.quest]
    team = 0
    for j in range(n):  # each seat with the chance that is left for it: all teams alike
        g.nature = advance(g.nature)
        if below(g.nature, n - j) < left:
            team |= 1 << j
            left -= 1
    set_team(g, team)


@kernel
def card(g: Any, r: Any, success: int) -> int:
    """One card of the quest, 1 for success; after the last one the quest is shown."""
    me = g.actor
    if not success:
        g.cards |= 1 << me
    rest = g.team >> (me + 1)
    if rest:
        g.actor = me + 1 + lowest(rest)
        return ONGOING
    fails, size = r.bits[g.cards], r.bits[g.team]
    g.success = int(fails < r.fails_needed[g.quest])
    tell_quest(g, fails, size)
    g.failed[g.slot] = g.cards
    g.result[g.slot] = fails + 1 if g.success else -fails - 1
    if r.believes:
        belief.see_cards(g, r, fails)
    if not r.hunt_at_end and not g.guessed:
        return hunt(g, r)
    return score(g, r)


@kernel
def tell_quest(g: Any, fails: int, size: int) -> None:
    """Add a quest to the sums of encode.py."""
    sign = -0.2 if g.success else 0.2
    for j in range(len(g.roles)):
        if (g.team >> j) & 1:
            g.sums[j, 0 if g.success else 1] += 1 / 3
            g.sums[j, 2] += fails / size / 3
        g.sums[j, 3 if (g.votes >> j) & 1 else 4] += sign
        show_sums(g, j)


@kernel
def hunt(g: Any, r: Any) -> int:
    """The Assassin, or the role that guesses in his place, is asked."""
    g.phase = HUNT
    for j in range(len(g.roles)):
        if g.roles[j] == r.guesser:
            g.actor = j
    return ONGOING


@kernel
def score(g: Any, r: Any) -> int:
    """Score the quest; then the end, the guess at the end, or the next quest."""
    if g.success:
        g.good += 1
    else:
        g.evil += 1
    if r.scored:
        evidence.keep_score(g, r)
    if g.evil == QUESTS_TO_WIN:
        return EVIL
    if g.good == QUESTS_TO_WIN:
        return hunt(g, r) if r.hunt_at_end else GOOD
    g.quest += 1
    g.slot, g.tried, g.counted = g.quest * PROPOSALS, 0, 0
    g.leader = (g.leader + 1) % len(g.roles)
    open_round(g, r)
    return ONGOING


@kernel
def guess(g: Any, r: Any, place: int) -> int:
    """The Assassin names the seat `place` further than himself as Merlin, or passes (-1)."""
    if place < 0:  # passes
        return score(g, r)
    named = (g.actor + place) % len(g.roles)
    g.guessed = 1
    g.rows[g.actor * SEAT_SIZE + 13] = 1
    if g.roles[named] == r.merlin:
        return EVIL
    if r.hunt_at_end:
        return GOOD
    if r.believes:
        belief.see_exposure(g, r, g.actor, named)
    return score(g, r)


@kernel
def end(g: Any) -> None:
    """Nobody moves any more."""
    g.phase, g.actor = DONE, -1


@kernel
def mask_row(g: Any) -> int:
    """The row of `Tables.masks` for the seat to move."""
    if g.phase == TALK:
        return TALK_ROW
    if g.phase == PROPOSE:
        return TEAM_ROW + g.quest
    if g.phase == VOTE:
        return BALLOT_ROW
    if g.phase == QUEST:
        return EVIL_CARD_ROW if g.side[g.actor] else GOOD_CARD_ROW
    return GUESS_ROW
