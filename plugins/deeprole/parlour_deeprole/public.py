"""What everybody has seen of a game, and the belief over the deals that follows from it if all play as DeepRole does.

    b'(deal)  ~  b(deal) * P(team | leader's view) * product of P(vote | view) * P(number of fails | members' views)

Every probability is mixed with a share `slip` of even play, so that nothing that the rules allow rules out a deal. Only numbers of
fails do: a team of one evil member cannot fail twice (deductive reasoning).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary as game
from parlour.envs.core import Event

from parlour_deeprole import deals
from parlour_deeprole.deals import DEALS, SEATS, TEAMS, VIEW, Array
from parlour_deeprole.solver import Solution, by_number_of_fails, mixed, solve
from parlour_deeprole.values import Standing, ValueNetworks

TEAM_SIZES: Final = {5: (2, 3, 2, 3, 3)}

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
