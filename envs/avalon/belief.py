"""Exact Bayesian inference over the hidden roles of Avalon, from what one seat knows and sees.

Hypotheses are all ways to deal the roles in play that agree with the seat's own role and with what the night showed it;
deals that no event can distinguish are one hypothesis (each represents equally many deals, so that the sum is exact).
Each public event multiplies their weights by how likely it is under each of them: quest cards by the rules (a good
seat plays no fail), votes, teams and claims by simple models of how good and evil seats behave (`AvalonHabits`), or by scores
learned from records (`LearnedHabits`). Nothing is sampled and nothing is approximated beyond those models.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from math import comb, log
from typing import Any, Final

import numpy as np
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.deals import Array, Key, deals, may_name, merged, team_rows, teams
from parlour.envs.avalon.evidence import EventScores
from parlour.envs.avalon.habits import AvalonHabits, DealScores, LearnedHabits, read_habits
from parlour.envs.hidden_roles.posterior import Posterior
from parlour.envs.language import speech

__all__ = [
    "Array",
    "AvalonBelief",
    "AvalonHabits",
    "LearnedHabits",
    "deals",
    "merged",
    "read_habits",
    "team_rows",
    "teams",
]

ONLOOKER: Final = -1
"""The seat of who knows nobody's role."""


def _scores(learned: LearnedHabits, key: Key) -> DealScores:
    """What scores the events of a game under the deals of a key: evidence, or the habits in their own way."""
    return learned.scores(key) if learned.evidence is None else EventScores(key, learned.evidence)


