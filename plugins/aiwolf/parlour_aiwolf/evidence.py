"""What all seats of AIWolf's Werewolf see, as evidence of who is who: factors of sets of werewolves and of seats in roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.werewolf.vocabulary import SEER, VILLAGER, WEREWOLF

from parlour_aiwolf.assignments import Array
from parlour_aiwolf.habits import POWERS, AIWolfHabits
from parlour_aiwolf.vocabulary import BODYGUARD, MEDIUM, POSSESSED

SINGLE: Final = (POSSESSED, SEER, MEDIUM, BODYGUARD)
"""Roles that one seat has at most."""
NEVER: Final = 1e-9
"""How likely a seer or a medium is to report other results than its own. If it does once, it reports as a villager would."""
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Likelihood = Array | float


class AIWolfEvidence:
    """The factors of the belief, from what everybody sees of one game. `parlour_aiwolf.belief` has the formula.

    Args:
        roles: The roles in play, one for each seat, in no order of seats.
        habits: How seats behave.
    """

    def __init__(self, roles: tuple[str, ...], habits: AIWolfHabits) -> None:
        self.habits, self.seats, self.wolves = habits, len(roles), roles.count(WEREWOLF)
        self.single: tuple[str, ...] = tuple(role for role in SINGLE if role in roles)
        self.sets = _sets(self.seats, self.wolves)
        """The sets of werewolves that the rules leave possible, shape (n, H): whether a seat is in a set."""
        self.acts: Array = np.zeros(self.sets.shape)
        """Log-likelihood of the acts of each seat, as a werewolf in the sets that hold it, else as a villager."""
        self.ratio: Array = np.ones((len(self.single), *self.sets.shape))
        """Shape (R, n, H): how much more likely the acts of a seat are in a single role than as a villager."""
        self.common: Array = np.zeros(self.sets.shape[1])
        """Log-likelihood of the attacks."""
        self.alive: Flags = np.ones(self.seats, dtype=bool)
        self._living_wolves = self.sets.sum(axis=0)
        self._lied: Flags = np.zeros((2, *self.sets.shape), dtype=bool)
        """Whether a seat has reported against the truth: as the seer, as the medium."""
        self._executed: set[int] = set()
        self._claimed: dict[int, str] = {}
        self._said: set[tuple[Any, ...]] = set()
        """Claims that were made: a claim that is made again tells nothing."""
        self._aims: dict[tuple[str, int], int] = {}
        """Kind of act and seat -> its last target: an act that is repeated tells nothing."""
        self._spoke: set[int] = set()
        """Who has said anything today."""

    # -- what the rules leave possible -------------------------------------------------------------------------

    def goes_on(self) -> None:
        """The game is not over: werewolves live, and fewer than half of the living are werewolves."""
        self._keep((self._living_wolves > 0) & (2 * self._living_wolves < self.alive.sum()))

    def _keep(self, possible: Flags) -> None:
        if possible.all():
            return
        if not possible.any():
            raise impossible()
        self.sets, self.acts, self.common = self.sets[:, possible], self.acts[:, possible], self.common[possible]
        self.ratio, self._lied = self.ratio[:, :, possible], self._lied[:, :, possible]
        self._living_wolves = self._living_wolves[possible]

    def bury(self, dead: int) -> None:
        """A seat lives no more."""
        self.alive[dead] = False
        self._living_wolves = self.sets[self.alive].sum(axis=0)

    def see_executed(self, seat: int) -> None:
        """A seat was executed."""
        self._executed.add(seat)
        self.bury(seat)

    # -- the night ---------------------------------------------------------------------------------------------

    def see_killed(self, victim: int) -> None:
        """A seat was attacked and not protected. It is no werewolf; every other living human was as likely."""
        self._keep(~self.sets[victim])
        self.common = self.common - np.log(self.alive.sum() - self._living_wolves)
        if BODYGUARD in self.single:  # nobody protects himself
            unprotected = np.where(self.alive, 1 - self.habits.guard_saves, 1.0)
            unprotected[victim] = 1.0
            self._of(BODYGUARD)[:] *= unprotected[:, None]
        self.bury(victim)

    def see_saved(self) -> None:
        """Who was attacked was protected: the bodyguard lives."""
        if BODYGUARD in self.single:
            self._of(BODYGUARD)[~self.alive] = 0.0

    def begin_day(self) -> None:
        """Scale the ratios, once a day: only their proportions count."""
        self._spoke.clear()
        self._aims = {key: target for key, target in self._aims.items() if key[0] != "vote"}
        self.ratio /= self.ratio.max(axis=(1, 2), keepdims=True)

    def _of(self, role: str) -> Array:
        """The ratios of a single role, shape (n, H)."""
        ratios: Array = self.ratio[self.single.index(role)]
        return ratios

    # -- the day -----------------------------------------------------------------------------------------------

    def see_line(self, seat: int) -> None:
        """A seat says anything."""
        self._spoke.add(seat)

    def see_aim(self, kind: str, actor: int, target: int) -> None:
        """A seat accuses, defends or votes for (`"accuse"`, `"defend"`, `"vote"`) another among the living."""
        if actor == target or not self.alive[target] or self._aims.get((kind, actor)) == target:
            return
        self._aims[kind, actor] = target
        wolves = self._living_wolves - (self.sets[actor] & self.alive[actor])
        others = self.alive.sum() - self.alive[actor] - wolves
        share = _Aim(self.sets[target], wolves, others)
        by_role = zip((VILLAGER, WEREWOLF, POSSESSED), _AIMS[kind](self.habits), strict=True)
        self._weigh(actor, {role: share(rate) ** self.habits.aims_weight for role, rate in by_role})

    def see_claim(self, speaker: int, role: str, day: int) -> None:
        """A seat comes out."""
        if role not in POWERS or ("claim", speaker, role) in self._said:
            return
        self._said.add(("claim", speaker, role))
        self._claimed[speaker] = role
        self._weigh(speaker, {own: self._comes_out(own, role, day) for own in (VILLAGER, WEREWOLF, *self.single)})

    def see_hidden(self, day: int) -> None:
        """The talk of a day is over: who has spoken and has not come out yet has chosen so."""
        for seat in self._spoke.difference(self._claimed):
            if self.alive[seat]:
                self._weigh(seat, {role: self._stays_in(role, day) for role in (VILLAGER, WEREWOLF, *self.single)})
        self._spoke.clear()

    def see_report(self, speaker: int, target: int, day: int, *, wolf: bool) -> None:
        """A seat reports whether another is a werewolf. Who has not come out, does so as the seer."""
        if speaker == target or ("report", speaker, target, wolf) in self._said:
            return
        if speaker not in self._claimed:
            self.see_claim(speaker, SEER, day)
        self._said.add(("report", speaker, target, wolf))
        if self._claimed[speaker] == MEDIUM and target in self._executed:
            self._see_identified(speaker, target, wolf=wolf)
        else:
            self._see_divined(speaker, target, wolf=wolf)

    def _see_identified(self, speaker: int, target: int, *, wolf: bool) -> None:
        h = self.habits
        medium = self._honest(1, speaker, self.sets[target] == wolf, 1.0, 0.5)
        evil = (h.wolf_reports_evil, h.possessed_reports_evil)
        by_wolf, by_possessed = evil if wolf else (1 - evil[0], 1 - evil[1])
        self._weigh(speaker, {VILLAGER: 0.5, WEREWOLF: by_wolf, POSSESSED: by_possessed, MEDIUM: medium})

    def _see_divined(self, speaker: int, target: int, *, wolf: bool) -> None:
        h, hit, n = self.habits, self.sets[target], self.seats
        seer = _Aim(hit, self.wolves, n - 1 - self.wolves)(h.seer_reports_wolf)
        liar = 0.5 / (n - 1)
        aim = _Aim(hit, self.wolves - 1, n - self.wolves)(h.wolf_reports_fellow if wolf else h.wolf_clears_fellow)
        self._weigh(
            speaker,
            {
                VILLAGER: liar,
                WEREWOLF: aim * (h.wolf_reports_evil if wolf else 1 - h.wolf_reports_evil),
                POSSESSED: (h.possessed_reports_evil if wolf else 1 - h.possessed_reports_evil) / (n - 1),
                SEER: self._honest(0, speaker, hit == wolf, seer, liar),
            },
        )

    def _honest(self, role_number: int, speaker: int, true: Flags, honest: Likelihood, liar: float) -> Array:
        """How likely the seer (0) or the medium (1) makes a report that is true in some sets."""
        lied = self._lied[role_number, speaker]
        chance: Array = np.where(lied, liar, np.where(true, honest, NEVER))
        lied |= ~true
        return chance

    def _comes_out(self, role: str, claimed: str, day: int) -> float:
        return self.habits.comes_out(role, claimed, first=day <= 1)

    def _stays_in(self, role: str, day: int) -> float:
        claims = [self._comes_out(role, power, day) for power in POWERS if power in self.single]
        return max(1.0 - sum(claims), NEVER)

    def _weigh(self, actor: int, by_role: Mapping[str, Likelihood]) -> None:
        """Take in an act: how likely it is by the role of the actor; of a single role that is not given, as of a villager."""
        village = by_role[VILLAGER]
        self.acts[actor] += np.log(np.where(self.sets[actor], by_role[WEREWOLF], village))
        for number, role in enumerate(self.single):
            if role in by_role:
                self.ratio[number, actor] *= by_role[role] / village


def impossible() -> ParlourError:
    """The error for events that no deal explains."""
    return ParlourError("the events of a View contradict the rules: no deal is possible; accepted: events of one game")


class _Aim:
    """How likely somebody is chosen: first the side, a werewolf at a rate, then anyone of that side.

    Args:
        hit: By set: whether it holds the chosen seat.
        wolves: By set: how many werewolves there are to choose from; `others` likewise.
    """

    def __init__(self, hit: Flags, wolves: Any, others: Any) -> None:
        self._hit, self._wolves, self._others = hit, wolves, others

    def __call__(self, rate: float) -> Array:
        wolf = np.where(self._others > 0, rate, 1.0) / np.maximum(self._wolves, 1)
        other = np.where(self._wolves > 0, 1 - rate, 1.0) / np.maximum(self._others, 1)
        chosen: Array = np.where(self._hit, wolf, other)
        return chosen


_AIMS: Final[Mapping[str, Callable[[AIWolfHabits], tuple[float, float, float]]]] = {
    "accuse": lambda h: (h.accuses_wolf, h.wolf_accuses_wolf, h.possessed_accuses_wolf),
    "defend": lambda h: (h.defends_wolf, h.wolf_defends_wolf, h.possessed_defends_wolf),
    "vote": lambda h: (h.votes_wolf, h.wolf_votes_wolf, h.possessed_votes_wolf),
}


@lru_cache(maxsize=32)
def _sets(seats: int, wolves: int) -> Flags:
    """All sets of werewolves, shape (n, H)."""
    chosen = list(combinations(range(seats), wolves))
    table = np.zeros((seats, len(chosen)), dtype=bool)
    for number, wolf_set in enumerate(chosen):
        table[list(wolf_set), number] = True
    table.setflags(write=False)
    return table
