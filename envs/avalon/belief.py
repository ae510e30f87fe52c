"""Exact Bayesian inference over the hidden roles of Avalon, from what one seat knows and sees.

Hypotheses are all ways to deal the roles in play that agree with the seat's own role and with what the night showed it;
deals that no event can tell apart are one hypothesis (each stands for equally many deals, so that the sum is exact).
Each public event multiplies their weights by how likely it is under each of them: quest cards by the rules (a good
seat plays no fail), votes, teams and claims by simple models of how good and evil seats behave (`AvalonHabits`). Nothing is
sampled and nothing is approximated beyond those models.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, log
from typing import Any

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary as game

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class AvalonHabits:
    """How often seats do what, as the inference supposes. Fractions."""

    approve_dirty_evil: float = 0.75
    """An evil seat that knows its fellows approves a team with an evil member."""
    approve_clean_evil: float = 0.35
    """... and a team without one."""
    approve_dirty_merlin: float = 0.15
    approve_clean_merlin: float = 0.85
    approve_blind: float = 0.55
    """A seat that knows nobody approves any team."""
    fail: float = 0.8
    """An evil member of a team plays fail."""
    good_fails: float = 0.001
    """A good member plays fail (only some rules allow it)."""
    evil_on_own_team: float = 0.9
    """An evil leader takes a seat of its side, itself as a rule."""
    clean_team_merlin: float = 0.9
    """Merlin leads a team that he knows to be clean."""
    accuse_evil: float = 0.6
    """A good seat's accusation hits an evil one."""
    evil_accuses_evil: float = 0.15
    """An evil seat's accusation hits an evil one."""
    defend_evil: float = 0.25
    """A good seat's defence or recommendation goes to an evil one."""
    evil_defends_evil: float = 0.55
    """An evil seat's does."""


def merged(roles: Sequence[str], knows: Sequence[Any]) -> dict[str, str]:
    """Role -> the first role that no event and no fact tells apart from it.

    Told apart are: the sides, Merlin, who knows his fellows, and what the seat's own night named.

    >>> merged(("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"), ())
    {'Merlin': 'Merlin', 'Percival': 'Percival', 'Loyal Servant': 'Percival', 'Morgana': 'Morgana', 'Assassin': 'Morgana'}
    """
    first: dict[Any, str] = {}
    return {
        role: first.setdefault(
            (
                role in game.EVIL_ROLES,
                role == game.MERLIN,
                role in game.SEES_NOTHING,
                *(role in fact.roles for fact in knows),
            ),
            role,
        )
        for role in dict.fromkeys(roles)
    }


@lru_cache(maxsize=256)
def deals(
    roles: tuple[str, ...], seat: int, role: str, knows: tuple[Any, ...]
) -> tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.int8]]]:
    """The deals that a seat cannot rule out before the first word, up to `merged`.

    Args:
        roles: The roles in play, one for each seat.
        seat: Whose knowledge it is; -1 for an onlooker who knows nothing.
        role: Its role.
        knows: Facts (roles, seats): among the other seats exactly these hold one of these roles.

    Returns:
        The names of the roles told apart, and the deals, shape (H, n): numbers into the names.
    """
    same = merged(roles, knows)
    names = tuple(dict.fromkeys(same.values()))
    counts = [sum(same[r] == name for r in roles) for name in names]
    n = len(roles)
    found: list[tuple[int, ...]] = []

    def fits(at: int, number: int) -> bool:
        if at == seat:
            return names[number] == same[role]
        return all((names[number] in fact.roles) == (at in fact.seats) for fact in knows)

    def extend(deal: tuple[int, ...]) -> None:
        at = len(deal)
        if at == n:
            found.append(deal)
            return
        for number in range(len(names)):
            if counts[number] and fits(at, number):
                counts[number] -= 1
                extend((*deal, number))
                counts[number] += 1

    extend(())
    return names, np.array(found, dtype=np.int8).reshape(len(found), n)


