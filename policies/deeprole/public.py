"""What everybody has seen of a game, and the belief over the deals that follows from it if all play as DeepRole does.

    b'(deal)  ~  b(deal) * P(team | leader's view) * product of P(vote | view) * P(number of fails | members' views)

Every probability is mixed with a share `slip` of even play, so that nothing that the rules allow rules out a deal. Only numbers of
fails do: a team of one evil member cannot fail twice (deductive reasoning).

The best response to DeepRole within one proposal (local best response; Lisy & Bowling 2017, arXiv 1612.07547) is exact over the seat's
own team, vote and card, given the public belief and the strategies that DeepRole solved for all others. What follows the proposal is
valued by DeepRole's networks, at the belief that DeepRole will have. It plans no further, so what it gains in play is a lower bound of
how exploitable DeepRole is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.presets import TEAM_SIZES
from parlour.envs.core import Event
from parlour.policies.deeprole import deals
from parlour.policies.deeprole.deals import DEALS, SEATS, TEAMS, VIEW, Array
from parlour.policies.deeprole.values import (
    Leaves,
    Solution,
    Standing,
    ValueNetworks,
    Values,
    by_number_of_fails,
    mixed,
    solve,
)

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


_NUMBER: Final = {tuple(team): k for teams in TEAMS.values() for k, team in enumerate(teams.tolist())}
_VOTES: Final = {tuple(votes): k for k, votes in enumerate(deals.APPROVED.tolist())}
_KEPT: Final = 4096
"""Solved proposals that are kept."""


class Proposal(NamedTuple):
    """A proposal that is over; seats count from its leader."""

    team: int
    """Its number, 0..9."""
    votes: tuple[int, ...]
    fails: int
    """Fail cards; -1 if the team did not go."""


class Public(NamedTuple):
    """What everybody has seen."""

    past: tuple[Proposal, ...]
    leader: int
    """The leader of the open proposal, or of the last one."""
    team: tuple[int, ...]
    """Seats of the open team; empty before it is named."""
    votes: tuple[int, ...]
    """By seat; empty before they are shown."""

    @property
    def number(self) -> int:
        """The number of the open team, seen from the leader."""
        return team_number(self.team, self.leader)

    @property
    def votes_number(self) -> int:
        """The number of the votes that carried the team."""
        return _VOTES[from_leader(self.votes, self.leader)]


def team_number(team: Iterable[int], leader: int) -> int:
    """The number of a team, seen from its leader."""
    return _NUMBER[tuple(sorted((seat - leader) % SEATS for seat in team))]


def from_leader(by_seat: tuple[int, ...], leader: int) -> tuple[int, ...]:
    """Something of each seat, in their order from the leader on."""
    return by_seat[leader:] + by_seat[:leader]


def read(events: Iterable[Event]) -> Public:
    """What the events of a View show to everybody."""
    past: list[Proposal] = []
    leader = 0
    team: tuple[int, ...] = ()
    votes: tuple[int, ...] = ()
    for event in events:
        kind, args = event.move.kind, event.move.args
        if kind == game.LEADS:
            leader, team, votes = args[1], (), ()
        elif kind == game.TEAM:
            team = args
        elif kind == game.VOTES:
            votes = args[1:]
        if kind == game.FAILS or (kind == game.VOTES and not args[0]):
            fails = args[1] if kind == game.FAILS else -1
            past.append(Proposal(team_number(team, leader), from_leader(votes, leader), fails))
    return Public(tuple(past), leader, team, votes)


def standing(past: Iterable[Proposal]) -> Standing:
    """The standing after these proposals.

    >>> standing([Proposal(0, (1, 1, 1, 1, 1), 0), Proposal(0, (0, 0, 0, 0, 0), -1)])
    Standing(successes=1, fails=0, rejections=1)
    """
    good = evil = rejections = 0
    for proposal in past:
        rejections = rejections + 1 if proposal.fails < 0 else 0
        good += proposal.fails == 0
        evil += proposal.fails > 0
    return Standing(good, evil, rejections)


class Solver:
    """Beliefs and strategies of public histories, solved once.

    Args:
        networks: The value networks.
        iterations: Number of iterations of each solve.
        slip: Share of everybody's moves that beliefs take for even play.
    """

    def __init__(self, networks: ValueNetworks, iterations: int, slip: float) -> None:
        self._networks, self._iterations, self._slip = networks, iterations, slip
        self._kept: OrderedDict[tuple[Proposal, ...], tuple[Array, Solution]] = OrderedDict()

    def at(self, past: tuple[Proposal, ...]) -> tuple[Array, Solution]:
        """The belief (60,) before the proposal that follows these, in its leader's frame; and its solution."""
        if past not in self._kept:
            belief, at = self.belief(past), standing(past)
            size = TEAM_SIZES[SEATS][at.successes + at.fails]
            self._kept[past] = belief, solve(belief, size, self._networks.leaves(at), self._iterations)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(past)
        return self._kept[past]

    def move_values(self, past: tuple[Proposal, ...], seat: int, view: int) -> MoveValues:
        """The values of a seat's moves in the proposal that follows these, against everybody else's strategies."""
        belief, solution = self.at(past)
        return move_values(belief, solution, self._networks.leaves(standing(past)), self._slip, seat, view)

    def belief(self, past: tuple[Proposal, ...]) -> Array:
        """The belief after these proposals, in the frame of the next leader."""
        if not past:
            return np.full(len(DEALS), 1 / len(DEALS), np.float32)
        before = standing(past[:-1])
        belief, solution = self.at(past[:-1])
        members = TEAMS[TEAM_SIZES[SEATS][before.successes + before.fails]][past[-1].team]
        after = (belief * self._likelihood(solution, past[-1], members))[deals.turned(1)]
        shown: Array = (after / after.sum()).astype(np.float32)
        return shown

    def _likelihood(self, solution: Solution, shown: Proposal, members: Array) -> Array:
        """Of a proposal's moves in each deal, (60,)."""
        likely = mixed(solution.teams[VIEW[0], shown.team], self._slip, 10).astype(np.float64)
        for seat, vote in enumerate(shown.votes):
            approves = mixed(solution.approvals[shown.team, seat, VIEW[seat]], self._slip, 2)
            likely *= approves if vote else 1 - approves
        if shown.fails < 0:
            return likely
        fails = mixed(solution.fails[shown.team, _VOTES[shown.votes]], self._slip, 2)
        own = (np.where(deals.EVIL[seat], fails[place, VIEW[seat]], 0) for place, seat in enumerate(members))
        by_result: Array = likely * by_number_of_fails(own, len(members))[shown.fails]
        return by_result
