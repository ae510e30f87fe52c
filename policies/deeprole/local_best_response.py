"""The best response to DeepRole within one proposal (local best response; Lisy & Bowling 2017, arXiv 1612.07547).

It is exact over the seat's own team, vote and card, given the public belief and the strategies that DeepRole solved for all others.
What follows the proposal is valued by DeepRole's networks, at the belief that DeepRole will have. It plans no further, so what it
gains in play is a lower bound of how exploitable DeepRole is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from parlour.policies.deeprole import deals
from parlour.policies.deeprole.deals import DEALS, SEATS, TEAMS, VIEW, Array
from parlour.policies.deeprole.solver import Leaves, Solution, Values, by_number_of_fails, mixed

_ALL_VOTES: Final = np.concatenate([deals.APPROVED, deals.REJECTED])
"""(32, seats)."""
_CARRIED: Final = len(deals.APPROVED)
_MOST_FAILS: Final = 2


class MoveValues(NamedTuple):
    """How often the seat's side wins after each of its moves, times the probability that the move is asked for."""

    teams: Array
    """(10,): if it leads."""
    ballots: Array
    """(10, 2): rejects and approves, by team."""
    cards: Array
    """(10, 16, 2): success and fail, by team and by the votes that carried it; for an evil member."""


class _Moves(NamedTuple):
    """Probabilities of everybody's moves in each deal, on the last axis."""

    teams: Array
    """(10, 60)."""
    approvals: Array
    """(10, 5, 60)."""
    fails: Array
    """(10, 16, size, 60)."""


def move_values(belief: Array, solution: Solution, leaves: Leaves, slip: float, seat: int, view: int) -> MoveValues:
    """The values of a seat's moves.

    Args:
        belief: Public, (60,); seat 0 leads.
        solution: What everybody else plays.
        leaves: What follows.
        slip: Share of even play in DeepRole's beliefs.
        seat: Whose moves; seats count from the leader.
        view: What the seat saw in the night.
    """
    teams, evil = TEAMS[solution.fails.shape[2]], view >= deals.EVIL_VIEWS
    wins = _good_wins(belief, _moves(solution, teams, slip), leaves, teams)
    if evil:
        wins = 1 - wins
    played = _moves(solution, teams, 0)
    own = belief * (VIEW[seat] == view)
    led = np.broadcast_to(own, played.teams.shape) if seat == 0 else own * played.teams
    reach = led[:, None] * _by_votes(played.approvals, without=seat)
    fails = _by_fails(played.fails, teams, without=seat if evil else None)
    carried, member = reach[:, :_CARRIED], (teams == seat).any(axis=1)[:, None]
    cards = np.stack([_after_card(carried, fails, wins, card) for card in range(2)], axis=2)
    after = np.where(member, cards.max(axis=2), cards[:, :, 0]) if evil else cards[:, :, 0]
    refused = (reach[:, _CARRIED:] * wins[:, _CARRIED:, 0]).sum(axis=2)
    values = np.concatenate([after, refused], axis=1)
    ballots = np.stack([values[:, _ALL_VOTES[:, seat] == vote].sum(axis=1) for vote in range(2)], axis=1)
    return MoveValues(ballots.max(axis=1), ballots, cards)


def _moves(solution: Solution, teams: Array, slip: float) -> _Moves:
    """A share `slip` of each move is even play."""
    views = VIEW[teams]  # (10, size, 60)
    fails = np.stack([solution.fails[t][:, np.arange(teams.shape[1])[:, None], seen] for t, seen in enumerate(views)])
    approvals = np.stack([solution.approvals[:, seat, seen] for seat, seen in enumerate(VIEW)], axis=1)
    return _Moves(
        mixed(solution.teams[VIEW[0]].T, slip, len(teams)),
        mixed(approvals, slip, 2),
        np.where(deals.EVIL[teams][:, None], mixed(fails, slip, 2), 0),
    )


def _by_votes(approvals: Array, without: int | None = None) -> Array:
    """Probability of the others' votes, (10, 32, 60)."""
    out = np.ones((len(approvals), len(_ALL_VOTES), len(DEALS)))
    for seat in range(SEATS):
        if seat != without:
            approves = approvals[:, None, seat]
            out *= np.where(_ALL_VOTES[:, seat, None], approves, 1 - approves)
    return out


def _by_fails(fails: Array, teams: Array, without: int | None = None) -> Array:
    """Probability of 0, 1 and 2 fails by the other members, (10, 16, 3, 60)."""
    own = np.where((teams == without)[:, None, :, None], 0, fails)
    return np.moveaxis(by_number_of_fails(np.moveaxis(own, 2, 0), _MOST_FAILS), 0, 2)


def _good_wins(belief: Array, believed: _Moves, leaves: Leaves, teams: Array) -> Array:
    """Probability that good wins after each team, vote and number of fails, (10, 32, 3, 60)."""
    reach = (belief * believed.teams)[:, None] * _by_votes(believed.approvals)
    likely = _by_fails(believed.fails, teams)
    out = np.zeros((*reach.shape[:2], _MOST_FAILS + 1, len(DEALS)))
    out[:, _CARRIED:, 0] = _valued(leaves.rejected, reach[:, _CARRIED:])
    for count in range(_MOST_FAILS + 1):
        out[:, :_CARRIED, count] = _valued(
            leaves.failed if count else leaves.succeeded, reach[:, :_CARRIED] * likely[:, :, count]
        )
    return out


def _valued(values: Values, reach: Array) -> Array:
    """Of beliefs in proportion to a reach (..., 60)."""
    flat = reach.reshape(-1, len(DEALS))
    total = flat.sum(axis=1, keepdims=True)
    beliefs = np.where(total > 0, flat / np.where(total > 0, total, 1), 1 / len(DEALS))
    return values(beliefs.astype(np.float32)).reshape(reach.shape)


def _after_card(carried: Array, fails: Array, wins: Array, card: int) -> Array:
    """Values (10, 16) after the seat's card, 1 a fail, with the others' fails."""
    others = fails[:, :, : _MOST_FAILS + 1 - card]
    after = (others * wins[:, :_CARRIED, card:]).sum(axis=2)
    value: Array = (carried * after).sum(axis=2)
    return value