class AvalonBelief:
    """The weights of all deals, for one seat of one game.

    Args:
        roles: The roles in play.
        seat: Whose belief; -1 for an onlooker.
        role: Its role; empty for an onlooker.
        knows: What the night showed it.
        habits: How seats behave.
        guesser: The role that names Merlin.
    """

    def __init__(
        self,
        roles: tuple[str, ...],
        seat: int,
        role: str,
        knows: tuple[Any, ...],
        habits: AvalonHabits | None = None,
        guesser: str = game.ASSASSIN,
    ) -> None:
        self.habits = habits or AvalonHabits()
        self.seat = seat
        self._key = (roles, seat, role, knows)
        self.evil, self.merlin, self.blind = _tables(*self._key)
        self._guesser = guesser
        self.log_weights: Array = np.zeros(len(self.evil))
        self._weights: Array | None = None
        self._team: tuple[int, ...] = ()
        self._own_card: int | None = None

    @property
    def weights(self) -> Array:
        """Probability of each deal, shape (H,)."""
        if self._weights is None:
            w = np.exp(self.log_weights - self.log_weights.max())
            self._weights = w / w.sum()
        return self._weights

    def evil_chance(self) -> Array:
        """Probability that each seat is evil, shape (n,)."""
        return self.weights @ self.evil

    def merlin_chance(self) -> Array:
        """Probability that each seat is Merlin, shape (n,)."""
        return self.weights @ self.merlin

    def clean_chance(self, team: Sequence[int]) -> float:
        """Probability that a team has no evil member."""
        return float(self.weights @ (self.evil[:, list(team)].sum(axis=1) == 0))

    def clean_chances(self, size: int) -> Array:
        """The same for all teams of a size at once, in the order of `teams`: shape (number of teams,)."""
        sides, which = _sides(*self._key)
        of_sides = np.bincount(which, weights=self.weights, minlength=len(sides))
        chances: Array = of_sides @ _clean(*self._key, size)
        return chances

    def copied(self) -> AvalonBelief:
        """A belief of its own that has seen the same."""
        return copy(self)  # what it has seen is replaced by new evidence, never changed

    # -- evidence ----------------------------------------------------------------------------------------------

    def see(self, seat: int, kind: str, args: tuple[int, ...]) -> None:
        """Take in an event that the seat saw; events come in the order of the game."""
        if kind == speech.ACCUSE:
            self.see_accusation(seat, args[0])
        elif kind in (speech.DEFEND, speech.RECOMMEND):
            self.see_defence(seat, args[0])
        elif kind == game.TEAM:
            self.see_team(seat, args)
            self._team, self._own_card = args, None
        elif kind == game.DRAWN:
            self._team = args
        elif kind == game.VOTES:
            self.see_votes(self._team, args[1:])
        elif kind == game.CARD and seat == self.seat:
            self._own_card = args[0]
        elif kind == game.FAILS and self._team:
            self.see_cards(self._team, args[1], self._own_card)
        elif kind == game.EXPOSED:
            self.see_exposure(args[0], args[1], right=bool(args[2]))
        elif kind == game.GATHERS and self.seat in args:
            self._add(np.where(self.evil[:, list(args)].all(axis=1), 0.0, -50.0))

    def see_team(self, leader: int, team: Sequence[int]) -> None:
        """A leader names a team."""
        if leader == self.seat:
            return
        h = self.habits
        evil_on_team = self.evil[:, list(team)].sum(axis=1)
        clean = evil_on_team == 0
        dirty_likely = 1 - chance_clean(self.evil.shape[1], int(self.evil[0].sum()), len(team))
        by_evil = np.where(clean, 1 - h.evil_on_own_team, h.evil_on_own_team)
        by_merlin = np.where(clean, h.clean_team_merlin, 1 - h.clean_team_merlin)
        by_blind = np.where(clean, 1 - dirty_likely * 0.8, dirty_likely * 0.8)
        self._add(np.log(self._by_kind(leader, by_evil, by_merlin, by_blind)))

    def see_votes(self, team: Sequence[int], votes: Sequence[int]) -> None:
        """All votes on a team are shown, 1 for approval, in seat order."""
        h = self.habits
        dirty = self.evil[:, list(team)].sum(axis=1) > 0
        cast = np.array(votes, dtype=np.float64)
        told = np.arange(len(cast)) != self.seat  # to itself a seat's own vote tells nothing
        knowing = 1 - self.merlin - self.blind  # evil, and sees its fellows
        evil = np.where(dirty, knowing @ (told * _log_vote(cast, h.approve_dirty_evil)), 0.0)
        evil += np.where(dirty, 0.0, knowing @ (told * _log_vote(cast, h.approve_clean_evil)))
        merlin = np.where(dirty, self.merlin @ (told * _log_vote(cast, h.approve_dirty_merlin)), 0.0)
        merlin += np.where(dirty, 0.0, self.merlin @ (told * _log_vote(cast, h.approve_clean_merlin)))
        self._add(evil + merlin + self.blind @ (told * _log_vote(cast, h.approve_blind)))

    def see_cards(self, team: Sequence[int], fails: int, own_card: int | None) -> None:
        """The number of fail cards of a quest is shown; `own_card` (1/0) is the seat's own, if it was on the team."""
        others = [j for j in team if j != self.seat]
        if own_card is not None and self.seat in team:
            fails -= 1 - own_card
        else:
            others = list(team)
        evil = self.evil[:, others].sum(axis=1).astype(int)
        chance = np.array([fails_chance(k, len(others) - k, fails, self.habits) for k in range(len(others) + 1)])
        self._add(np.log(chance[evil]))

    def see_accusation(self, speaker: int, target: int) -> None:
        """A seat accuses another."""
        self._see_remark(speaker, target, self.habits.accuse_evil, self.habits.evil_accuses_evil)

    def see_defence(self, speaker: int, target: int) -> None:
        """A seat defends or recommends another."""
        self._see_remark(speaker, target, self.habits.defend_evil, self.habits.evil_defends_evil)

    def see_exposure(self, guesser: int, named: int, *, right: bool) -> None:
        """Whoever names Merlin, the Assassin as a rule, shows himself and names somebody."""
        is_guesser, is_merlin = _may_name(*self._key, self._guesser)[:, guesser] == 1, self.merlin[:, named] == 1
        self._add(np.where(is_guesser & (is_merlin == right), 0.0, -50.0))

    def _see_remark(self, speaker: int, target: int, by_good: float, by_evil: float) -> None:
        if speaker in (self.seat, target):
            return
        hits = np.where(self.evil[:, speaker] == 1, by_evil, by_good)
        self._add(np.log(np.where(self.evil[:, target] == 1, hits, 1 - hits)))

    def _by_kind(self, seat: int, evil: Array, merlin: Array, blind: Array) -> Array:
        """Choose by what the seat is in each deal."""
        return np.where(self.evil[:, seat] == 1, evil, np.where(self.merlin[:, seat] == 1, merlin, blind))

    def _add(self, log_likelihood: Array) -> None:
        self.log_weights = self.log_weights + log_likelihood
        self._weights = None


