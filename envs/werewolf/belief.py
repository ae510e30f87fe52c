"""Bayesian inference over who the werewolves are, and who the seer is, from what one seat of Werewolf knows and sees.

Hypotheses are all sets of werewolves with, for each, all seats that the seer may have among the others: 280 at the table of
eight before a seat looks at its own role. Each event multiplies their weights by how likely it is under each of them, by
simple models of how the sides behave (`WerewolfHabits`). Witch, guard and hunter are no hypotheses of their own: a claim to be
one counts by how often each side makes it. The hunter's shot counts as the vote of one of the village.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Final

import numpy as np
from parlour.envs.core import NATURE, Event, Move
from parlour.envs.hidden_roles import posterior
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.vocabulary import GUARD, HUNTER, SEER, VILLAGER, WEREWOLF, WITCH, WerewolfView, known_wolves

Array = posterior.Array
NO_TARGET: Final = -1
NEVER: Final = 1e-9


@dataclass(frozen=True)
class WerewolfHabits:
    """How often seats do what, as the inference supposes. Fractions."""

    accuses_wolf: float = 0.55
    """An accusation by one of the village hits a werewolf (at random it would be 0.43 at the table of eight)."""
    wolf_accuses_wolf: float = 0.08
    defends_wolf: float = 0.33
    """A defence by one of the village goes to a werewolf."""
    wolf_defends_wolf: float = 0.4
    votes_wolf: float = 0.55
    """A vote by one of the village hits a werewolf; passes tell nothing."""
    wolf_votes_wolf: float = 0.12
    seer_reports: float = 0.5
    """The seer, when he speaks, reports a check."""
    wolf_reports: float = 0.1
    """A werewolf, when it speaks, invents one."""
    other_reports: float = 0.003
    wolf_reports_evil: float = 0.8
    """Share of invented reports that say evil; the others clear somebody."""
    clears_wolf: float = 0.5
    """Share of clearing reports that clear a werewolf."""
    seer_claims: float = 0.2
    """The seer says who he is and no more; the same rate holds for witch, guard and hunter."""
    wolf_claims: float = 0.05
    """A werewolf says that of a single role."""
    other_claims: float = 0.002
    wolf_dies_at_night: float = 0.06
    """Relative frequency of werewolves among single deaths at night, against any one villager."""
    both_wolves: float = 0.01
    """Relative frequency of two dead werewolves in one night, against two dead villagers."""
    attacked_wolf: float = 0.02
    """Relative frequency of a werewolf as the werewolves' own target, against any one villager."""


