"""Habits of Werewolf learned from a folder of transcripts: rates of accusations, defences, votes, reports, claims and deaths.

Each rate of `WerewolfHabits` is counted where the roles are known and fitted in log-odds around today's number, with a part
shared by all numbers of players and a separate part for each number. How well an onlooker then tells the werewolves is asked
after every day of games not learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any, Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import NATURE
from parlour.envs.werewolf import GAME, vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs, WerewolfHabits
from parlour.envs.werewolf.habits import RATES, WerewolfHabitsFile, read_werewolf_habits
from parlour.envs.werewolf.presets import PLAYERS
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.training.learn.habits.learner import LEARNED, HabitsOfGame, Loss, Widths, by_table, odds
from parlour.training.learn.habits.report import BeliefRead, SourceGame, side_loss

_POWERS: Final = (game.SEER, game.WITCH, game.GUARD)


@dataclass(frozen=True)
class WolfRecord(SourceGame):
    """A recorded game with all events, secrets among them."""

    view: WerewolfView
    """View of the first seat at the end; an onlooker reads the table's rules in it."""


# -- counting ----------------------------------------------------------------------------------------------------


@dataclass
class WolfCounts:
    """What some tables of one size did."""

    yes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RATES, 0))
    no: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RATES, 0))
    fates: list[tuple[str, bool, int, int]] = field(default_factory=list)
    """Rate, whether it befell werewolves, and in how many ways it could befall werewolves and others."""

    def add(self, rate: str, happened: bool) -> None:
        """One case."""
        (self.yes if happened else self.no)[rate] += 1

    def include(self, other: WolfCounts) -> None:
        """Add what other tables did."""
        for rate in RATES:
            self.yes[rate] += other.yes[rate]
            self.no[rate] += other.no[rate]
        self.fates += other.fates


def count(record: WolfRecord, counts: WolfCounts) -> None:
    """Add the cases of one game."""
    _Counter(record, counts).read()


class _Counter:
    def __init__(self, record: WolfRecord, counts: WolfCounts) -> None:
        self._record, self._found = record, counts
        self._wolf = [role == game.WEREWOLF for role in record.roles]
        self._alive = [True] * len(record.roles)

    def read(self) -> None:
        for seat, (kind, args, _), to in self._record.events:
            if seat == NATURE:
                self._hear(kind, args)
            elif to is None and kind in game.ACTS:
                self._listen(seat, kind, args)
            elif to is None and kind == game.BALLOT and args:
                self._aim("votes_wolf", seat, args[0])

    def _hear(self, kind: str, args: tuple[int, ...]) -> None:
        if kind == game.VOTES and not self._record.view.public_votes:
            for voter, target in enumerate(args[1:]):
                if target >= 0:
                    self._aim("votes_wolf", voter, target)
        elif kind == game.ATTACKED and args:
            self._fate("attacked_wolf", args)
        elif kind == game.DAWN:
            dead = args[1:]
            if len(dead) in (1, 2):
                self._fate("wolf_dies_at_night" if len(dead) == 1 else "both_wolves", dead)
            self._bury(dead)
        elif kind == game.EXECUTED:
            self._bury(args)

    def _bury(self, dead: Iterable[int]) -> None:
        for seat in dead:
            self._alive[seat] = False

    def _fate(self, rate: str, seats: Sequence[int]) -> None:
        wolves = sum(w and a for w, a in zip(self._wolf, self._alive, strict=True))
        ways = comb(wolves, len(seats))
        others = comb(sum(self._alive), len(seats)) - ways
        if ways and others:
            self._found.fates.append((rate, all(self._wolf[seat] for seat in seats), ways, others))

    def _aim(self, rate: str, actor: int, target: int) -> None:
        """Which side somebody aims at, where he can aim at either."""
        sides = {self._wolf[j] for j, alive in enumerate(self._alive) if alive and j != actor}
        if actor != target and self._alive[target] and len(sides) == 2:
            self._found.add(f"wolf_{rate}" if self._wolf[actor] else rate, self._wolf[target])

    def _listen(self, seat: int, kind: str, args: tuple[int, ...]) -> None:
        wolf, role = self._wolf[seat], self._record.roles[seat]
        reports = kind == speech.REPORT
        self._found.add("wolf_reports" if wolf else "seer_reports" if role == game.SEER else "other_reports", reports)
        self._claims(wolf, role, self._record.view.role_names[args[0]] if kind == speech.CLAIM_ROLE else "")
        if kind == speech.ACCUSE:
            self._aim("accuses_wolf", seat, args[0])
        elif kind == speech.DEFEND:
            self._aim("defends_wolf", seat, args[0])
        elif reports and wolf:
            self._found.add("wolf_reports_evil", bool(args[1]))
            self._found.add("wolf_accuses_wolf" if args[1] else "clears_wolf", self._wolf[args[0]])

    def _claims(self, wolf: bool, role: str, claimed: str) -> None:
        for power in _POWERS:
            if power in self._record.roles:
                rate = "wolf_claims" if wolf else "seer_claims" if role == power else "other_claims"
                self._found.add(rate, claimed == power)


