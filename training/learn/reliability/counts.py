"""What the seats of a game of Werewolf did, counted where the roles are known: accusations, defences, votes, reports, claims and deaths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Final

from parlour.envs.core import NATURE, Event
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.habits import RATES
from parlour.envs.werewolf.vocabulary import WerewolfView

_POWERS: Final = (game.SEER, game.WITCH, game.GUARD)


@dataclass(frozen=True)
class WolfRecord:
    """A game with all events, secrets among them."""

    name: str
    """Where it is from."""
    roles: tuple[str, ...]
    """Roles of the seats."""
    events: tuple[Event, ...]
    view: WerewolfView
    """View of the first seat at the end; an onlooker reads the table's rules in it."""

    @property
    def players(self) -> int:
        """How many."""
        return len(self.roles)


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

    def count(self, record: WolfRecord) -> None:
        """Add the cases of one game."""
        _Counter(record, self).read()


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
            elif kind == game.SHOOTS:
                self._bury(args)

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
