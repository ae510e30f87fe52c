"""One iteration of CFR+ over a proposal: all teams, votes and cards of all views of all seats at once.

The public tree of a proposal has 10 teams, 32 votes on each, and up to three numbers of fails after each of the 16 votes by which a
team goes: 640 leaves, with a probability that good wins for each of the 60 deals. Strategies are by view, so one pass updates
them all (vector-form CFR; Johanson et al. 2011). A number of fails rules out some deals: its likelihood is part of
the reach of the deals (DeepRole's deductive reasoning).

Regrets below zero count as zero (CFR+; Tammelin 2014). Every choice keeps the probability `TREMBLE` over its number of moves, so that
every leaf has a belief.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs.batch.compiled import kernel, loop

from parlour_deeprole import deals

TREMBLE: Final = 0.01
_T = np.float32(TREMBLE)
_DEALS, _SEATS, _VIEWS, _EVIL_VIEWS = len(deals.DEALS), deals.SEATS, deals.VIEWS, deals.EVIL_VIEWS
_VIEW, _EVIL, _APPROVED, _REJECTED = deals.VIEW, deals.EVIL, deals.APPROVED, deals.REJECTED
_EVIL_DEALS: Final = np.array([np.flatnonzero(evil) for evil in _EVIL], np.int64)
"""(seats, 24): the deals in which a seat is evil."""
_VOTES: Final = len(_APPROVED)
_TEAMS: Final = 10


@kernel
def _yes(pair: Any) -> Any:
    """Probability of the second of two moves, by regret matching."""
    total = pair[0] + pair[1]
    share = pair[1] / total if total > 0 else np.float32(0.5)
    return (np.float32(1) - _T) * share + _T / np.float32(2)


@kernel
def _choose_teams(regret: Any, strategy: Any) -> None:
    for view in range(_VIEWS):
        total = np.float32(0)
        for team in range(_TEAMS):
            total += regret[view, team]
        for team in range(_TEAMS):
            share = regret[view, team] / total if total > 0 else np.float32(1) / np.float32(_TEAMS)
            strategy[view, team] = (np.float32(1) - _T) * share + _T / np.float32(_TEAMS)


@kernel
def _reach(out: Any, first: Any, votes: Any, pattern: Any, without: int) -> None:
    """Reach of each deal by these votes, without one seat's factor (-1: with all)."""
    for d in range(_DEALS):
        out[d] = first[d]
    for seat in range(_SEATS):
        if seat != without:
            _times(out, out, votes[seat], pattern[seat])


@kernel
def _fails(chance: Any, q: Any, size: int) -> None:
    """Likelihood of 0, 1 and 2 fails in each deal, (3, deals), from the members' probabilities of a fail, (size, deals)."""
    for d in range(_DEALS):
        none, exactly_one, two = np.float32(1), np.float32(0), np.float32(0)
        for m in range(size):
            p = q[m, d]
            two = two * (np.float32(1) - p) + exactly_one * p
            exactly_one = exactly_one * (np.float32(1) - p) + none * p
            none = none * (np.float32(1) - p)
        chance[0, d], chance[1, d], chance[2, d] = none, exactly_one, two


@kernel
def _write(leaf: Any, reach: Any, likelihood: Any) -> None:
    """A belief that sums to 1; even if nothing is possible."""
    total = np.float32(0)
    for d in range(_DEALS):
        leaf[d] = reach[d] * likelihood[d]
        total += leaf[d]
    if total > 0:
        for d in range(_DEALS):
            leaf[d] /= total
    else:
        for d in range(_DEALS):
            leaf[d] = np.float32(1) / np.float32(_DEALS)