# -- fitting -----------------------------------------------------------------------------------------------------


def fit_rates(records: Iterable[WolfRecord], widths: Widths) -> WerewolfHabitsFile:
    """Habits for all numbers of players."""
    counts = {n: WolfCounts() for n in PLAYERS}
    for record in records:
        count(record, counts[record.players])
    return fit_counts(counts, widths)


def fit_counts(counts: Mapping[int, WolfCounts], widths: Widths) -> WerewolfHabitsFile:
    """Habits from the tables of each number of players (`PLAYERS`)."""
    usual = WerewolfHabits()
    fitted = {
        rate: by_table([_loss(rate, counted) for counted in counts.values()], (odds(getattr(usual, rate)),), widths)
        for rate in RATES
    }
    return WerewolfHabitsFile(
        {n: WerewolfHabits(*(_share(fitted[rate][k][0]) for rate in RATES)) for k, n in enumerate(PLAYERS)}
    )


def _share(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))


def _loss(rate: str, counts: WolfCounts) -> Loss:
    yes, no = counts.yes[rate], counts.no[rate]
    fates = [(wolves, ways, others) for name, wolves, ways, others in counts.fates if name == rate]

    def loss(logit: Any) -> tuple[float, Any]:
        p = _share(logit[0])
        value = yes * np.logaddexp(0, -logit[0]) + no * np.logaddexp(0, logit[0])
        slope = (yes + no) * p - yes
        for wolves, ways, others in fates:  # p is the weight of one way among werewolves against one among others
            total = p * ways + others
            value += np.log(total) - (np.log(p * ways) if wolves else np.log(others))
            slope += (ways / total - (1 / p if wolves else 0)) * p * (1 - p)
        return float(value), np.array([slope])

    return loss


# -- reading -----------------------------------------------------------------------------------------------------


def wolf_reads(record: WolfRecord, habits: WerewolfHabits, number: int = 0) -> list[BeliefRead]:
    """What an onlooker believes after each day; `round` is the day from 0, `evil` who is a werewolf."""
    follower = SeatBeliefs(record.view, habits)
    onlooker = follower.onlooker
    assert onlooker is not None
    wolves = tuple(int(role == game.WEREWOLF) for role in record.roles)
    reads: list[BeliefRead] = []
    for event in record.events:
        if event.to is not None:
            continue
        follower.see(event, record.view)
        if event.move.kind == game.EXECUTED:
            true = float(onlooker.weights[(onlooker.wolf == wolves).all(axis=1)].sum())
            chances = tuple(map(float, onlooker.wolf_chance()))
            reads.append(BeliefRead(number, record.players, len(reads), side_loss(true), chances, wolves))
    return reads


def _groups(games: Sequence[WolfRecord]) -> dict[str, Sequence[int]]:
    numbers = sorted({record.players for record in games})
    return {"all": numbers, **{str(n): (n,) for n in numbers}}


WEREWOLF: Final = HabitsOfGame(
    id=GAME.id,
    title="Habits of Werewolf learned from records",
    record=lambda name, roles, rules, state: WolfRecord(name, roles, tuple(state.log), rules.view(state, 0)),
    learn=lambda games, how: fit_rates(games, how.widths),
    read=wolf_reads,
    fixed=WerewolfHabits(),
    variants=lambda _games, how: {LEARNED: how},
    read_file=read_werewolf_habits,
    groups=_groups,
    panels=("all",),
)
