"""Recorded games of Avalon as onlookers see them: what an onlooker believes, cases to fit conduct to, and what seats said about each other.

Claim habits are fitted to what seats of known roles said (`spoken.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.deals import Key, team_rows, teams
from parlour.envs.avalon.habits import (
    LEADERS,
    AvalonHabits,
    Terms,
)
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.public import Public
from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.envs.language.claims import claims

from parlour_people.habits import conduct, spoken
from parlour_people.habits.learner import Loss, Widths, by_table, nothing
from parlour_people.habits.model import CLAIM_TERMS, STANCES, ClaimHabits, PeopleHabits
from parlour_people.habits.report import BeliefRead, side_loss


@dataclass(frozen=True)
class PublicGame:
    """A recorded game with the roles that the record tells."""

    name: str
    """Where it is from."""
    roles: tuple[str, ...]
    """Roles of the seats."""
    events: tuple[Event, ...]
    """Those that everybody saw."""

    @property
    def players(self) -> int:
        """How many."""
        return len(self.roles)

    @cached_property
    def evil(self) -> NDArray[np.float64]:
        """1 for each evil seat, shape (n,)."""
        return np.array([role in game.EVIL_ROLES for role in self.roles], dtype=np.float64)

    @cached_property
    def cases(self) -> Cases:
        """Its choices, which do not depend on any habits."""
        cases = Cases()
        _Reader(self, cases).read()
        return cases

    @cached_property
    def kinds(self) -> list[int]:
        """The kind of each seat, a number into `LEADERS`."""
        return [kind_of(role) for role in self.roles]

    def known_evil(self, kind: int) -> NDArray[np.float64]:
        """Evil seats as far as a kind of seat knows them, shape (n,)."""
        hidden = {0: game.OBERON, 1: game.MORDRED}.get(kind)
        known_evil: NDArray[np.float64] = self.evil * np.array([role != hidden for role in self.roles])
        return known_evil

    def key(self) -> Key:
        """The onlooker's hypotheses; Mordred is distinguished, as conduct has it."""
        deck = tuple(sorted(self.roles, key=game.ROLES.index))
        return Key(deck, -1, "", (), (game.MORDRED,) if game.MORDRED in deck else ())


def read(record: PublicGame, habits: AvalonHabits, number: int = 0) -> list[BeliefRead]:
    """What an onlooker believes after each quest of one game, who hears no word unless the habits know words."""
    return [reading for kind, reading in _reads(record, habits, number) if kind == game.SCORE]


def read_often(record: PublicGame, habits: AvalonHabits, number: int = 0) -> tuple[list[BeliefRead], list[BeliefRead]]:
    """The same, and what it believes after the votes on each proposal, before the cards."""
    moments = list(_reads(record, habits, number))
    quests, votes = ([reading for kind, reading in moments if kind == moment] for moment in (game.SCORE, game.VOTES))
    return quests, votes


def _reads(record: PublicGame, habits: AvalonHabits, number: int) -> Iterator[tuple[str, BeliefRead]]:
    belief = AvalonBelief(record.key().roles, -1, "", (), habits)
    hears = isinstance(habits, PeopleHabits) and habits.hears
    quest = proposals = 0
    for seat, (kind, args, words), _ in record.events:
        if kind in (game.GUESS, game.EXPOSED):  # the hunt shows who the Assassin is
            return
        if kind in speech.ACTS and not hears:
            continue
        belief.see(seat, kind, args, words)
        if kind == game.FAILS:
            quest = args[0]
        elif kind == game.SCORE:
            yield kind, _standing(belief, record, number, quest)
        elif kind == game.VOTES:
            yield kind, _standing(belief, record, number, proposals)
            proposals += 1


def _standing(belief: AvalonBelief, record: PublicGame, number: int, quest: int) -> BeliefRead:
    side = float(belief.weights[(belief.evil == record.evil).all(axis=1)].sum())
    merlin = belief.merlin_chance()[record.roles.index(game.MERLIN)]
    chances, evil = tuple(map(float, belief.evil_chance())), tuple(map(int, record.evil))
    return BeliefRead(number, record.players, quest, side_loss(side), chances, evil, float(merlin))


