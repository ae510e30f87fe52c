"""Habits of AIWolf's Werewolf counted from games with known roles, and how well an onlooker then knows who is who.

Each rate of `AIWolfHabits` is the share of its cases. A rate stays what it is if it has no cases, or the same result in all: what
never happened in some games may happen in the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from math import log
from typing import Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import NATURE, Event
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.aiwolf.belief import AIWolfBeliefs
from parlour.envs.werewolf.aiwolf.habits import POWERS, AIWolfHabits
from parlour.envs.werewolf.aiwolf.vocabulary import BODYGUARD, MEDIUM, POSSESSED
from parlour.envs.werewolf.vocabulary import SEER, WEREWOLF, WerewolfView

_WEIGHT: Final = "aims_weight"
RATES: Final = tuple(field.name for field in fields(AIWolfHabits) if field.name != _WEIGHT)
"""What is counted; the weight of aims is fitted."""
WEIGHTS: Final = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class AIWolfRecord:
    """A game with its roles."""

    roles: tuple[str, ...]
    """Roles of the seats."""
    events: tuple[Event, ...]
    """All of them, secrets among them."""
    view: WerewolfView
    """View of the first seat at the end; an onlooker reads the table's rules in it."""


def count_habits(records: Iterable[AIWolfRecord], usual: AIWolfHabits | None = None) -> AIWolfHabits:
    """The rates of some games; `usual` are the rates of what they do not show."""
    usual = usual or AIWolfHabits()
    yes, cases = Counter[str](), Counter[str]()
    for record in records:
        _Counter(record, yes, cases).read()
    shown = {rate: yes[rate] / cases[rate] for rate in RATES if 0 < yes[rate] < cases[rate]}
    return replace(usual, **shown)


def fit_weight(records: Sequence[AIWolfRecord], habits: AIWolfHabits) -> AIWolfHabits:
    """The habits with that of `WEIGHTS` by which an onlooker of the games has the least loss on the sets of werewolves."""
    tried = [replace(habits, aims_weight=weight) for weight in WEIGHTS]
    return min(
        tried,
        key=lambda tried_habits: sum(read.loss for record in records for read in aiwolf_reads(record, tried_habits)),
    )