@partial(loop, parallel=False)
def spread(belief, teams, regrets, strategies, rejected, succeeded, failed):  # type: ignore[no-untyped-def]
    """Current strategies from the regrets, then the belief at every leaf.

    Args:
        belief: (60,) float32.
        teams: (10, size).
        regrets: Of teams (15, 10), votes (10, 5, 15, 2) and cards (10, 16, size, 15, 2).
        strategies: Written: teams (15, 10), approvals (10, 5, 15) and fails (10, 16, size, 15).
        rejected: Written, (10, 16, 60).
        succeeded: Written, (10, 16, 60).
        failed: Written, (10, 16, 2, 60): after one and two fails.
    """
    size = teams.shape[1]
    _choose_teams(regrets[0], strategies[0])
    for team in range(_TEAMS):
        votes, first = np.empty((_SEATS, _DEALS), np.float32), np.empty(_DEALS, np.float32)
        reach, ones = np.empty(_DEALS, np.float32), np.ones(_DEALS, np.float32)
        q, chance = np.zeros((size, _DEALS), np.float32), np.empty((3, _DEALS), np.float32)
        for seat in range(_SEATS):
            for view in range(_VIEWS):
                strategies[1][team, seat, view] = _yes(regrets[1][team, seat, view])
            for d in range(_DEALS):
                votes[seat, d] = strategies[1][team, seat, _VIEW[seat, d]]
        for d in range(_DEALS):
            first[d] = belief[d] * strategies[0][_VIEW[0, d], team]
        for v in range(_VOTES):
            _reach(reach, first, votes, _REJECTED[v], -1)
            _write(rejected[team, v], reach, ones)
            _reach(reach, first, votes, _APPROVED[v], -1)
            for m in range(size):
                seat = teams[team, m]
                for view in range(_EVIL_VIEWS, _VIEWS):
                    strategies[2][team, v, m, view] = _yes(regrets[2][team, v, m, view])
                for d in range(_DEALS):
                    q[m, d] = strategies[2][team, v, m, _VIEW[seat, d]]
            _fails(chance, q, size)
            _write(succeeded[team, v], reach, chance[0])
            _write(failed[team, v, 0], reach, chance[1])
            _write(failed[team, v, 1], reach, chance[2])


@kernel
def _update(regret: Any, view_of: Any, weight: Any, lesser: Any, greater: Any, evil_of: Any, strategy: Any) -> None:
    """Regrets of two moves of one seat by view; the values are probabilities that good wins, by deal."""
    gain = np.zeros((_VIEWS, 2), np.float32)
    for d in range(_DEALS):
        view = view_of[d]
        sign = -weight[d] if evil_of[d] else weight[d]
        difference = sign * (greater[d] - lesser[d])
        p = strategy[view]
        gain[view, 1] += (np.float32(1) - p) * difference
        gain[view, 0] -= p * difference
    for view in range(_VIEWS):
        for move in range(2):
            regret[view, move] = max(regret[view, move] + gain[view, move], np.float32(0))


@kernel
def _update_card(regret: Any, seat: int, member: int, q: Any, weight: Any, wins: Any) -> None:
    """Regrets of an evil member's cards, success and fail; at most one other member is evil."""
    gain = np.zeros((_VIEWS, 2), np.float32)
    for d in _EVIL_DEALS[seat]:
        other = np.float32(0)
        for m in range(len(q)):
            if m != member:
                other += q[m, d]
        success = wins[0, d] + other * (wins[1, d] - wins[0, d])
        fail = wins[1, d] + other * (wins[2, d] - wins[1, d])
        view, p, difference = _VIEW[seat, d], q[member, d], weight[d] * (success - fail)
        gain[view, 1] += (np.float32(1) - p) * difference
        gain[view, 0] -= p * difference
    for view in range(_EVIL_VIEWS, _VIEWS):
        for move in range(2):
            regret[view, move] = max(regret[view, move] + gain[view, move], np.float32(0))


@kernel
def _cards(team, v, teams, regrets, strategies, averages, share, votes, belief, led, wins, value):  # type: ignore[no-untyped-def]
    """Regrets of the cards after one vote; writes to `value` the probability that good wins, by deal."""
    size = teams.shape[1]
    q, weight = np.zeros((size, _DEALS), np.float32), np.empty(_DEALS, np.float32)
    chance = np.empty((3, _DEALS), np.float32)
    for m in range(size):
        for d in range(_DEALS):
            q[m, d] = strategies[2][team, v, m, _VIEW[teams[team, m], d]]
    for m in range(size):
        seat = teams[team, m]
        _reach(weight, belief if seat == 0 else led, votes, _APPROVED[v], seat)
        _update_card(regrets[2][team, v, m], seat, m, q, weight, wins)
        for view in range(_EVIL_VIEWS, _VIEWS):
            own = strategies[1][team, seat, view]
            reached = share * (own if _APPROVED[v, seat] == 1 else np.float32(1) - own)
            if seat == 0:
                reached *= strategies[0][view, team]
            averages[2][team, v, m, view, 0] += reached
            averages[2][team, v, m, view, 1] += reached * strategies[2][team, v, m, view]
    _fails(chance, q, size)
    for d in range(_DEALS):
        value[d] = chance[0, d] * wins[0, d] + chance[1, d] * wins[1, d] + chance[2, d] * wins[2, d]


