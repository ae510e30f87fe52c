"""Werewolf's rules as kernels: one game at a time, in the order of play of `parlour.envs.werewolf.rules`.

`g` is the record of a game, `r` that of the rules (`layout.py`), `w` the game's weights and `h` the table's hypotheses
(`belief.py`; read only if the rules say that the game believes). The seat to move acts by numbers of its own frame.
Whoever wakes the next player returns who has won by then.
"""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.batch.streams import advance, below, kernel
from parlour.envs.batch.werewolf import belief
from parlour.envs.batch.werewolf.layout import ACCUSE, CLAIM, DEFEND, REPORT
from parlour.envs.werewolf.state import CHECK, HUNT, LAST, POISON, PROTECT, SAVE, TALK, VOTE, WHISPER

ONGOING: Final = -2
DRAW: Final = -1
VILLAGE: Final = 0
WOLVES: Final = 1
NONE: Final = -1
"""No seat: nobody is aimed at, no such role is in play."""
DEAD: Final = -2


# -- the deal ------------------------------------------------------------------------------------------------------


@kernel
def begin(g: Any, r: Any, w: Any) -> None:
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
    start(g, r, w)


@kernel
def start(g: Any, r: Any, w: Any) -> None:
    """The first night of a game whose roles and order are dealt."""
    n = r.seats
    g.witch = g.guard = g.seer = g.guarded = g.attacked = NONE
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
        _forget(g, j, n)
    if r.believes:
        belief.begin(g, r, w)
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


# -- who is asked ----------------------------------------------------------------------------------------------------


@kernel
def _ask(g: Any, phase: int, seat: int) -> int:
    """One seat is asked."""
    g.phase, g.actor, g.waiting, g.asked = phase, seat, 1, 0
    return ONGOING


@kernel
def _ask_wolves(g: Any, r: Any, phase: int) -> int:
    """The living wolves are asked, in seat order."""
    g.phase, g.asked, g.waiting = phase, 0, 0
    for j in range(r.seats):
        if g.alive[j] and g.roles[j] == r.wolf:
            g.queue[g.waiting] = j
            g.waiting += 1
    g.actor = g.queue[0]
    return ONGOING


@kernel
def _ask_all(g: Any, r: Any, phase: int) -> int:
    """All who live are asked, in the order of talk."""
    g.phase, g.asked, g.waiting = phase, 0, 0
    for k in range(r.seats):
        if g.alive[g.order[k]]:
            g.queue[g.waiting] = g.order[k]
            g.waiting += 1
    g.actor = g.queue[0]
    return ONGOING


@kernel
def _ask_next(g: Any) -> bool:
    """Ask the next of the queue; False if there is none."""
    g.asked += 1
    if g.asked == g.waiting:
        return False
    g.actor = g.queue[g.asked]
    return True


@kernel
def may_aim(g: Any, r: Any, j: int) -> bool:
    """Whether the seat to move may aim at seat j, in the phases in which seats are aimed at."""
    if not g.alive[j]:
        return False
    if g.phase == WHISPER or g.phase == HUNT:
        return r.hunt_wolves == 1 or g.roles[j] != r.wolf
    if g.phase == PROTECT:
        return r.guard_repeats == 1 or j != g.guarded
    return g.phase != CHECK or j != g.actor


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
    if phase == TALK or phase == LAST:
        speak(g, r, w, h, kind, aim, r.verdict[action])
        if phase == LAST:
            return _buried(g, r, w, h, me)
        return ONGOING if _ask_next(g) else _ask_all(g, r, VOTE)
    if phase == VOTE:
        return _vote(g, r, w, h, aim)
    if phase == WHISPER:
        if aim != NONE:
            g.proposed[aim] += 1
            _propose(g, me, aim)
        return ONGOING if _ask_next(g) else _ask_wolves(g, r, HUNT)
    if phase == HUNT:
        return _hunt(g, r, w, h, aim)
    if phase == PROTECT:
        g.protected = g.guarded = aim
        return _wake_witch(g, r, w, h)
    if phase == POISON:
        if aim != NONE:
            g.poisoned, g.poison = aim, 0
        return _wake_seer(g, r, w, h)
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
    return _ask_wolves(g, r, WHISPER if r.talk and g.wolves > 1 else HUNT)


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
    if _ask_next(g):
        return ONGOING
    most, tied = _most(g, r)
    if tied == 1:
        g.victim = _tied(g, r, most, 0)
    elif r.hunt_random:
        g.nature = advance(g.nature)
        g.victim = g.drawn = _tied(g, r, most, below(g.nature, tied))
    g.chosen = g.victim
    if g.guard != NONE and g.alive[g.guard]:
        return _ask(g, PROTECT, g.guard)
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
    return _ask(g, SAVE, g.witch)


@kernel
def _save(g: Any, r: Any, w: Any, h: Any, given: int) -> int:
    if given:
        g.saved, g.antidote = 1, 0
    return _wake_poisoner(g, r, w, h)


@kernel
def _wake_poisoner(g: Any, r: Any, w: Any, h: Any) -> int:
    if g.witch != NONE and g.alive[g.witch] and g.poison:
        if _killed(g) != g.witch or (r.dying_witch_poisons and not g.antidote):
            return _ask(g, POISON, g.witch)
    return _wake_seer(g, r, w, h)