# -- cases -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedChoice:
    """One choice."""

    players: int
    terms: NDArray[np.float64]
    """Terms of each option, shape (options, terms); for a yes or no, only of the yes, shape (1, terms)."""
    chosen: int
    """Number of the option; for a yes or no 1 or 0."""


@dataclass(frozen=True)
class Ballot:
    """All votes on one team."""

    players: int
    terms: NDArray[np.float64]
    """Terms of each voter, shape (n, terms)."""
    kinds: tuple[int, ...]
    """Kind of each voter, an index into `VOTERS`."""
    votes: tuple[int, ...]
    """1 approves."""


@dataclass
class Cases:
    """All choices of some games."""

    votes: list[Ballot] = field(default_factory=list)
    teams: dict[str, list[RecordedChoice]] = field(default_factory=lambda: {kind: [] for kind in LEADERS})
    cards: list[RecordedChoice] = field(default_factory=list)
    """Whether a quest with evil members failed."""
    joins: list[RecordedChoice] = field(default_factory=list)
    """Whether each further evil member failed a quest that one failed."""

    def add(self, other: Cases) -> None:
        """The choices of other games."""
        self.votes += other.votes
        for kind, some in other.teams.items():
            self.teams[kind] += some
        self.cards += other.cards
        self.joins += other.joins


def of_games(games: Iterable[PublicGame]) -> Cases:
    """The cases of games; each game keeps its own."""
    cases = Cases()
    for record in games:
        cases.add(record.cases)
    return cases


def kind_of(role: str) -> int:
    """The kind of a seat, a number into `LEADERS`."""
    if role == game.MERLIN:
        return 1
    if role in game.GOOD_ROLES:
        return 2
    return 3 if role in game.SEES_NOTHING else 0


class _Reader:
    """Reads one game."""

    def __init__(self, record: PublicGame, cases: Cases) -> None:
        self._record, self._found = record, cases
        self._key = record.key()
        self._public = Public(self._key.sides()[0])
        self._known = [record.known_evil(kind) for kind in range(len(LEADERS))]
        self._leader = 0
        self._team: tuple[int, ...] = ()

    def read(self) -> None:
        for seat, (kind, args, _), _ in self._record.events:
            if kind == game.LEADS:
                self._public.lead(args[0])
            elif kind == game.TEAM:
                self._see_team(seat, args)
            elif kind == game.VOTES:
                self._see_votes(args[1:])
            elif kind == game.FAILS:
                self._see_fails(args[1])
            elif kind == game.SCORE:
                self._public.score(*args)

    def _see_team(self, leader: int, team: tuple[int, ...]) -> None:
        self._leader, self._team = leader, team
        self._public.propose(team)
        n, size, kind = self._record.players, len(team), self._record.kinds[leader]
        doubts = self._public.doubts(self._key.clean(size))[leader]
        terms = conduct.team_terms(self._public, leader, doubts, team_rows(n, size), self._known[kind][None, :])[0]
        self._found.teams[LEADERS[kind]].append(RecordedChoice(n, terms, teams(n, size).index(team)))

    def _see_votes(self, votes: tuple[int, ...]) -> None:
        n, size = self._record.players, len(self._team)
        doubts = self._public.doubts(self._key.clean(size))[:, teams(n, size).index(self._team)]
        terms = conduct.vote_terms(self._public, self._leader, self._team, doubts)
        voters = []
        for seat, kind in enumerate(self._record.kinds):
            dirty = bool(self._known[kind][list(self._team)].any())
            terms[seat, conduct.DIRTY] = float(dirty and kind >= 2)
            voters.append(2 * kind + (not dirty) if kind < 2 else 2 + kind)
        self._found.votes.append(Ballot(n, terms, tuple(voters), votes))

    def _see_fails(self, fails: int) -> None:
        n, evil = self._record.players, int(self._record.evil[list(self._team)].sum())
        if evil:
            terms = np.array([conduct.card_terms(self._public, len(self._team), evil)])
            self._found.cards.append(RecordedChoice(n, terms, int(fails > 0)))
            more = [int(k < fails - 1) for k in range(evil - 1)] if fails else []
            self._found.joins.extend(RecordedChoice(n, np.ones((1, 1)), terms) for terms in more)
        self._public.see_cards(self._team, fails)