class AvalonBelief(Posterior):
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
        learned = self.habits if isinstance(self.habits, LearnedHabits) and self.habits.learned else None
        apart = (game.MORDRED,) if learned is not None and game.MORDRED in roles else ()
        self._key = Key(roles, seat, role, knows, apart)
        self.evil, self.merlin, self.blind, _ = self._key.tables()
        self._learned = None if learned is None else _scores(learned, self._key)
        self._guesser = guesser
        super().__init__(len(self.evil))
        self.team: tuple[int, ...] = ()
        """The last team that was proposed or drawn."""
        self._own_card: int | None = None

    def copied(self) -> AvalonBelief:
        """A belief of its own that has seen the same."""
        other = copy(self)  # what it has seen is replaced by new evidence, never changed
        other._learned = None if self._learned is None else self._learned.copied()
        return other

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
        rows, inverse = self._key.sides()
        of_sides = np.bincount(inverse, weights=self.weights, minlength=len(rows))
        return of_sides @ self._key.clean(size)

    # -- evidence ----------------------------------------------------------------------------------------------

    def see(self, seat: int, kind: str, args: tuple[int, ...], words: str = "") -> None:
        """Take in an event that the seat saw; events come in the order of the game. Words count only by habits that know them."""
        spoken = self._learned if words and kind in _SPOKEN else None
        heard = None if spoken is None else spoken.words(seat, words, reason=kind == game.TEAM)
        if heard is not None:
            self.add(heard)
            if kind != game.TEAM:
                return  # the claim that the table read is one of those in the words
        if kind == speech.ACCUSE:
            self.see_accusation(seat, args[0])
        elif kind in (speech.DEFEND, speech.RECOMMEND):
            self.see_defence(seat, args[0])
        elif kind == game.LEADS and self._learned is not None:
            self._learned.lead(args[0])
        elif kind == game.SCORE and self._learned is not None:
            self._learned.score(*args)
        elif kind == game.TEAM:
            self.see_team(seat, args)
            self.team, self._own_card = args, None
        elif kind == game.DRAWN:
            self.team = args
        elif kind == game.VOTES:
            self.see_votes(self.team, args[1:])
        elif kind == game.CARD and seat == self.seat:
            self._own_card = args[0]
        elif kind == game.FAILS and self.team:
            self.see_cards(self.team, args[1], self._own_card)
        elif kind == game.EXPOSED:
            self.see_exposure(args[0], args[1], right=bool(args[2]))

    def see_team(self, leader: int, team: Sequence[int]) -> None:
        """A leader names a team."""
        if self._learned is not None:
            return self.add(self._learned.team(leader, team))
        if leader == self.seat:
            return None
        h = self.habits
        evil_on_team = self.evil[:, list(team)].sum(axis=1)
        clean = evil_on_team == 0
        dirty_likely = 1 - chance_clean(self.evil.shape[1], int(self.evil[0].sum()), len(team))
        by_evil = np.where(clean, 1 - h.evil_on_own_team, h.evil_on_own_team)
        by_merlin = np.where(clean, h.clean_team_merlin, 1 - h.clean_team_merlin)
        by_blind = np.where(clean, 1 - dirty_likely * 0.8, dirty_likely * 0.8)
        by_good = np.where(self.merlin[:, leader] == 1, by_merlin, by_blind)
        return self.add(np.log(np.where(self.evil[:, leader] == 1, by_evil, by_good)))

    def see_votes(self, team: Sequence[int], votes: Sequence[int], without: Sequence[int] = ()) -> None:
        """All votes on a team are shown, 1 for approval, in seat order; the votes of `without` are no evidence."""
        if self._learned is not None:
            return self.add(self._learned.votes(team, votes, without))
        h = self.habits
        dirty = self.evil[:, list(team)].sum(axis=1) > 0
        cast = np.array(votes, dtype=np.float64)
        others = np.arange(len(cast)) != self.seat  # to itself a seat's own vote tells nothing
        others[list(without)] = False
        knowing = 1 - self.merlin - self.blind  # evil, and sees its fellows
        evil = np.where(dirty, knowing @ (others * _log_vote(cast, h.approve_dirty_evil)), 0.0)
        evil += np.where(dirty, 0.0, knowing @ (others * _log_vote(cast, h.approve_clean_evil)))
        merlin = np.where(dirty, self.merlin @ (others * _log_vote(cast, h.approve_dirty_merlin)), 0.0)
        merlin += np.where(dirty, 0.0, self.merlin @ (others * _log_vote(cast, h.approve_clean_merlin)))
        return self.add(evil + merlin + self.blind @ (others * _log_vote(cast, h.approve_blind)))

    def see_cards(self, team: Sequence[int], fails: int, own_card: int | None) -> None:
        """The number of fail cards of a quest is shown; `own_card` (1/0) is the seat's own, if it was on the team."""
        if self._learned is not None:
            return self.add(self._learned.cards(team, fails, own_card))
        others = [j for j in team if j != self.seat]
        if own_card is not None and self.seat in team:
            fails -= 1 - own_card
        else:
            others = list(team)
        evil = self.evil[:, others].sum(axis=1).astype(int)
        chance = np.array([fails_chance(k, len(others) - k, fails, self.habits) for k in range(len(others) + 1)])
        return self.add(np.log(chance[evil]))

    def see_accusation(self, speaker: int, target: int) -> None:
        """A seat accuses another."""
        self._see_remark(speaker, target, self.habits.accuse_evil, self.habits.evil_accuses_evil)

    def see_defence(self, speaker: int, target: int) -> None:
        """A seat defends or recommends another."""
        self._see_remark(speaker, target, self.habits.defend_evil, self.habits.evil_defends_evil)

    def see_exposure(self, guesser: int, named: int, *, right: bool) -> None:
        """Whoever names Merlin, the Assassin as a rule, shows himself and names somebody."""
        is_guesser, is_merlin = may_name(self._key, self._guesser)[:, guesser] == 1, self.merlin[:, named] == 1
        self.add(np.where(is_guesser & (is_merlin == right), 0.0, -50.0))

    # -- the seat's own moves ----------------------------------------------------------------------------------

    def own_chances(self, kind: str, args: tuple[int, ...]) -> Array | None:
        """How likely the seat's own next team, vote or card is under each deal, by the habits, shape (H,).

        A team is evidence: with fixed rates, whether it is clean; with learned habits, the choice among all teams. None for
        other moves.
        """
        if kind not in (game.TEAM, game.BALLOT, game.CARD):
            return None
        if self._learned is not None:
            by_kind = {game.BALLOT: self._learned.own_vote, game.CARD: self._learned.own_card}
            return self._learned.own_team(args) if kind == game.TEAM else by_kind[kind](self.team, args[0])
        outside = self.copied()
        outside.seat = ONLOOKER  # to whom the seat's moves are evidence
        if kind == game.TEAM:
            outside.see_team(self.seat, args)
        elif kind == game.CARD:
            outside.see_cards((self.seat,), 1 - args[0], None)
        else:  # what the votes of all tell somebody else, less what they tell the seat: its own remains
            votes, own = (args[0],) * self.evil.shape[1], self.copied()
            outside.see_votes(self.team, votes)
            own.see_votes(self.team, votes)
            outside.log_weights = outside.log_weights - own.log_weights + self.log_weights
        return np.exp(outside.log_weights - self.log_weights)

    def _see_remark(self, speaker: int, target: int, by_good: float, by_evil: float) -> None:
        if speaker in (self.seat, target):
            return
        hits = np.where(self.evil[:, speaker] == 1, by_evil, by_good)
        self.add(np.log(np.where(self.evil[:, target] == 1, hits, 1 - hits)))


_SPOKEN = (*game.ACTS, game.TEAM)
"""What comes with words that all hear."""


def _log_vote(cast: Array, approve: float) -> Array:
    return cast * log(approve) + (1 - cast) * log(1 - approve)


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
