"""Werewolf's rules as kernels: one game at a time, in the order of play of `parlour.envs.werewolf.rules`.

`g` is the record of a game, `r` that of the rules (`layout.py`), `w` the game's weights and `h` the table's hypotheses
(`belief.py`; read only if the rules say that the game believes). The seat to move acts by numbers of its own frame.
Whoever wakes the next player returns who has won by then.
"""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.batch.compiled import kernel
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.werewolf import belief
from parlour.envs.batch.werewolf.layout import (
    CHECK,
    CLAIM,
    HUNT,
    LAST,
    POISON,
    PROTECT,
    SAVE,
    SHOOT,
    TALK,
    VOTE,
    WHISPER,
)
from parlour.envs.batch.werewolf.options import NONE, ONGOING, ask, ask_all, ask_next, ask_wolves, speak

DRAW: Final = -1
VILLAGE: Final = 0
WOLVES: Final = 1
DEAD: Final = -2


# -- the deal ------------------------------------------------------------------------------------------------------


@kernel
def begin(g: Any, r: Any, w: Any, h: Any) -> None:
    """Deal roles and order of talk from the stream of nature."""
    n = r.seats
    for j in range(n):
        g.roles[j], g.order[j] = r.deck[j], j
    for j in range(n - 1, 0, -1):  # Fisher and Yates, twice
        g.nature = advance(g.nature)
        k = below(g.nature, j + 1)
        role = g.roles[k]
        g.roles[k] = g.roles[j]
        g.roles[j] = role
        g.nature = advance(g.nature)
        k = below(g.nature, j + 1)
        seat = g.order[k]
        g.order[k] = g.order[j]
        g.order[j] = seat
    start(g, r, w, h)


@kernel
def start(g: Any, r: Any, w: Any, h: Any) -> None:
    """The first night of a game whose roles and order are dealt."""
    n = r.seats
    g.witch = g.guard = g.seer = g.hunter = g.guarded = g.attacked = NONE
    g.wolf_set = g.seen = g.cleared = g.reporters = 0
    g.alive_set, g.living, g.wolves = (1 << n) - 1, n, r.all_wolves
    g.antidote = g.poison = 1
    g.day = g.checks = g.claimants = 0
    slot = 0
    for j in range(n):
        role = g.roles[j]
        g.place[g.order[j]] = j
        g.alive[j] = 1
        if role == r.wolf:
            g.wolf_set |= 1 << j
        else:
            slot += 1
            g.slot[j] = slot
        if role == r.witch:
            g.witch = j
        elif role == r.guard:
            g.guard = j
        elif role == r.seer:
            g.seer = j
        elif role == r.hunter:
            g.hunter = j
        _forget(g, j, n)
    if r.believes:
        belief.start_belief(g, r, w, h)
    _dusk(g, r)


@kernel
def _forget(g: Any, j: int, n: int) -> None:
    """Nothing has been seen of seat j."""
    g.accusers[j] = 0
    g.by_night[j] = g.executed[j] = g.died_on[j] = g.ballots[j] = g.passes[j] = g.known[j] = 0
    g.shown[j] = g.claimed[j] = g.latest[j] = NONE
    g.accused_sum[j] = g.accused_made[j] = g.defended_sum[j] = g.defended_made[j] = 0
    g.reported[j] = g.reports_made[j] = g.votes_sum[j] = g.latest_sum[j] = 0
    for k in range(n):
        g.accused[j, k] = g.defended[j, k] = g.reports_evil[j, k] = g.reports_good[j, k] = g.votes[j, k] = 0


# -- a move ----------------------------------------------------------------------------------------------------------


@kernel
def play(g: Any, r: Any, w: Any, h: Any, action: int) -> int:
    """The seat to move takes a legal action; who has won, `DRAW` or `ONGOING`."""
    aim = int(r.aim[action])
    phase, me, n = g.phase, g.actor, r.seats
    if phase == SAVE:
        return _save(g, r, w, h, aim)
    kind = r.kind[action]
    if aim != NONE and kind != CLAIM:
        aim += me
        if aim >= n:
            aim -= n
    if phase in (TALK, LAST):
        speak(g, r, w, h, kind, aim, r.verdict[action])
        if phase == LAST:
            return _buried(g, r, w, h, me)
        return ONGOING if ask_next(g) else ask_all(g, r, VOTE)
    if phase == VOTE:
        return _vote(g, r, w, h, aim)
    if phase == WHISPER:
        if aim != NONE:
            g.proposed[aim] += 1
            _propose(g, me, aim)
        return ONGOING if ask_next(g) else ask_wolves(g, r, HUNT)
    if phase == HUNT:
        return _hunt(g, r, w, h, aim)
    if phase == PROTECT:
        g.protected = g.guarded = aim
        return _wake_witch(g, r, w, h)
    if phase == POISON:
        if aim != NONE:
            g.poisoned, g.poison = aim, 0
        return _wake_seer(g, r, w, h)
    if phase == SHOOT:
        return _shoot(g, r, w, h, aim)
    return _check(g, r, w, h, aim)