@kernel
def _by_ballot(votes: Any, by_vote: Any, before: Any, after: Any, by_ballot: Any) -> None:
    """Values of each seat's ballots, given the others' votes: written to `by_ballot`, (seats, 2, deals).

    `by_vote` (32, 60) holds the approving votes, then the rejecting ones; `before` and `after` are room for (seats, deals).
    """
    by_ballot[:] = np.float32(0)
    for v in range(2 * _VOTES):
        pattern = _APPROVED[v] if v < _VOTES else _REJECTED[v - _VOTES]
        for d in range(_DEALS):
            before[0, d], after[_SEATS - 1, d] = by_vote[v, d], np.float32(1)
        for seat in range(1, _SEATS):
            _times(before[seat], before[seat - 1], votes[seat - 1], pattern[seat - 1])
        for seat in range(_SEATS - 1, 0, -1):
            _times(after[seat - 1], after[seat], votes[seat], pattern[seat])
        for seat in range(_SEATS):
            value, first, then = by_ballot[seat, pattern[seat]], before[seat], after[seat]
            for d in range(_DEALS):
                value[d] += first[d] * then[d]


@kernel
def _times(out: Any, factor: Any, approves: Any, vote: int) -> None:
    """The product with the probability of a vote."""
    if vote == 1:
        for d in range(_DEALS):
            out[d] = factor[d] * approves[d]
    else:
        for d in range(_DEALS):
            out[d] = factor[d] - factor[d] * approves[d]


@partial(loop, parallel=False)
def gather(belief, teams, regrets, strategies, averages, share, rejected, succeeded, failed, values):  # type: ignore[no-untyped-def]
    """Regrets and averages from the probabilities that good wins at the leaves.

    Args:
        belief: (60,).
        teams: (10, size).
        regrets: As in `spread`; added to.
        strategies: As `spread` wrote them.
        averages: Added to: teams (15, 10), votes (10, 5, 15, 2) and cards (10, 16, size, 15, 2), the last axis reach and move 1.
        share: Weight of this iteration in the averages.
        rejected: Values after a rejection, (10, 16, 60).
        succeeded: After a success, (10, 16, 60).
        failed: After one and two fails, (10, 16, 2, 60).
        values: Written, (10, 60): by team.
    """
    for team in range(_TEAMS):
        votes, led = np.empty((_SEATS, _DEALS), np.float32), np.empty(_DEALS, np.float32)
        before, after = np.empty((_SEATS, _DEALS), np.float32), np.empty((_SEATS, _DEALS), np.float32)
        by_ballot = np.empty((_SEATS, 2, _DEALS), np.float32)
        by_vote, wins = np.empty((2 * _VOTES, _DEALS), np.float32), np.empty((3, _DEALS), np.float32)
        for seat in range(_SEATS):
            for d in range(_DEALS):
                votes[seat, d] = strategies[1][team, seat, _VIEW[seat, d]]
        for d in range(_DEALS):
            led[d] = belief[d] * strategies[0][_VIEW[0, d], team]
        for v in range(_VOTES):
            for d in range(_DEALS):
                wins[0, d], wins[1, d], wins[2, d] = succeeded[team, v, d], failed[team, v, 0, d], failed[team, v, 1, d]
                by_vote[_VOTES + v, d] = rejected[team, v, d]
            _cards(team, v, teams, regrets, strategies, averages, share, votes, belief, led, wins, by_vote[v])
        _by_ballot(votes, by_vote, before, after, by_ballot)
        for seat in range(_SEATS):
            against, approving = by_ballot[seat, 0], by_ballot[seat, 1]
            own = strategies[1][team, seat]
            _update(
                regrets[1][team, seat], _VIEW[seat], belief if seat == 0 else led, against, approving, _EVIL[seat], own
            )
            for view in range(_VIEWS):
                reached = share * (strategies[0][view, team] if seat == 0 else np.float32(1))
                averages[1][team, seat, view, 0] += reached
                averages[1][team, seat, view, 1] += reached * own[view]
        for d in range(_DEALS):  # of the leader: any seat's would do
            values[team, d] = votes[0, d] * by_ballot[0, 1, d] + (np.float32(1) - votes[0, d]) * by_ballot[0, 0, d]
    _lead(belief, regrets[0], strategies[0], averages[0], share, values)


@kernel
def _lead(belief: Any, regret: Any, strategy: Any, average: Any, share: Any, values: Any) -> None:
    gain = np.zeros((_VIEWS, _TEAMS), np.float32)
    for d in range(_DEALS):
        view, mean = _VIEW[0, d], np.float32(0)
        for team in range(_TEAMS):
            mean += strategy[view, team] * values[team, d]
        sign = -belief[d] if _EVIL[0, d] else belief[d]
        for team in range(_TEAMS):
            gain[view, team] += sign * (values[team, d] - mean)
    for view in range(_VIEWS):
        for team in range(_TEAMS):
            regret[view, team] = max(regret[view, team] + gain[view, team], np.float32(0))
            average[view, team] += share * strategy[view, team]