class WolfBelief(posterior.Posterior):
    """The weights of all hypotheses, for one seat of one game.

    Args:
        roles: The roles in play, one for each seat, in no order of seats.
        seat: Whose belief; -1 for an onlooker who knows nothing.
        role: Its role; empty for an onlooker.
        wolves: For a werewolf: all werewolves.
        habits: How seats behave.
    """

    def __init__(
        self,
        roles: tuple[str, ...],
        seat: int,
        role: str,
        wolves: tuple[int, ...],
        habits: WerewolfHabits | None = None,
    ) -> None:
        self.habits = habits or WerewolfHabits()
        self.seat = seat
        self.players = len(roles)
        self.wolf, self.seer = _hypotheses(len(roles), roles.count(WEREWOLF), SEER in roles, seat, role, wolves)
        self._is_wolf = _by_seat(len(roles), roles.count(WEREWOLF), SEER in roles, seat, role, wolves)
        self.villagers = len(roles) - roles.count(WEREWOLF)
        self.alive = np.ones(len(roles), dtype=bool)
        super().__init__(len(self.wolf))
        self._living_wolves: Array = self.wolf.sum(axis=1)

    def wolf_chance(self) -> Array:
        """Probability that each seat is a werewolf, shape (n,)."""
        return self.weights @ self.wolf

    def seer_chance(self) -> Array:
        """Probability that each seat is the seer, shape (n,)."""
        return np.bincount(self.seer + 1, weights=self.weights, minlength=self.players + 1)[1:].astype(np.float64)

    # -- certain facts -----------------------------------------------------------------------------------------

    def know_side(self, seat: int, *, wolf: bool) -> None:
        """The moderator reveals the side of a seat."""
        self.weigh(np.where(self._is_wolf[seat] == wolf, 1.0, NEVER))

    def know_role(self, seat: int, role: str) -> None:
        """The moderator tells a role."""
        self.know_side(seat, wolf=role == WEREWOLF)
        self.weigh(np.where((self.seer == seat) == (role == SEER), 1.0, NEVER))

    # -- evidence ----------------------------------------------------------------------------------------------

    def see_dead(self, dead: Sequence[int]) -> None:
        """Who is found dead in the morning."""
        h = self.habits
        if len(dead) == 1:
            self.weigh(np.where(self._is_wolf[dead[0]], h.wolf_dies_at_night, 1.0))
        elif dead:
            both = self.wolf[:, list(dead)].sum(axis=1) == len(dead)
            self.weigh(np.where(both, h.both_wolves, 1.0))
        self.bury(dead)

    def bury(self, dead: Sequence[int]) -> None:
        """They live no more."""
        if dead:
            self.alive[list(dead)] = False
            self._living_wolves = self.wolf @ self.alive

    def see_attacked(self, victim: int) -> None:
        """The target of the werewolves, as the witch hears it."""
        self.weigh(np.where(self._is_wolf[victim], self.habits.attacked_wolf, 1.0))

    def see_accusation(self, speaker: int, target: int) -> None:
        """A seat accuses another."""
        self._see_aim(speaker, target, self.habits.accuses_wolf, self.habits.wolf_accuses_wolf)

    def see_defence(self, speaker: int, target: int) -> None:
        """A seat defends another."""
        self._see_aim(speaker, target, self.habits.defends_wolf, self.habits.wolf_defends_wolf)

    def see_vote(self, voter: int, target: int) -> None:
        """A seat votes for another."""
        self._see_aim(voter, target, self.habits.votes_wolf, self.habits.wolf_votes_wolf)

    def see_shot(self, hunter: int, target: Sequence[int]) -> None:
        """The dying hunter, who is known, shoots a seat, or nobody (empty)."""
        for seat in target:
            self.see_vote(hunter, seat)
        self.bury(target)

    def see_report(self, speaker: int, target: int, *, wolf: bool) -> None:
        """A seat reports a check."""
        if speaker in (self.seat, target):
            return
        h = self.habits
        hit = self._is_wolf[target]
        by_seer = np.where(hit == wolf, h.seer_reports, NEVER)
        on_wolf = h.wolf_accuses_wolf if wolf else h.clears_wolf
        invented = h.wolf_reports * (h.wolf_reports_evil if wolf else 1 - h.wolf_reports_evil)
        by_wolf = invented * np.where(hit, on_wolf, 1 - on_wolf)
        self.weigh(self._by(speaker, by_seer, by_wolf, h.other_reports))

    def see_claim(self, speaker: int, role: str) -> None:
        """A seat says what it is. To be a mere villager says nothing, and nobody gives himself up as a werewolf."""
        if speaker == self.seat or role not in (SEER, WITCH, GUARD, HUNTER):
            return
        h = self.habits
        if role == SEER:
            self.weigh(self._by(speaker, h.seer_claims, h.wolf_claims, h.other_claims))
        else:
            honest = h.seer_claims / max(1, self.villagers - 1)
            self.weigh(self._by(speaker, h.other_claims, h.wolf_claims, honest))

    def _by(self, speaker: int, seer: Array | float, wolf: Array | float, other: Array | float) -> Array:
        """Choose by what the speaker is under each hypothesis."""
        return np.where(self._is_wolf[speaker], wolf, np.where(self.seer == speaker, seer, other))

    def _see_aim(self, actor: int, target: int, by_village: float, by_wolf: float) -> None:
        """Somebody is chosen among the living others: first the side by habit, then anyone of that side."""
        if actor in (self.seat, target):
            return
        by, at = self._is_wolf[actor], self._is_wolf[target]
        wolves = self._living_wolves - by if self.alive[actor] else self._living_wolves
        others = self.alive.sum() - self.alive[actor] - wolves
        side = np.where(by, by_wolf, by_village)
        self.weigh(np.where(at, side / np.maximum(wolves, 1), (1 - side) / np.maximum(others, 1)))

    def weigh(self, likelihood: Array) -> None:
        """Evidence: how likely it is under each hypothesis, shape (H,) or a number."""
        self.add(np.log(likelihood))