# -- the night -------------------------------------------------------------------------------------------------------


@kernel
def _dusk(g: Any, r: Any) -> int:
    """The next night falls; the wolves are woken."""
    g.day += 1
    g.victim = g.protected = g.poisoned = g.attacked = g.chosen = NONE
    g.saved = g.proposals = 0
    for j in range(r.seats):
        g.hunted[j] = NONE
        g.wanted[j] = g.proposed[j] = 0
    return ask_wolves(g, r, WHISPER if r.talk and g.wolves > 1 else HUNT)


@kernel
def _propose(g: Any, wolf: int, victim: int) -> None:
    g.proposer[g.proposals], g.proposal[g.proposals] = wolf, victim
    g.proposals += 1


@kernel
def _hunt(g: Any, r: Any, w: Any, h: Any, aim: int) -> int:
    me = g.actor
    g.cast[g.asked] = g.hunted[me] = aim
    if aim != NONE:
        g.wanted[aim] += 1
        if r.hunt_as_cast:
            _propose(g, me, aim)
    if ask_next(g):
        return ONGOING
    most, tied = _most(g, r)
    if tied == 1:
        g.victim = _tied(g, r, most, 0)
    elif r.hunt_random:
        g.nature = advance(g.nature)
        g.victim = g.drawn = _tied(g, r, most, below(g.nature, tied))
    g.chosen = g.victim
    if g.guard != NONE and g.alive[g.guard]:
        return ask(g, PROTECT, g.guard)
    return _wake_witch(g, r, w, h)


@kernel
def _votes_for(g: Any, target: int) -> int:
    votes = 0
    for k in range(g.waiting):
        votes += g.cast[k] == target
    return votes


@kernel
def _most(g: Any, r: Any) -> tuple[int, int]:
    """The most votes cast in this phase for one target, nobody among them, and how many targets have them."""
    most = tied = 0
    for target in range(NONE, r.seats):
        votes = _votes_for(g, target)
        if votes > most:
            most, tied = votes, 1
        elif votes == most:
            tied += 1
    return most, tied


@kernel
def _tied(g: Any, r: Any, most: int, number: int) -> int:
    """Of the targets with `most` votes, ascending from nobody, the one with this number from 0."""
    for target in range(NONE, r.seats):
        if _votes_for(g, target) == most:
            if number == 0:
                return target
            number -= 1
    return NONE


@kernel
def _killed(g: Any) -> int:
    """Whom the wolves kill after the guard and the antidote."""
    return NONE if g.saved or g.victim == g.protected else g.victim


@kernel
def _wake_witch(g: Any, r: Any, w: Any, h: Any) -> int:
    """While she has the antidote she is told whom the wolves would kill, the guard's work counted in."""
    if g.witch == NONE or not g.alive[g.witch] or not g.antidote:
        return _wake_poisoner(g, r, w, h)
    g.attacked = _killed(g)
    if g.attacked == NONE:
        return _wake_poisoner(g, r, w, h)
    if r.believes:
        belief.see_attacked(g, r, w, h)
    return ask(g, SAVE, g.witch)


@kernel
def _save(g: Any, r: Any, w: Any, h: Any, given: int) -> int:
    if given:
        g.saved, g.antidote = 1, 0
    return _wake_poisoner(g, r, w, h)


@kernel
def _wake_poisoner(g: Any, r: Any, w: Any, h: Any) -> int:
    asked = g.witch != NONE and g.alive[g.witch] and g.poison
    if asked and (_killed(g) != g.witch or (r.dying_witch_poisons and not g.antidote)):
        return ask(g, POISON, g.witch)
    return _wake_seer(g, r, w, h)


@kernel
def _wake_seer(g: Any, r: Any, w: Any, h: Any) -> int:
    if g.seer != NONE and g.alive[g.seer] and g.seer != _killed(g) and g.seer != g.poisoned:
        return ask(g, CHECK, g.seer)
    return _dawn(g, r, w, h)


@kernel
def _check(g: Any, r: Any, w: Any, h: Any, aim: int) -> int:
    if aim != NONE:
        wolf = g.roles[aim] == r.wolf
        g.checked[g.checks] = aim
        g.checks += 1
        if wolf:
            g.seen |= 1 << aim
        else:
            g.cleared |= 1 << aim
        if r.believes:
            belief.know_side(g, r, w, h, g.actor, aim, wolf)
    return _dawn(g, r, w, h)


# -- the day ---------------------------------------------------------------------------------------------------------


