"""What a seat of Werewolf has seen, added up event by event: who said, voted and reported what, who died when."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import NATURE, Event
from parlour.envs.werewolf import vocabulary
from parlour.envs.werewolf.vocabulary import DEAD, NO_VOTE, WEREWOLF, WerewolfView

Counts = np.ndarray[Any, np.dtype[np.int64]]
_NOBODY: Final = -1


class Tally:
    """Counts of one seat of one game, seats numbered as at the table.

    Args:
        seats: How many there are.
        role_names: The different roles in play.
        view: Any View of the seat.
    """

    def __init__(self, seats: int, role_names: tuple[str, ...], view: WerewolfView | None) -> None:
        n = seats
        self._names = role_names
        self.known: Counts = np.zeros(n, dtype=np.int64) if view is None else _known_from_the_deal(view)
        """By seat: surely a werewolf (1), surely none (-1), or not known (0)."""
        self.by_night: Counts = np.zeros(n, dtype=np.int64)
        """By seat: whether it died by night; `executed` likewise."""
        self.executed: Counts = np.zeros(n, dtype=np.int64)
        self.died_on: Counts = np.zeros(n, dtype=np.int64)
        """By seat: the day of its death, from 1; 0 while it lives."""
        self.shown: Counts = np.full(n, _NOBODY)
        """By seat: the role number that was revealed, or -1."""
        self.claimed: Counts = np.full(n, _NOBODY)
        """By seat: the role number it claimed last, or -1."""
        self.accused: Counts = np.zeros((n, n), dtype=np.int64)
        """Speaker by target: how often; `defended` and `reports_evil`, `reports_good` likewise."""
        self.defended: Counts = np.zeros((n, n), dtype=np.int64)
        self.reports_evil: Counts = np.zeros((n, n), dtype=np.int64)
        self.reports_good: Counts = np.zeros((n, n), dtype=np.int64)
        self.votes: Counts = np.zeros((n, n), dtype=np.int64)
        """Voter by target: how often."""
        self.passes: Counts = np.zeros(n, dtype=np.int64)
        """By seat: its votes for nobody."""
        self.ballots: Counts = np.zeros(n, dtype=np.int64)
        """By seat: the days on which it voted, or passed."""
        self.latest: Counts = np.full(n, NO_VOTE)
        """By seat: whom it voted for on the last day on which all votes were in; -1 nobody, -2 dead."""
        self.attacked = _NOBODY
        """The seat attacked tonight, as the witch hears; -1 for nobody."""
        self.proposed: Counts = np.zeros(n, dtype=np.int64)
        """By seat: how often a werewolf proposed it tonight as the victim."""
        self.wanted: Counts = np.zeros(n, dtype=np.int64)
        """By seat: votes of werewolves tonight for its death, as the seat sees, and one for the choice of all."""
        self._day = 0

    def add(self, event: Event) -> None:
        """Count one event."""
        seat, (kind, args, _), _ = event
        if kind in vocabulary.ACTS:
            self._add_speech(seat, kind, args)
        elif seat == NATURE:
            self._add_announcement(kind, args)
        elif kind == speech.RECOMMEND:
            self.proposed[args[0]] += 1
        elif kind == vocabulary.KILL and args:
            self.wanted[args[0]] += 1

    def _add_speech(self, seat: int, kind: str, args: tuple[int, ...]) -> None:
        if kind == speech.ACCUSE:
            self.accused[seat, args[0]] += 1
        elif kind == speech.DEFEND:
            self.defended[seat, args[0]] += 1
        elif kind == speech.REPORT:
            (self.reports_evil if args[1] else self.reports_good)[seat, args[0]] += 1
        elif kind == speech.CLAIM_ROLE:
            self.claimed[seat] = args[0]

    def _add_announcement(self, kind: str, args: tuple[int, ...]) -> None:
        if kind == vocabulary.NIGHT:
            self.attacked = _NOBODY
            self.proposed[:] = 0
            self.wanted[:] = 0
        elif kind == vocabulary.CHOSEN and args:
            self.wanted[args[0]] += 1
        elif kind == vocabulary.ATTACKED and args:
            self.attacked = args[0]
        elif kind == vocabulary.CHECKED:
            self.known[args[0]] = 1 if args[1] else -1
        elif kind == vocabulary.DAWN:
            self._day = args[0]
            self._bury(args[1:], self.by_night)
        elif kind == vocabulary.REVEALED:
            self.shown[args[0]] = args[1]
            self.known[args[0]] = 1 if self._names[args[1]] == WEREWOLF else -1
        elif kind == vocabulary.VOTES:
            self._add_votes(args[1:])
        elif kind == vocabulary.EXECUTED:
            self._bury(args, self.executed)

    def _bury(self, dead: tuple[int, ...], cause: Counts) -> None:
        cause[list(dead)] = 1
        self.died_on[list(dead)] = self._day

    def _add_votes(self, votes: tuple[int, ...]) -> None:
        self.latest[:] = votes
        for seat, vote in enumerate(votes):
            self.ballots[seat] += vote != DEAD
            self.passes[seat] += vote == NO_VOTE
            if vote >= 0:
                self.votes[seat, vote] += 1


def _known_from_the_deal(view: WerewolfView) -> Counts:
    known = np.zeros(len(view.roles), dtype=np.int64)
    if view.role == WEREWOLF:
        known[:] = -1
        known[[view.seat, *(j for fact in view.knows for j in fact.seats)]] = 1
    elif view.role:
        known[view.seat] = -1
    return known
