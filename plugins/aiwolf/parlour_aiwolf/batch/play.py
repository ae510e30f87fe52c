"""The rules of AIWolf's Werewolf as kernels, in the order of play of `parlour_aiwolf.rules`: one game at a time.

`g` is the record of a game, `r` that of the rules (`layout.py`). Whoever wakes the next player returns who has won by then.
"""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.batch.compiled import kernel
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.werewolf.options import NONE, ONGOING, ask, ask_next

from parlour_aiwolf.batch.layout import (
    ACCUSE,
    BY_NIGHT,
    CHECK,
    CLAIM,
    CLAIMED_OF,
    COLUMNS,
    DEFEND,
    EXECUTED,
    GOT_VOTES,
    HUNT,
    IS_OVER,
    LIVES,
    PROTECT,
    RECOMMEND,
    REPORTS,
    SKIP,
    STANDS,
    TALK,
    VOTE,
    WHISPER,
)
from parlour_aiwolf.batch.options import ask_party, in_party, lives
from parlour_aiwolf.batch.testimony import forget_testimony, hear_accusation, hear_claim, hear_report
from parlour_aiwolf.encode import ACCUSED, CLEARED, DEFENDED, REPORTED

VILLAGE: Final = 0
WOLVES: Final = 1
"""The sides, as the game lists them."""

# -- the deal --------------------------------------------------------------------------------------------------------


@kernel
def begin(g: Any, r: Any) -> None:
    """Deal the roles from the stream of nature."""
    for j in range(r.seats):
        g.roles[j] = r.deck[j]
    for j in range(r.seats - 1, 0, -1):  # Fisher and Yates
        g.nature = advance(g.nature)
        k = below(g.nature, j + 1)
        role = g.roles[k]
        g.roles[k] = g.roles[j]
        g.roles[j] = role
    start(g, r)


@kernel
def start(g: Any, r: Any) -> None:
    """Night 0 of a game whose roles are dealt."""
    n = r.seats
    g.seer = g.medium = g.bodyguard = g.attacked = g.divined = g.executed_today = NONE
    g.wolf_set = g.seen = g.cleared = g.identified_wolf = g.identified_human = 0
    g.alive_set, g.living, g.wolves = (1 << n) - 1, n, r.all_wolves
    g.day = g.checks = g.identifications = g.proposals = 0
    g.rows[:] = 0
    g.claims[:] = 0
    g.signs[:] = 0
    g.reported[:] = 0
    forget_testimony(g)
    g.counts[:] = 0
    for j in range(n):
        role = g.roles[j]
        g.rows[j * r.columns + LIVES] = 1
        g.claimed[j] = g.accusing[j] = g.ballot[j] = NONE
        g.proposed_at[j] = 0
        if role == r.wolf:
            g.wolf_set |= 1 << j
        elif role == r.seer:
            g.seer = j
        elif role == r.medium:
            g.medium = j
        elif role == r.bodyguard:
            g.bodyguard = j
    _dusk(g, r)


# -- a move ----------------------------------------------------------------------------------------------------------


@kernel
def play(g: Any, r: Any, action: int) -> int:
    """The seat to move takes a legal action; who has won, or `ONGOING`."""
    me, phase = g.actor, g.phase
    if phase in (TALK, WHISPER):
        g.line[me] = action
        return ONGOING if ask_next(g) else _turn_ends(g, r)
    target = _target(r, me, action)
    if phase in (VOTE, HUNT):
        g.cast[g.asked] = target
        if ask_next(g):
            return ONGOING
        return _count(g, r) if phase == VOTE else _attack(g, r)
    if phase == PROTECT:
        if target == g.attacked:
            g.attacked = NONE
        return _wake_seer(g, r)
    g.divined = target
    return _dawn(g, r)


@kernel
def _target(r: Any, me: int, action: int) -> int:
    """The seat that an action aims at, `NONE` if it aims at nobody."""
    aim = int(r.aim[action])
    if aim == NONE:
        return NONE
    aim += me
    return aim - r.seats if aim >= r.seats else aim


# -- talk, by day and among the wolves -------------------------------------------------------------------------------


