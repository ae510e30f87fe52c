"""What one seat of Avalon has seen so far, counted by seat: the ground on which a cloned player describes its moves.

All of it is a function of the seat's View: exact beliefs (`envs/avalon/belief.py`) with what the seat knows and as an
onlooker, teams and how they ended, votes, and statements: the players named, supported or attacked, and the claims
made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Event, Move
from parlour.envs.language import claims as spoken, speech

from parlour_people.multi_round.player import take_gathering
from parlour_people.multi_round.rules import CONSULT

_NAMED: Final = re.compile(r"player[_ ]?(\d{1,2})(?!\w)", re.IGNORECASE)
_FOR: Final = {speech.ACCUSE: -1.0, speech.DEFEND: 1.0, speech.RECOMMEND: 1.0, game.TEAM: 1.0}
_ACT: Final = {speech.ACCUSE: speech.ACCUSE, speech.DEFEND: speech.DEFEND, game.TEAM: speech.RECOMMEND}
"""Kind of a claim -> the act that says it of one seat."""
_READ: Final = 4000
"""Characters of a statement that are read."""


class Heard(NamedTuple):
    """For each seat of the table."""

    named: tuple[float, ...]
    """1 where the statement names it."""
    praised: tuple[float, ...]
    """Between -1 (spoken against) and 1 (spoken for, or wanted on the team)."""


@lru_cache(maxsize=20_000)
def heard(move: Move, speaker: int, seats: int) -> Heard:
    """What a speech, or a team with reasons, says about the seats beyond the team itself: by its act, and by its words."""
    named, praised = [0.0] * seats, [0.0] * seats
    said = [
        (kind, members, 1.0 / len(members) if some else 1.0) for kind, members, some in _claims(move, speaker, seats)
    ]
    if move.kind in _FOR:
        said.append((move.kind, move.args[:1], 1.0))
    for kind, members, share in said:
        for seat in members:
            named[seat] = 1.0
            praised[seat] = min(1.0, max(-1.0, praised[seat] + _FOR.get(kind, 0.0) * share))
    for number in _NAMED.findall(move.words[:_READ]):
        if int(number) < seats:
            named[int(number)] = 1.0
    return Heard(tuple(named), tuple(praised))


def _claims(move: Move, speaker: int, seats: int) -> list[tuple[str, tuple[int, ...], bool]]:
    claims = spoken.claims(move.words, speaker, seats) if move.words else ()
    return [(claim.kind, claim.seats, claim.some) for claim in claims if claim.seats]


def acts_of(move: Move, speaker: int, seats: int, legal: Sequence[Move]) -> tuple[Move, ...]:
    """The speeches among `legal` that say about one seat what this one says in its act or, if it is silent, in its words.

    Silence where it says nothing of the kind.
    """
    if move.kind != speech.SILENT:
        return (Move(move.kind, move.args),)
    moves = [
        Move(_ACT[kind], (seat,))
        for kind, members, _ in _claims(move, speaker, seats)
        if kind in _ACT
        for seat in members
    ]
    return tuple(dict.fromkeys(move for move in moves if move in legal)) or (Move(speech.SILENT),)


_SPOKEN: Final = frozenset({*game.ACTS, game.TEAM, game.BALLOT})
"""Kinds of moves that are heard, with their words, where all see them at once."""


class GoneTeam(NamedTuple):
    """A team that played a quest."""

    team: tuple[int, ...]
    succeeded: bool


class SeatRecord:
    """What a seat has seen, kept up to date with its View.

    Args:
        view: The seat's View, once the roles are dealt.
        habits: How its beliefs assume others to behave; None: `AvalonHabits`.
    """

    def __init__(self, view: AvalonView, habits: AvalonHabits | None = None) -> None:
        n = len(view.roles)
        self.key = (view.seat, view.role, view.knows, view.roles)
        self.me, self.seats = view.seat, n
        self.own = AvalonBelief(view.roles, view.seat, view.role, view.knows, habits, view.guesser)
        self.onlooker = AvalonBelief(view.roles, -1, "", (), habits, view.guesser)
        self.gone: list[GoneTeam] = []
        self.proposed: list[tuple[int, ...]] = []
        """Teams named on the quest at hand."""
        self.quests = np.zeros(n)
        """On how many quests each seat was."""
        self.failed = np.zeros(n)
        """On how many that failed."""
        self.approved = np.zeros(n)
        self.votes = 0
        """How many votes were shown."""
        self.insight = np.zeros(n)
        """Votes in agreement with how the team's quest ended, less those against it."""
        self.trust = np.zeros(n)
        """Own votes for teams with a seat, less own votes against them."""
        self.agreed = np.zeros(n)
        """Votes that were like one's own."""
        self.named, self.praised = np.zeros(n), np.zeros(n)
        """How many of the others' statements on the quest at hand name a seat; what they say for it less what against it."""
        self.own_named, self.own_praise = np.zeros(n), np.zeros(n)
        """The same of one's own statements."""
        self.statements = 0
        """Statements of the others on the quest at hand that name somebody."""
        self.held = np.zeros(n)
        """How many evil seats, oneself left aside, hold a seat for Merlin; told before the guess, to evil seats alone."""
        self.own_held = np.zeros(n)
        """Whom one holds for Merlin oneself, as one has told them."""
        self.own_votes: dict[tuple[int, ...], int] = {}
        """Team -> 1 or -1, how one voted on it last."""
        self._events: tuple[Event, ...] = ()
        self._team: tuple[int, ...] = ()
        self._cast: NDArray[np.float64] = np.zeros(n)

    def follows(self, view: AvalonView) -> bool:
        """Whether the View continues what was read."""
        same = self.key == (view.seat, view.role, view.knows, view.roles)
        return same and view.events[: len(self._events)] == self._events

    def read(self, view: AvalonView) -> None:
        """Take in the events that are new."""
        for event in view.events[len(self._events) :]:
            self._see(event)
        self._events = view.events

    def _see(self, event: Event) -> None:
        seat, (kind, args, _), _ = event
        for belief in (self.own, self.onlooker):
            belief.see(seat, kind, args)
            take_gathering(belief, event.move)
        if kind == game.LEADS and not args[3]:  # the first proposal of a quest
            self.proposed, self.statements = [], 0
            for of in (self.named, self.praised, self.own_named, self.own_praise):
                of[:] = 0.0
        if kind in _SPOKEN and event.to is None:
            self._hear(seat, event.move)
        if kind in (game.TEAM, game.DRAWN):
            self._team = args
            if kind == game.TEAM:
                self.proposed.append(args)
                self._cast = np.zeros(self.seats)  # a team may go without a vote
        elif kind == game.VOTES:
            self._see_votes(np.array(args[1:], dtype=np.float64) * 2 - 1)
        elif kind == game.FAILS:
            self._see_quest(bool(args[2]))
        elif kind == CONSULT and args:
            (self.own_held if seat == self.me else self.held)[args[0]] += 1

    def _hear(self, seat: int, move: Move) -> None:
        words = heard(move, seat, self.seats)
        mine = seat == self.me
        (self.own_named if mine else self.named)[:] += words.named
        (self.own_praise if mine else self.praised)[:] += words.praised
        self.statements += not mine and any(words.named)

    def _see_votes(self, cast: NDArray[np.float64]) -> None:
        """`cast`: 1 or -1 of each seat."""
        self._cast = cast
        self.votes += 1
        self.approved += cast > 0
        self.agreed += cast == cast[self.me]
        members = list(self._team)
        self.trust[members] += cast[self.me]
        self.own_votes[self._team] = int(cast[self.me])

    def _see_quest(self, succeeded: bool) -> None:
        members = list(self._team)
        self.quests[members] += 1
        self.failed[members] += not succeeded
        self.insight += self._cast if succeeded else -self._cast
        self.gone.append(GoneTeam(self._team, succeeded))
