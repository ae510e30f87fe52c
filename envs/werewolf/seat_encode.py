"""Werewolf in numbers from the frame of the seat: number j is the seat j places further round the table, 0 oneself.

Layout, for n seats and R different roles in play, all in [-1, 1]; a kind has the parts that its name says:

    summary    R own role, one-hot; then seat after seat, 20 + R features (`SEAT_FEATURES`, claims); then the table (16)
    record     summary; then by pairs of seats (j, k) 4 features (`PAIR_FEATURES`); then seat after seat, 2 + R (history)
    belief     summary; then n chances each: own of werewolf, own of seer, an onlooker's of werewolf, an onlooker's of seer
    record+belief   record; then the chances

The chances are `parlour.envs.werewolf.belief.SeatBeliefs`: exact under its habits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.core import Event, check_one_of
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.envs.werewolf.encode import PHASES, SEAT_FEATURES, TABLE_FEATURES, Features, table_features
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.tally import Counts, Tally
from parlour.envs.werewolf.vocabulary import WerewolfView

SUMMARY: Final = "summary"
RECORD: Final = "record"
BELIEF: Final = "belief"
KINDS: Final = (SUMMARY, RECORD, BELIEF, f"{RECORD}+{BELIEF}")
PAIR_FEATURES: Final = (
    "accused, less defended / 5",
    "reported evil, less reported good / 2",
    "votes for / 3",
    "voted for on the last day",
)
CHANCES: Final = ("I think: werewolf", "I think: seer", "an onlooker thinks: werewolf", "an onlooker thinks: seer")

Numbers = np.ndarray[Any, np.dtype[np.float64]]


class WerewolfSeatEncoder:
    """Satisfies `parlour.envs.core.SeatEncoder`.

    Args:
        game: The rules.
        features: One of `KINDS`.

    Raises:
        ParlourError: There is no such kind.
    """

    def __init__(self, game: Werewolf, features: str) -> None:
        check_one_of("features", features, KINDS)
        self._roles, self._seats = game.role_names, game.seats
        self._record, self._belief = RECORD in features, BELIEF in features
        self.names: Sequence[str] = self._name()
        self.size = len(self.names)
        self._latest: WerewolfView | None = None
        self._tally: Tally | None = None
        self._beliefs: SeatBeliefs | None = None

    def _name(self) -> list[str]:
        every = [f"seat +{j}" for j in range(self._seats)]
        columns = (*SEAT_FEATURES, *(f"claims {role}, last" for role in self._roles))
        history = ("died on day / days of the game", "place of its talk / n", *(f"was {role}" for role in self._roles))
        names = [f"I am {role}" for role in self._roles]
        names += [f"{seat}: {feature}" for seat in every for feature in columns]
        names += [*(f"asked for {phase}" for phase in PHASES), *TABLE_FEATURES]
        if self._record:
            names += [f"{seat}, {other}: {feature}" for feature in PAIR_FEATURES for seat in every for other in every]
            names += [f"{seat}: {feature}" for seat in every for feature in history]
        if self._belief:
            names += [f"{seat}: {chance}" for chance in CHANCES for seat in every]
        return names

    def __call__(self, view: WerewolfView) -> Features:
        if not view.role:
            return np.zeros(self.size, dtype=np.float32)
        tally, beliefs = self._read(view)
        turn = (np.arange(self._seats) + view.seat) % self._seats
        parts = [self._one_hot(view.role_names.index(view.role)), self._per_seat(view, tally)[turn].ravel()]
        parts.append(np.array(table_features(view)))
        if self._record:
            pairs = self._pairs(tally)[:, turn[:, None], turn]
            parts += [pairs.ravel(), self._history(view, tally)[turn].ravel()]
        if beliefs is not None and beliefs.onlooker is not None:
            both = (beliefs.own, beliefs.onlooker)
            parts += [chance[turn] for belief in both for chance in (belief.wolf_chance(), belief.seer_chance())]
        return np.clip(np.concatenate(parts), -1.0, 1.0).astype(np.float32)

    # -- reading on --------------------------------------------------------------------------------------------

    def _read(self, view: WerewolfView) -> tuple[Tally, SeatBeliefs | None]:
        """What the View tells; of one that continues the last only the new events are read."""
        tally, new = self._tally, view.events
        if tally is not None and self._continues(view):
            assert self._latest is not None
            new = view.events[len(self._latest.events) :]
        else:
            tally = self._tally = Tally(view)
            self._beliefs = SeatBeliefs(view) if self._belief else None
        for event in new:
            self._add(event, view, tally)
        self._latest = view
        return tally, self._beliefs

    def _add(self, event: Event, view: WerewolfView, tally: Tally) -> None:
        tally.add(event)
        if self._beliefs is not None:
            self._beliefs.see(event, view)

    def _continues(self, view: WerewolfView) -> bool:
        last = self._latest
        if last is None or (last.seat, last.role, last.knows, last.speakers) != (
            *(view.seat, view.role, view.knows, view.speakers),
        ):
            return False
        return view.events[: len(last.events)] == last.events

    # -- the parts, seats as at the table ----------------------------------------------------------------------

    def _one_hot(self, role: int) -> Numbers:
        hot = np.zeros(len(self._roles))
        hot[role] = 1.0
        return hot

    def _roles_of(self, numbers: Counts) -> Numbers:
        """One-hot by seat, shape (n, R); zeros for -1."""
        hot: Numbers = (numbers[:, None] == np.arange(len(self._roles))).astype(np.float64)
        return hot

    def _per_seat(self, view: WerewolfView, of: Tally) -> Numbers:
        """Shape (n, 20 + R), columns as `SEAT_FEATURES` and the claims."""
        n, me = self._seats, view.seat
        seats = np.arange(n)
        against = np.bincount(of.latest[of.latest >= 0], minlength=n)
        columns = (
            np.array(view.alive),
            of.by_night,
            of.executed,
            of.known,
            of.accused.sum(axis=0) / 10,
            of.defended.sum(axis=0) / 10,
            of.accused.sum(axis=1) / 10,
            of.defended.sum(axis=1) / 10,
            (of.accused[me] - of.defended[me]) / 5,
            (of.reports_evil.sum(axis=0) - of.reports_good.sum(axis=0)) / 5,
            (of.reports_evil.sum(axis=1) + of.reports_good.sum(axis=1)) / 5,
            against / n,
            of.votes.sum(axis=0) / (3 * n),
            of.votes[:, me] / 3,
            of.passes / np.maximum(of.ballots, 1),
            of.votes @ of.known / 3,
            seats == of.attacked,
            seats == (-1 if view.guarded is None else view.guarded),
            of.proposed / 5,
            of.wanted / 5,
        )
        return np.concatenate([np.stack(columns, axis=1), self._roles_of(of.claimed)], axis=1)

    def _pairs(self, of: Tally) -> Numbers:
        """Shape (4, n, n): feature of `PAIR_FEATURES`, acting seat, seat acted on."""
        return np.stack(
            (
                (of.accused - of.defended) / 5,
                (of.reports_evil - of.reports_good) / 2,
                of.votes / 3,
                of.latest[:, None] == np.arange(self._seats),
            )
        )

    def _history(self, view: WerewolfView, of: Tally) -> Numbers:
        """Shape (n, 2 + R): day of death, place of talk, role shown."""
        places = np.argsort(np.array(view.speakers)) / self._seats
        return np.column_stack((of.died_on / view.max_days, places, self._roles_of(of.shown)))