@kernel
def _talk_begins(g: Any, r: Any, phase: int) -> int:
    g.turn = 0
    for j in range(r.seats):
        g.lines[j] = g.skips[j] = 0
    _next_turn(g, r, phase)
    return ONGOING


@kernel
def _next_turn(g: Any, r: Any, phase: int) -> bool:
    """Those who have lines left are asked; False if nobody has."""
    g.phase, g.asked, g.waiting = phase, 0, 0
    for j in range(r.seats):
        g.line[j] = r.over
        if in_party(g, r, j) and g.lines[j] < r.talk_lines:
            g.queue[g.waiting] = j
            g.waiting += 1
    if g.waiting:
        g.actor = g.queue[0]
    return g.waiting > 0


@kernel
def _turn_ends(g: Any, r: Any) -> int:
    """All lines of the turn are heard in the order of seats; who had none left is over."""
    goes_on = False
    for j in range(r.seats):
        if not in_party(g, r, j):
            continue
        kind = r.kind[g.line[j]]
        if kind == SKIP:
            g.skips[j] += 1
        elif kind != IS_OVER:
            g.lines[j] += 1
            g.skips[j] = 0
        goes_on |= kind != IS_OVER
        _hear(g, r, j, kind, g.line[j])
    g.turn += 1
    if goes_on and g.turn < r.talk_turns and _next_turn(g, r, g.phase):
        return ONGOING
    return _talked(g, r)


@kernel
def _hear(g: Any, r: Any, by: int, kind: int, action: int) -> None:
    """What a seat said is heard by its party."""
    if kind == CLAIM:
        row = by * r.columns + COLUMNS
        if g.claimed[by] != NONE:
            g.rows[row + g.claimed[by]] = 0
        g.claimed[by] = r.aim[action]
        g.rows[row + g.claimed[by]] = 1
        hear_claim(g, r, by, g.claimed[by])
        return
    if kind < ACCUSE:
        return
    about = _target(r, by, action)
    if kind == RECOMMEND:
        g.proposals += 1
        g.proposed_at[about] = g.proposals
        return
    claim, report, stand = ACCUSED, 0, 0
    if kind == ACCUSE:
        hear_accusation(g, by, g.accusing[by], about)
        g.accusing[by], stand = about, -1
    elif kind == DEFEND:
        claim, stand = DEFENDED, 1
    else:
        claim, report = (REPORTED, 1) if r.verdict[action] else (CLEARED, -1)
        g.reported[by, about] = report
        hear_report(g, by, about, report > 0)
    _count_claim(g, r, about, g.claims[by, about], -1)
    _count_claim(g, r, about, claim, 1)
    g.claims[by, about] = claim
    g.signs[REPORTS, by, about] = g.signs[REPORTS, by, about + r.seats] = report
    g.signs[STANDS, by, about] = g.signs[STANDS, by, about + r.seats] = stand


@kernel
def _count_claim(g: Any, r: Any, about: int, claim: int, more: int) -> None:
    if claim > 0:
        g.counts[about, claim] += more
        g.rows[about * r.columns + CLAIMED_OF + claim] = r.share[g.counts[about, claim]]


@kernel
def _talked(g: Any, r: Any) -> int:
    return _vote_begins(g, r, VOTE, 0) if g.phase == TALK else _whispered(g, r)


# -- the night -------------------------------------------------------------------------------------------------------


@kernel
def _dusk(g: Any, r: Any) -> int:
    """The next night falls. Wolves come first."""
    return _talk_begins(g, r, WHISPER) if r.talk and g.wolves > 1 else _whispered(g, r)


@kernel
def _whispered(g: Any, r: Any) -> int:
    return _wake_seer(g, r) if g.day == 0 else _vote_begins(g, r, HUNT, 0)


@kernel
def _vote_begins(g: Any, r: Any, phase: int, turn: int) -> int:
    g.turn = turn
    return ask_party(g, r, phase)


@kernel
def _attack(g: Any, r: Any) -> int:
    """The wolves' votes are in; every human has a vote of its own, so that somebody is attacked."""
    most = tied = 0
    for j in range(r.seats):
        votes = _votes_for(g, r, j)
        if votes > most:
            most, tied = votes, 1
        elif votes == most:
            tied += 1
    if tied > 1 and g.turn < r.revotes and g.wolves > 1:
        return _vote_begins(g, r, HUNT, g.turn + 1)
    g.attacked = _most_voted(g, r, most, tied)
    if g.bodyguard != NONE and lives(g, g.bodyguard):
        return ask(g, PROTECT, g.bodyguard)
    return _wake_seer(g, r)