@lru_cache(maxsize=256)
def _tables(roles: tuple[str, ...], seat: int, role: str, knows: tuple[Any, ...]) -> tuple[Array, Array, Array]:
    """For each deal and seat whether it is evil, is Merlin, knows nobody; each (H, n), 0 or 1."""
    names, table = deals(roles, seat, role, knows)
    evil = np.array([name in game.EVIL_ROLES for name in names], dtype=np.float64)[table]
    merlin = np.array([name == game.MERLIN for name in names], dtype=np.float64)[table]
    blind = np.array([name in game.SEES_NOTHING for name in names], dtype=np.float64)[table]
    return evil, merlin, blind


@lru_cache(maxsize=256)
def _may_name(roles: tuple[str, ...], seat: int, role: str, knows: tuple[Any, ...], guesser: str) -> Array:
    """For each deal and seat whether it may hold the role that names Merlin, or one not told apart from it; (H, n), 0 or 1."""
    names, table = deals(roles, seat, role, knows)
    shared = merged(roles, knows).get(guesser)
    may: Array = np.array([name == shared for name in names], dtype=np.float64)[table]
    return may


def _log_vote(cast: Array, approve: float) -> Array:
    return cast * log(approve) + (1 - cast) * log(1 - approve)


@lru_cache(maxsize=256)
def _sides(
    roles: tuple[str, ...], seat: int, role: str, knows: tuple[Any, ...]
) -> tuple[Array, np.ndarray[Any, np.dtype[np.intp]]]:
    """The different evil sides of the deals, 0/1 of shape (E, n), and which of them each deal has, shape (H,)."""
    sides, which = np.unique(_tables(roles, seat, role, knows)[0], axis=0, return_inverse=True)
    return sides, which.ravel()


@lru_cache(maxsize=256)
def _clean(roles: tuple[str, ...], seat: int, role: str, knows: tuple[Any, ...], size: int) -> Array:
    """1 where a team has no member of an evil side, shape (E, number of teams)."""
    sides, _ = _sides(roles, seat, role, knows)
    clean: Array = (sides @ team_rows(len(roles), size).T == 0).astype(np.float64)
    return clean


@lru_cache(maxsize=64)
def teams(seats: int, size: int) -> tuple[tuple[int, ...], ...]:
    """All teams of a size, in the order of the game's catalogue."""
    return tuple(combinations(range(seats), size))


@lru_cache(maxsize=64)
def team_rows(seats: int, size: int) -> Array:
    """All teams of a size as 0/1 rows, shape (number of teams, seats)."""
    rows = np.zeros((len(teams(seats, size)), seats))
    for row, team in zip(rows, teams(seats, size), strict=True):
        row[list(team)] = 1.0
    return rows


@lru_cache(maxsize=1024)
def chance_clean(seats: int, evil: int, size: int) -> float:
    """Probability that a team drawn at random has no evil member."""
    return comb(seats - evil, size) / comb(seats, size)


@lru_cache(maxsize=4096)
def fails_chance(evil: int, good: int, fails: int, habits: AvalonHabits) -> float:
    """Probability of a number of fail cards from the evil and the good members: a sum of two binomials."""
    total = 0.0
    for by_evil in range(max(0, fails - good), min(evil, fails) + 1):
        by_good = fails - by_evil
        total += _binomial(evil, by_evil, habits.fail) * _binomial(good, by_good, habits.good_fails)
    return max(total, 1e-12)


def _binomial(n: int, k: int, p: float) -> float:
    return comb(n, k) * p**k * (1 - p) ** (n - k)