@kernel
def _wake_seer(g: Any, r: Any, w: Any, h: Any) -> int:
    if g.seer != NONE and g.alive[g.seer] and g.seer != _killed(g) and g.seer != g.poisoned:
        return _ask(g, CHECK, g.seer)
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
    first, second = _killed(g), int(g.poisoned)
    if first == NONE or first == second:
        first, second = second, NONE
    if r.believes:
        belief.see_dead(g, r, w, h, first, second)
    for dead in (first, second):
        if dead != NONE:
            g.by_night[dead] = 1
            _die(g, r, dead)
            if g.day == 1 or r.reveals_all:
                _reveal(g, r, w, h, dead)
    won = _won(g, r)
    if won != ONGOING:
        return won
    for j in range(r.seats):
        g.accusers[j] = 0
    return _ask_all(g, r, TALK if r.talk else VOTE)


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
def speak(g: Any, r: Any, w: Any, h: Any, kind: int, aim: int, verdict: int) -> None:
    """What the seat to move says, heard by everybody."""
    me = g.actor
    if kind == ACCUSE:
        g.accused[me, aim] += 1
        g.accused_sum[aim] += 1
        g.accused_made[me] += 1
        g.accusers[aim] |= 1 << me
        if r.believes:
            belief.see_aim(g, r, w, h, me, aim, r.accuses_wolf, r.wolf_accuses_wolf)
    elif kind == DEFEND:
        g.defended[me, aim] += 1
        g.defended_sum[aim] += 1
        g.defended_made[me] += 1
        if r.believes:
            belief.see_aim(g, r, w, h, me, aim, r.defends_wolf, r.wolf_defends_wolf)
    elif kind == REPORT:
        _report(g, r, w, h, aim, verdict)
    elif kind == CLAIM:
        g.claimed[me] = aim
        if aim == r.seer:
            _claim_sight(g, me)
        if r.believes:
            belief.see_claim(g, r, w, h, me, aim)


@kernel
def _report(g: Any, r: Any, w: Any, h: Any, aim: int, verdict: int) -> None:
    me = g.actor
    if verdict:
        g.reports_evil[me, aim] += 1
        g.reported[aim] += 1
    else:
        g.reports_good[me, aim] += 1
        g.reported[aim] -= 1
    g.reports_made[me] += 1
    g.accusers[aim] |= 1 << me
    _claim_sight(g, me)
    if r.believes:
        belief.see_report(g, r, w, h, me, aim, verdict)


@kernel
def _claim_sight(g: Any, me: int) -> None:
    """The seat stands as one who says it is the seer; listed once."""
    for k in range(g.claimants):
        if g.claimant[k] == me:
            return
    g.claimant[g.claimants] = me
    g.claimants += 1


@kernel
def _vote(g: Any, r: Any, w: Any, h: Any, aim: int) -> int:
    g.cast[g.asked] = aim
    if r.believes and r.votes_as_cast and aim != NONE:
        belief.see_aim(g, r, w, h, g.actor, aim, r.votes_wolf, r.wolf_votes_wolf)
    if _ask_next(g):
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
        return _ask(g, LAST, executed)
    return _buried(g, r, w, h, executed)


@kernel
def _buried(g: Any, r: Any, w: Any, h: Any, seat: int) -> int:
    if r.reveals_all:
        _reveal(g, r, w, h, seat)
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


# -- what may be done ------------------------------------------------------------------------------------------------


@kernel
def write_mask(g: Any, r: Any, mask: Any) -> None:
    """What the seat to move may do, in its own frame; `mask` is uint8."""
    mask[:] = 0
    if g.phase == TALK or g.phase == LAST:
        for k in range(r.speeches):
            mask[r.speech[k]] = 1
        return
    idle, aimed = r.idle[g.phase], r.aimed[g.phase]
    mask[idle] = 1
    if g.phase == SAVE:
        mask[idle + 1] = 1
        return
    for place in range(r.seats):
        if may_aim(g, r, seat_at(g, r, place)):
            mask[aimed + place] = 1


@kernel
def seat_at(g: Any, r: Any, place: int) -> int:
    """The seat that is `place` further than the one to move."""
    j = g.actor + place
    return j - r.seats if j >= r.seats else j


@kernel
def is_legal(g: Any, r: Any, action: int) -> bool:
    """Whether the mask allows it."""
    if action < 0 or action >= r.actions:
        return False
    if g.phase == TALK or g.phase == LAST:
        kind = r.kind[action]
        return kind <= REPORT and (kind == CLAIM or r.aim[action] != 0)
    idle, place = r.idle[g.phase], action - r.aimed[g.phase]
    if action == idle or g.phase == SAVE:
        return action == idle or action == idle + 1
    return 0 <= place < r.seats and may_aim(g, r, seat_at(g, r, place))


@kernel
def random_action(g: Any, r: Any) -> int:
    """A legal action from the stream of the players, each as likely as the others."""
    g.players = advance(g.players)
    if g.phase == TALK or g.phase == LAST:
        return r.speech[below(g.players, r.speeches)]
    if g.phase == SAVE:
        return r.idle[g.phase] + below(g.players, 2)
    count = 1
    for j in range(r.seats):
        count += may_aim(g, r, j)
    number = below(g.players, count)
    if number == 0:
        return r.idle[g.phase]
    for place in range(r.seats):
        number -= may_aim(g, r, seat_at(g, r, place))
        if number == 0:
            return r.aimed[g.phase] + place
    return r.idle[g.phase]