@kernel
def _dawn(g: Any, r: Any, w: Any, h: Any) -> int:
    """Tell the deaths of the night."""
    first, second = _killed(g), NONE
    if first == NONE:
        first = g.poisoned
    elif first != g.poisoned:
        second = g.poisoned
    if r.believes:
        belief.see_dead(g, r, w, h, first, second)
    for dead in (first, second):
        if dead != NONE:
            g.by_night[dead] = 1
            _die(g, r, dead)
            if g.day == 1 or r.reveals_all:
                _reveal(g, r, w, h, dead)
    if g.hunter != NONE and g.hunter == _killed(g) and g.hunter != g.poisoned:
        return _last_shot(g, r, w, h, 1)
    return _morning(g, r)


@kernel
def _morning(g: Any, r: Any) -> int:
    won = _won(g, r)
    if won != ONGOING:
        return won
    for j in range(r.seats):
        g.accusers[j] = 0
    return ask_all(g, r, TALK if r.talk else VOTE)


@kernel
def _die(g: Any, r: Any, seat: int) -> None:
    g.alive[seat] = 0
    g.alive_set &= ~(1 << seat)
    g.died_on[seat] = g.day
    g.living -= 1
    g.wolves -= g.roles[seat] == r.wolf


@kernel
def _reveal(g: Any, r: Any, w: Any, h: Any, seat: int) -> None:
    g.shown[seat] = g.roles[seat]
    g.known[seat] = 1 if g.roles[seat] == r.wolf else -1
    if r.believes:
        belief.know_role(g, r, w, h, seat)


@kernel
def _vote(g: Any, r: Any, w: Any, h: Any, aim: int) -> int:
    g.cast[g.asked] = aim
    if r.believes and r.votes_as_cast and aim != NONE:
        belief.see_aim(g, r, w, h, g.actor, aim, r.votes_wolf, r.wolf_votes_wolf)
    if ask_next(g):
        return ONGOING
    return _count(g, r, w, h)


@kernel
def _count(g: Any, r: Any, w: Any, h: Any) -> int:
    """All votes are in: show them; most votes execute, a tie or most passes nobody."""
    for j in range(r.seats):
        g.latest[j] = DEAD
        g.latest_sum[j] = 0
    for k in range(g.waiting):
        voter, vote = g.queue[k], g.cast[k]
        g.latest[voter] = vote
        g.ballots[voter] += 1
        if vote == NONE:
            g.passes[voter] += 1
            continue
        g.votes[voter, vote] += 1
        g.votes_sum[vote] += 1
        g.latest_sum[vote] += 1
        if r.believes and not r.votes_as_cast:
            belief.see_aim(g, r, w, h, voter, vote, r.votes_wolf, r.wolf_votes_wolf)
    most, tied = _most(g, r)
    executed = _tied(g, r, most, 0)
    if tied > 1 or executed == NONE:
        return _evening(g, r)
    g.executed[executed] = 1
    _die(g, r, executed)
    if r.talk:
        return ask(g, LAST, executed)
    return _buried(g, r, w, h, executed)


@kernel
def _buried(g: Any, r: Any, w: Any, h: Any, seat: int) -> int:
    if r.reveals_all:
        _reveal(g, r, w, h, seat)
    if seat == g.hunter:
        return _last_shot(g, r, w, h, 0)
    return _funeral(g, r)


@kernel
def _last_shot(g: Any, r: Any, w: Any, h: Any, at_dawn: int) -> int:
    """The dying hunter shows the card and is asked to shoot."""
    _reveal(g, r, w, h, g.hunter)
    g.at_dawn = at_dawn
    return ask(g, SHOOT, g.hunter)


@kernel
def _shoot(g: Any, r: Any, w: Any, h: Any, aim: int) -> int:
    """The dying hunter takes a seat along, or nobody."""
    if aim != NONE:
        if r.believes:
            belief.see_aim(g, r, w, h, g.actor, aim, r.votes_wolf, r.wolf_votes_wolf)
        _die(g, r, aim)
        if r.reveals_all or (g.at_dawn and g.day == 1):
            _reveal(g, r, w, h, aim)
    return _morning(g, r) if g.at_dawn else _funeral(g, r)


@kernel
def _funeral(g: Any, r: Any) -> int:
    won = _won(g, r)
    return won if won != ONGOING else _evening(g, r)


@kernel
def _evening(g: Any, r: Any) -> int:
    return DRAW if g.day >= r.max_days else _dusk(g, r)


@kernel
def _won(g: Any, r: Any) -> int:
    """If nobody lives, the wolves are dead as well."""
    if g.wolves == 0:
        return VILLAGE
    if g.wolves == g.living or (r.parity and 2 * g.wolves >= g.living):
        return WOLVES
    return ONGOING


@kernel
def end(g: Any) -> None:
    """The game stays over."""
    g.actor = NONE