SPOKEN = (*game.ACTS, game.TEAM)
WORD_WIDTHS = Widths(shared=1.5, own=0.3)
_GOOD, _OBERON = LEADERS.index("good"), LEADERS.index("Oberon")


@dataclass(frozen=True)
class RecordedStatement:
    """The stances of one statement."""

    players: int
    kind: int
    """Kind of the speaker, an index into `LEADERS`."""
    terms: NDArray[np.float64]
    """Terms of each seat, shape (n, terms)."""
    said: NDArray[np.intp]
    """The stance to each seat, shape (n,)."""


def statements_of(games: Iterable[PublicGame]) -> list[RecordedStatement]:
    """The public statements of games, read by rule."""
    return [statement for record in games for statement in _statements(record)]


def _statements(record: PublicGame) -> Iterator[RecordedStatement]:
    public, listened = Public(record.key().sides()[0]), spoken.Heard(record.players)
    for seat, (kind, args, words), _ in record.events:
        if kind == game.LEADS:
            public.lead(args[0])
            listened.lead(args[0])
        if words and kind in SPOKEN:
            terms = spoken.claim_terms(public, listened, seat, reason=kind == game.TEAM)
            said = np.array(spoken.stances(words, seat, record.players, claims))
            evil = record.known_evil(record.kinds[seat])
            evil[seat] = 0.0
            yield RecordedStatement(record.players, record.kinds[seat], spoken.with_evil(terms, evil), said)
            listened.hear(said)
        if kind == game.TEAM:
            public.propose(args)
            team = args
        elif kind == game.FAILS:
            public.see_cards(team, args[1])
        elif kind == game.SCORE:
            public.score(*args)


def fit_words(statements: Sequence[RecordedStatement]) -> dict[int, ClaimHabits]:
    """Number of players -> what seats say; Oberon, who knows nobody, as good seats do, with words of both."""
    by_kind = {kind: _fit(statements, kind) for kind in range(len(LEADERS)) if kind != _OBERON}
    by_kind[_OBERON] = by_kind[_GOOD]
    return {n: ClaimHabits(tuple(by_kind[kind][n] for kind in range(len(LEADERS)))) for n in PLAYERS}


def _fit(statements: Sequence[RecordedStatement], kind: int) -> dict[int, tuple[Terms, ...]]:
    kinds = (_GOOD, _OBERON) if kind == _GOOD else (kind,)
    some = [statement for statement in statements if statement.kind in kinds]
    losses = [_words_loss([case for case in some if case.players == n]) for n in PLAYERS]
    fitted = by_table(losses, (0.0,) * (len(STANCES) * len(CLAIM_TERMS)), WORD_WIDTHS)
    rows = np.reshape(fitted, (len(PLAYERS), len(STANCES), -1)).tolist()
    return {n: tuple(map(tuple, of_stances)) for n, of_stances in zip(PLAYERS, rows, strict=True)}


def _words_loss(statements: Sequence[RecordedStatement]) -> Loss:
    if not statements:
        return nothing
    terms = np.concatenate([statement.terms for statement in statements])
    said = np.concatenate([statement.said for statement in statements])
    rows = np.arange(len(said))

    def loss(coefficients: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """- log likelihood and its gradient."""
        odds = np.column_stack([np.zeros(len(terms)), terms @ coefficients.reshape(len(STANCES), -1).T])
        top = odds.max(axis=1, keepdims=True)
        shares = np.exp(odds - top)
        total = shares.sum(axis=1, keepdims=True)
        value = float((top[:, 0] + np.log(total[:, 0]) - odds[rows, said]).sum())
        wrong = shares / total
        wrong[rows, said] -= 1.0
        return value, (wrong[:, 1:].T @ terms).ravel()

    return loss
