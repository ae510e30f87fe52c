"""Werewolf in numbers: what a seat knows as a vector of features in [-1, 1]. A function of a View.

Layout, for n seats and R different roles in play:

    table      n own seat, one-hot; R own role, one-hot; then seat after seat, 20 + R features (`SEAT_FEATURES`, claims); then
               the table (16; 17 with a hunter, who is asked to shoot)
    summary    the same without one's own seat
    record     summary; then by pairs of seats (j, k) 4 features (`PAIR_FEATURES`); then seat after seat, 2 + R (history)
    belief     summary; then n chances each: own of werewolf, own of seer, an onlooker's of werewolf, an onlooker's of seer
    record+belief   record; then the chances

Except for `table` they are in the frame of the seat: number j is the seat j places further round the table, 0 oneself. The
chances are `parlour.envs.werewolf.belief.SeatBeliefs`: exact under its habits.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs.core import NATURE, Event, Move, SeatEncoder
from parlour.envs.hidden_roles.feature_blocks import Block, BlockEncoder, Features, HiddenRoleEncoders
from parlour.envs.hidden_roles.rules import FEATURES
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import DEAD, HUNTER, NO_VOTE, WEREWOLF, WerewolfView

SEAT_FEATURES: Final = (
    "is alive",
    "died by night",
    "was executed",
    "known to me: a werewolf (1), none (-1)",
    "times accused / 10",
    "times defended / 10",
    "accusations made / 10",
    "seats defended / 10",
    "accused by me, less defended by me / 5",
    "reported evil, less reported good / 5",
    "reports made / 5",
    "votes against it on the last day / n",
    "votes against it / 3n",
    "its votes for me / 3",
    "its votes for nobody / votes",
    "its votes for seats known to me: werewolves less others / 3",
    "attacked tonight, as the witch hears",
    "protected by me last",
    "proposed tonight as the victim / 5",
    "wanted killed by wolves tonight, as I see / 5",
)
PHASES: Final = (speech.SILENT, speech.RECOMMEND, *vocabulary.TARGETED, vocabulary.HEALS)
TABLE_FEATURES: Final = (
    "night",
    "day / days of the game",
    "living / n",
    "I live",
    "antidote left",
    "poison left",
    "fellow wolves alive / 5",
    "place of my talk / n",
)
PAIR_FEATURES: Final = (
    "accused, less defended / 5",
    "reported evil, less reported good / 2",
    "votes for / 3",
    "voted for on the last day",
)
CHANCES: Final = ("I think: werewolf", "I think: seer", "an onlooker thinks: werewolf", "an onlooker thinks: seer")
_FOR_KNOWN: Final = 15
_TABLE: Final = len(PHASES) + len(TABLE_FEATURES)
Counts = np.ndarray[Any, np.dtype[np.int64]]
_NOBODY: Final = -1
Numbers = np.ndarray[Any, np.dtype[np.float64]]


class WerewolfEncoder:
    """The features `table`. Satisfies `parlour.envs.core.Encoder`. Names of the features: `WerewolfEncoder.names`."""

    def __init__(self, game: Werewolf) -> None:
        self._seats = game.seats
        self._of = [BlockEncoder(partial(_own_blocks, game, "")) for _ in range(game.seats)]
        self.names = [*(f"I am seat {j}" for j in range(game.seats)), *self._of[0].names]
        self.size = len(self.names)

    def __call__(self, view: WerewolfView) -> Features:
        own = np.zeros(self._seats, dtype=np.float32)
        own[view.seat] = 1.0
        return np.concatenate([own, self._of[view.seat](view)])


class WerewolfSeatEncoder(BlockEncoder):
    """The features of the other kinds. Satisfies `parlour.envs.core.SeatEncoder`.

    Args:
        game: The rules.
        features: One of `FEATURES`.
    """

    def __init__(self, game: Werewolf, features: str) -> None:
        super().__init__(partial(_own_blocks, game, features))

    def __call__(self, view: WerewolfView) -> Features:
        return super().__call__(view) if view.role else np.zeros(self.size, dtype=np.float32)


class WerewolfEncoders(HiddenRoleEncoders):
    """The features of a table."""

    def at_table(self) -> WerewolfEncoder:
        return WerewolfEncoder(self.game)

    def of_seat(self, kind: str) -> SeatEncoder[WerewolfView]:
        if kind not in FEATURES:
            raise self.refused(kind)
        return WerewolfSeatEncoder(self.game, kind)

    def turned(self, move: Move, by: int) -> Move:
        return vocabulary.turned(move, by, self.game.seats)


def _own_blocks(game: Werewolf, features: str, view: WerewolfView | None) -> list[Block]:
    summary = _Summary(game, view, own_frame=bool(features))
    record = [_Record(game, summary.tally)] if "record" in features else []
    return [summary, *record, *([_Belief(game, view)] if "belief" in features else [])]


class _Summary:
    """Own role, then seat after seat, then the table."""

    def __init__(self, game: Werewolf, view: WerewolfView | None, *, own_frame: bool) -> None:
        self._roles, self._own_frame = game.role_names, own_frame
        hunter = [f"asked for {vocabulary.SHOOTS}"] * (HUNTER in game.roles)
        self._table = _TABLE + len(hunter)
        self.tally = Tally(game.seats, game.role_names, view)
        columns = [*SEAT_FEATURES, *(f"claims {role}, last" for role in self._roles)]
        seats = [f"seat {'+' * own_frame}{j}" for j in range(game.seats)]
        self.names = [
            *(f"I am {role}" for role in self._roles),
            *(f"{seat}: {feature}" for seat in seats for feature in columns),
            *(f"asked for {phase}" for phase in PHASES),
            *TABLE_FEATURES,
            *hunter,
        ]

    def see(self, view: WerewolfView, event: Event) -> None:
        self.tally.add(event)

    def write(self, view: WerewolfView, features: Features) -> None:
        roles = len(self._roles)
        if view.role:
            features[self._roles.index(view.role)] = 1.0
        rows = self._per_seat(view)
        if self._own_frame:
            rows = np.roll(rows, -view.seat, axis=0)
        else:
            rows[:, _FOR_KNOWN] = _votes_for_known(view, self.tally.known)
        features[roles : -self._table] = rows.ravel()
        features[-self._table :] = _table_features(view)

    def _per_seat(self, view: WerewolfView) -> Numbers:
        """Shape (n, 20 + R), columns as `SEAT_FEATURES` and the claims."""
        n, me, tally = len(view.alive), view.seat, self.tally
        against = np.bincount(tally.latest[tally.latest >= 0], minlength=n)
        columns = (
            np.array(view.alive),
            tally.by_night,
            tally.executed,
            tally.known,
            tally.accused.sum(axis=0) / 10,
            tally.defended.sum(axis=0) / 10,
            tally.accused.sum(axis=1) / 10,
            tally.defended.sum(axis=1) / 10,
            (tally.accused[me] - tally.defended[me]) / 5,
            (tally.reports_evil.sum(axis=0) - tally.reports_good.sum(axis=0)) / 5,
            (tally.reports_evil.sum(axis=1) + tally.reports_good.sum(axis=1)) / 5,
            against / n,
            tally.votes.sum(axis=0) / (3 * n),
            tally.votes[:, me] / 3,
            tally.passes / np.maximum(tally.ballots, 1),
            tally.votes @ tally.known / 3,
            np.arange(n) == tally.attacked,
            np.arange(n) == (-1 if view.guarded is None else view.guarded),
            tally.proposed / 5,
            tally.wanted / 5,
        )
        return np.concatenate([np.stack(columns, axis=1), _one_hot(tally.claimed, len(self._roles))], axis=1)


class _Record:
    """Who did what to whom, then when each died, when it talks, and what it was."""

    def __init__(self, game: Werewolf, tally: Tally) -> None:
        self._tally, self._roles = tally, len(game.role_names)
        history = ("died on day / days of the game", "place of its talk / n", *(f"was {r}" for r in game.role_names))
        seats = [f"seat +{j}" for j in range(game.seats)]
        self.names = [f"{seat}, {other}: {feature}" for feature in PAIR_FEATURES for seat in seats for other in seats]
        self.names += [f"{seat}: {feature}" for seat in seats for feature in history]

    def see(self, view: WerewolfView, event: Event) -> None:
        pass  # the summary counts it

    def write(self, view: WerewolfView, features: Features) -> None:
        tally, n, me = self._tally, len(view.alive), view.seat
        pairs = (
            (tally.accused - tally.defended) / 5,
            (tally.reports_evil - tally.reports_good) / 2,
            tally.votes / 3,
            tally.latest[:, None] == np.arange(n),
        )
        places = np.argsort(np.array(view.speakers)) / n
        history = np.column_stack((tally.died_on / view.max_days, places, _one_hot(tally.shown, self._roles)))
        features[: 4 * n * n] = np.roll(np.stack(pairs), (-me, -me), axis=(1, 2)).ravel()
        features[4 * n * n :] = np.roll(history, -me, axis=0).ravel()


class _Belief:
    """Posterior chances, one's own and an onlooker's."""

    def __init__(self, game: Werewolf, view: WerewolfView | None) -> None:
        self.names = [f"seat +{j}: {chance}" for chance in CHANCES for j in range(game.seats)]
        self._beliefs = SeatBeliefs(view) if view is not None and view.role else None

    def see(self, view: WerewolfView, event: Event) -> None:
        if self._beliefs is not None:
            self._beliefs.see(event, view)

    def write(self, view: WerewolfView, features: Features) -> None:
        if self._beliefs is not None and self._beliefs.onlooker is not None:
            beliefs = self._beliefs.own, self._beliefs.onlooker
            chances = [chance for belief in beliefs for chance in (belief.wolf_chance(), belief.seer_chance())]
            features[:] = np.roll(chances, -view.seat, axis=1).ravel()


def _one_hot(numbers: Counts, size: int) -> Numbers:
    """One row for each number; zeros for -1."""
    hot: Numbers = (numbers[:, None] == np.arange(size)).astype(np.float64)
    return hot


def _votes_for_known(view: WerewolfView, known: Counts) -> Numbers:
    """By voter, in thirds that are added vote by vote: sums may miss 0 by 1e-16, as recorded features of `table` do."""
    total = np.zeros(len(known))
    for _, (kind, args, _), _ in view.events:
        for voter, vote in enumerate(args[1:] if kind == vocabulary.VOTES else ()):
            if vote >= 0:
                total[voter] += known[vote] / 3
    return total


def _table_features(view: WerewolfView) -> list[float]:
    """What the seat is asked for, one-hot over `PHASES`, then `TABLE_FEATURES`; with a hunter, whether it is asked to shoot."""
    n = len(view.alive)
    kind = view.legal[-1].kind if view.legal else ""
    kind = speech.SILENT if kind in vocabulary.ACTS else kind
    fellows = [j for fact in view.knows for j in fact.seats]
    place = view.speakers.index(view.seat) if view.speakers else 0
    return [
        *(float(kind == phase) for phase in PHASES),
        float(view.night),
        view.day / view.max_days,
        sum(view.alive) / n,
        float(view.alive[view.seat]),
        float(view.antidote is True),
        float(view.poison is True),
        sum(view.alive[j] for j in fellows) / 5,
        place / n,
        *([float(kind == vocabulary.SHOOTS)] if HUNTER in view.role_names else ()),
    ]


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
        """By seat: the role number that was revealed, to all or by an own check, or -1."""
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
        elif kind == vocabulary.SHOOTS:
            self.died_on[list(args)] = self._day
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
            self.shown[args[0]] = args[2] if len(args) > 2 else self.shown[args[0]]
        elif kind == vocabulary.DAWN:
            self._day = args[0]
            self._bury(args[1:], self.by_night)
        elif kind == vocabulary.REVEALED:
            self._show(*args)
        elif kind == vocabulary.HUNTER_SHOWN:
            self._show(args[0], self._names.index(HUNTER))
        elif kind == vocabulary.VOTES:
            self._add_votes(args[1:])
        elif kind == vocabulary.EXECUTED:
            self._bury(args, self.executed)

    def _show(self, seat: int, role: int) -> None:
        self.shown[seat] = role
        self.known[seat] = 1 if self._names[role] == WEREWOLF else -1

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