class SeatBeliefs:
    """What one seat believes, and what an onlooker would who hears only what everybody hears; read from its View.

    Args:
        view: The seat's View, after the deal.
        habits: How seats behave.
        onlooker: Whether to follow what an onlooker believes, too.
    """

    def __init__(self, view: WerewolfView, habits: WerewolfHabits | None = None, *, onlooker: bool = True) -> None:
        self._me = view.seat
        self._poisoned: tuple[int, ...] = ()
        """Whom the seat has poisoned itself: that it is found dead tells nothing of the werewolves' choice."""
        self.own = WolfBelief(view.roles, view.seat, view.role, known_wolves(view), habits)
        self.onlooker = WolfBelief(view.roles, -1, "", (), habits) if onlooker else None
        self._followed = [belief for belief in (self.own, self.onlooker) if belief is not None]

    def see(self, event: Event, view: WerewolfView) -> None:
        """Weigh one event that the seat saw; `view` is a View of the seat that holds it."""
        if event.seat == NATURE:
            self._hear(event.move, view)
        elif event.to is None:
            self._listen(event, view)
        elif event.seat == self._me and event.move.kind == game.POISONS:
            self._poisoned = event.move.args

    def _hear(self, move: Move, view: WerewolfView) -> None:
        """The moderator speaks."""
        kind, args, _ = move
        if kind == game.CHECKED:
            self.own.know_side(args[0], wolf=bool(args[1]))
        elif kind == game.ATTACKED and args:
            self.own.see_attacked(args[0])
        for belief in self._followed:
            if kind == game.DAWN:
                dead = args[1:]
                belief.see_dead([victim for victim in dead if belief is not self.own or victim not in self._poisoned])
                belief.bury(dead)
            elif kind == game.EXECUTED:
                belief.bury(args)
            elif kind == game.REVEALED:
                belief.know_role(args[0], view.role_names[args[1]])
            elif kind == game.HUNTER_SHOWN:
                belief.know_role(args[0], HUNTER)
            elif kind == game.VOTES and not view.public_votes:
                for voter, target in enumerate(args[1:]):
                    if target >= 0:
                        belief.see_vote(voter, target)

    def _listen(self, event: Event, view: WerewolfView) -> None:
        """A player speaks, votes in public, or shoots."""
        seat, (kind, args, _), _ = event
        for belief in self._followed:
            if kind == speech.ACCUSE:
                belief.see_accusation(seat, args[0])
            elif kind == speech.DEFEND:
                belief.see_defence(seat, args[0])
            elif kind == speech.REPORT:
                belief.see_report(seat, args[0], wolf=bool(args[1]))
            elif kind == speech.CLAIM_ROLE:
                belief.see_claim(seat, view.role_names[args[0]])
            elif kind == game.BALLOT and args:
                belief.see_vote(seat, args[0])
            elif kind == game.SHOOTS:
                belief.see_shot(seat, args)
        if kind == speech.CLAIM_ROLE and seat != self._me and view.role_names[args[0]] == view.role != VILLAGER:
            self.own.know_side(seat, wolf=True)  # there is one of the seat's own role


@lru_cache(maxsize=512)
def _hypotheses(
    players: int, wolves: int, with_seer: bool, seat: int, role: str, known: tuple[int, ...]
) -> tuple[Array, np.ndarray[Any, np.dtype[np.intp]]]:
    """Who is a werewolf, 0/1 of shape (H, n), and who is the seer, shape (H,), -1 for nobody."""
    sets: list[tuple[int, ...]] = []
    seers: list[int] = []
    for chosen in [known] if known else combinations(range(players), wolves):
        if not known and seat >= 0 and seat in chosen:
            continue
        for seer in range(players) if with_seer else (NO_TARGET,):
            if seer not in chosen and (seat < 0 or (seer == seat) == (role == SEER)):
                sets.append(chosen)
                seers.append(seer)
    table = np.zeros((len(sets), players))
    for row, wolf_set in zip(table, sets, strict=True):
        row[list(wolf_set)] = 1.0
    table.setflags(write=False)
    return table, np.array(seers, dtype=np.intp)


@lru_cache(maxsize=512)
def _by_seat(*deal: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether each seat is a werewolf in the hypotheses of `_hypotheses(*deal)`: (n, H), so that those of a seat lie together."""
    return np.ascontiguousarray(_hypotheses(*deal)[0].T, dtype=np.bool_)