@kernel
def _votes_for(g: Any, r: Any, target: int) -> int:
    """Votes of this phase for a seat; by night a human has one more."""
    votes = 0
    for k in range(g.waiting):
        votes += g.cast[k] == target
    if g.phase == HUNT and lives(g, target) and g.roles[target] != r.wolf:
        votes += 1
    return votes


@kernel
def _most_voted(g: Any, r: Any, most: int, tied: int) -> int:
    """Of the seats with `most` votes the only one, or one that nature draws."""
    number = 0
    if tied > 1:
        g.nature = advance(g.nature)
        number = below(g.nature, tied)
    target = 0
    for j in range(r.seats):
        if _votes_for(g, r, j) == most:
            if number == 0:
                target = j
                break
            number -= 1
    if tied > 1:
        g.drawn = target
    return target


@kernel
def _wake_seer(g: Any, r: Any) -> int:
    if g.seer != NONE and lives(g, g.seer):
        return ask(g, CHECK, g.seer)
    return _dawn(g, r)


# -- the day ---------------------------------------------------------------------------------------------------------


@kernel
def _dawn(g: Any, r: Any) -> int:
    """The death of the night, and their results to the seer and the medium."""
    g.day += 1
    if g.attacked != NONE:
        _bury(g, r, g.attacked, BY_NIGHT)
    if g.divined != NONE and lives(g, g.seer):
        _learn(g, r)
    if g.executed_today != NONE and g.medium != NONE and lives(g, g.medium):
        g.identified[g.identifications] = g.executed_today
        g.identifications += 1
        if g.roles[g.executed_today] == r.wolf:
            g.identified_wolf |= 1 << g.executed_today
        else:
            g.identified_human |= 1 << g.executed_today
    g.attacked = g.divined = g.executed_today = NONE
    won = _won(g)
    if won != ONGOING:
        return won
    return _talk_begins(g, r, TALK) if r.talk else _vote_begins(g, r, VOTE, 0)


@kernel
def _learn(g: Any, r: Any) -> None:
    """The seer hears its result; a player that it divines again is listed once."""
    j = g.divined
    if ((g.seen | g.cleared) >> j) & 1:
        return
    g.checked[g.checks] = j
    g.checks += 1
    if g.roles[j] == r.wolf:
        g.seen |= 1 << j
    else:
        g.cleared |= 1 << j


@kernel
def _bury(g: Any, r: Any, seat: int, how: int) -> None:
    g.rows[seat * r.columns + LIVES] = 0
    g.rows[seat * r.columns + how] = 1
    g.alive_set &= ~(1 << seat)
    g.living -= 1
    g.wolves -= g.roles[seat] == r.wolf


@kernel
def _count(g: Any, r: Any) -> int:
    """All votes are in and shown. A tie is voted on once more, then one of the tied is drawn."""
    _show_votes(g, r)
    most = tied = 0
    for j in range(r.seats):
        if g.votes[j] > most:
            most, tied = g.votes[j], 1
        elif g.votes[j] == most:
            tied += 1
    if tied > 1 and g.turn < r.revotes:
        return _vote_begins(g, r, VOTE, g.turn + 1)
    seat = _most_voted(g, r, most, tied)
    g.executed_today = seat
    _bury(g, r, seat, EXECUTED)
    won = _won(g)
    return won if won != ONGOING else _dusk(g, r)


@kernel
def _show_votes(g: Any, r: Any) -> None:
    for j in range(r.seats):
        g.ballot[j] = NONE
        g.votes[j] = 0
    for k in range(g.waiting):
        g.ballot[g.queue[k]] = g.cast[k]
        g.votes[g.cast[k]] += 1
    for j in range(r.seats):
        g.rows[j * r.columns + GOT_VOTES] = r.share[g.votes[j]]


@kernel
def _won(g: Any) -> int:
    if g.wolves == 0:
        return VILLAGE
    return WOLVES if 2 * g.wolves >= g.living else ONGOING