class _Counter:
    """Reads one game as `AIWolfEvidence` does: what is repeated does not count."""

    def __init__(self, record: AIWolfRecord, yes: Counter[str], cases: Counter[str]) -> None:
        self._record, self._yes, self._cases = record, yes, cases
        self._roles = record.roles
        self._alive = set(range(len(record.roles)))
        self._executed: set[int] = set()
        self._claimed: dict[int, str] = {}
        self._reported: set[tuple[int, ...]] = set()
        self._aims: dict[tuple[str, int], int] = {}
        self._spoke: set[int] = set()
        self._guarded = -1
        self._day = 1

    def read(self) -> None:
        for event in self._record.events:
            if event.seat == NATURE:
                self._hear(event.move.kind, event.move.args)
            elif event.to is None:
                self._spoke.add(event.seat)
                self._listen(event.seat, event.move.kind, event.move.args)
            elif event.move.kind == game.GUARDS and event.move.args:
                self._guarded = event.move.args[0]

    def _add(self, rate: str, happened: bool) -> None:
        self._yes[rate] += happened
        self._cases[rate] += 1

    def _hear(self, kind: str, args: tuple[int, ...]) -> None:
        if kind == game.NIGHT:
            self._guarded = -1
        elif kind == game.CHOSEN:
            guard = next((j for j, role in enumerate(self._roles) if role == BODYGUARD), -1)
            if guard in self._alive and guard != args[0]:
                self._add("guard_saves", self._guarded == args[0])
        elif kind == game.DAWN:
            self._day = args[0]
            self._alive.difference_update(args[1:])
            self._spoke.clear()
            self._aims = {key: target for key, target in self._aims.items() if key[0] != "votes"}
        elif kind == game.EXECUTED:
            self._executed.add(args[0])
            self._alive.discard(args[0])
        elif kind == game.VOTES:
            self._hidden()
            for voter, target in enumerate(args[1:]):
                if target >= 0:
                    self._aim("votes", voter, target)

    def _listen(self, seat: int, kind: str, args: tuple[int, ...]) -> None:
        if kind == speech.ACCUSE:
            self._aim("accuses", seat, args[0])
        elif kind == speech.DEFEND:
            self._aim("defends", seat, args[0])
        elif kind == speech.CLAIM_ROLE:
            self._come_out(seat, self._record.view.role_names[args[0]])
        elif kind == speech.REPORT and (seat, *args) not in self._reported:
            self._reported.add((seat, *args))
            self._report(seat, args[0], bool(args[1]))

    def _by(self, seat: int) -> str:
        return {WEREWOLF: "wolf_", POSSESSED: "possessed_"}.get(self._roles[seat], "")

    def _aim(self, kind: str, actor: int, target: int) -> None:
        """Which side somebody aims at, where he can aim at either."""
        sides = {self._roles[j] == WEREWOLF for j in self._alive if j != actor}
        if target not in self._alive or len(sides) < 2 or self._aims.get((kind, actor)) == target:
            return
        self._aims[kind, actor] = target
        self._add(f"{self._by(actor)}{kind}_wolf", self._roles[target] == WEREWOLF)

    def _come_out(self, seat: int, role: str) -> None:
        if role in POWERS and seat not in self._claimed:
            self._claimed[seat] = role
            self._out(seat, role)

    def _hidden(self) -> None:
        """Who has spoken today and has not come out."""
        for seat in self._spoke - self._claimed.keys():
            if seat in self._alive:
                self._out(seat, "")
        self._spoke.clear()

    def _out(self, seat: int, claimed: str) -> None:
        """A day on which a seat could come out with each role, and did with one or none."""
        for power in POWERS:
            if power in self._roles:
                self._add(_rate_of(self._roles[seat], power, first=self._day <= 1), claimed == power)

    def _report(self, seat: int, target: int, evil: bool) -> None:
        if seat not in self._claimed:
            self._come_out(seat, SEER)
        role, hit = self._roles[seat], self._roles[target] == WEREWOLF
        identifies = self._claimed[seat] == MEDIUM and target in self._executed
        if role in (WEREWOLF, POSSESSED):
            self._add("wolf_reports_evil" if role == WEREWOLF else "possessed_reports_evil", evil)
        if role == SEER and not identifies:
            self._add("seer_reports_wolf", hit)
        elif role == WEREWOLF and not identifies and self._roles.count(WEREWOLF) > 1:
            self._add("wolf_reports_fellow" if evil else "wolf_clears_fellow", hit)


def _rate_of(role: str, claimed: str, *, first: bool) -> str:
    """Which rate `AIWolfHabits.comes_out` gives."""
    when = "first" if first else "later"
    if role in (WEREWOLF, POSSESSED) and claimed != SEER:
        return "wolf_claims_other" if role == WEREWOLF else "possessed_claims_other"
    if role == WEREWOLF:
        return "wolf_claims_seer"
    if role == POSSESSED:
        return f"possessed_claims_seer_{when}"
    if role != claimed:
        return "other_claims"
    return {SEER: f"seer_claims_{when}", MEDIUM: f"medium_claims_{when}"}.get(role, "bodyguard_claims")


@dataclass(frozen=True)
class AIWolfRead:
    """What an onlooker believes before the execution of a day."""

    day: int
    loss: float
    """-log of the chance of the true set of werewolves, in nats."""
    role_losses: dict[str, float]
    """The same for the holder of each single role."""
    chances: tuple[float, ...]
    """Chance of each seat to be a werewolf."""
    wolves: tuple[bool, ...]


def aiwolf_reads(record: AIWolfRecord, habits: AIWolfHabits | None = None) -> list[AIWolfRead]:
    """What an onlooker believes after the votes of each day, before somebody is executed."""
    follower = AIWolfBeliefs(record.view, habits)
    onlooker = follower.onlooker
    assert onlooker is not None
    wolves = tuple(role == WEREWOLF for role in record.roles)
    reads: list[AIWolfRead] = []
    for event in record.events:
        if event.to is not None:
            continue
        if event.move.kind == game.EXECUTED:
            sets, chance = onlooker.sets()
            true = float(chance[(sets == np.array(wolves)[:, None]).all(axis=0)].sum())
            posterior = onlooker.chances()
            losses = {role: -log(posterior[role][record.roles.index(role)]) for role in posterior if role != WEREWOLF}
            reads.append(AIWolfRead(len(reads) + 1, -log(true), losses, tuple(map(float, posterior[WEREWOLF])), wolves))
        follower.see(event, record.view)
    return reads
