"""How seats vote, fitted to all votes on each team at once: they share a mood that no record tells, which is summed over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from parlour.envs.avalon.conduct import MOOD_SHARES, MOODS, over_moods
from parlour.envs.avalon.deals import Array
from parlour.envs.avalon.habits import VOTE_TERMS, VOTERS, AvalonHabits, Terms
from parlour.envs.avalon.presets import PLAYERS
from parlour.training.learn.habits.avalon.cases import Ballot
from parlour.training.learn.habits.avalon.priors import Widths, by_table, odds, one_hot

_GOOD, _OBERON = VOTERS.index("good"), VOTERS.index("Oberon")
MOOD = 0.5
"""Where the prior of the mood's coefficient lies: at zero it could not be told apart from its negative."""


def fit_votes(found: Sequence[Ballot], widths: Widths) -> dict[int, tuple[Terms, ...]]:
    """Number of players -> coefficients by `VOTERS`. Oberon's prior lies at the good seats'."""
    losses = [_Votes([one for one in found if one.players == n]).loss for n in PLAYERS]
    prior = tuple(term for kind in VOTERS for term in _prior(kind))
    fitted = by_table(losses, prior, widths)
    return {n: _by_kind(np.array(terms)) for n, terms in zip(PLAYERS, fitted, strict=True)}


def _prior(kind: str) -> Terms:
    habits = AvalonHabits()
    rate = {
        "evil, dirty": habits.approve_dirty_evil,
        "evil, clean": habits.approve_clean_evil,
        "Merlin, dirty": habits.approve_dirty_merlin,
        "Merlin, clean": habits.approve_clean_merlin,
        "good": habits.approve_blind,
    }
    return one_hot(VOTE_TERMS, always=odds(rate[kind]), mood=MOOD) if kind in rate else (0.0,) * len(VOTE_TERMS)


def _split(packed: Array) -> Array:
    """Coefficients by `VOTERS`, shape (kinds, terms): Oberon's are packed as their difference to the good seats'."""
    rows = packed.reshape(len(VOTERS), -1).copy()
    rows[_OBERON] += rows[_GOOD]
    return rows


def _by_kind(packed: Array) -> tuple[Terms, ...]:
    return tuple(tuple(float(one) for one in row) for row in _split(packed))


class _Votes:
    """The ballots of one number of players, one voter a row."""

    def __init__(self, found: Sequence[Ballot]) -> None:
        self._empty = not found
        if not self._empty:
            self._terms = np.concatenate([one.terms for one in found])
            self._cast = np.concatenate([np.array(one.votes, dtype=np.float64) for one in found])
            kinds = np.concatenate([np.array(one.kinds) for one in found])
            self._kinds = np.arange(len(VOTERS)) == kinds[:, None]
            self._which = kinds
            counts = np.array([len(one.votes) for one in found])
            self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
            self._ballot = np.repeat(np.arange(len(found)), counts)

    def loss(self, packed: Array) -> tuple[float, Array]:
        """- log likelihood and its gradient."""
        if self._empty:
            return 0.0, np.zeros_like(packed)
        rows = _split(packed)[self._which]
        logits = np.einsum("vt,vt->v", self._terms, rows)[:, None] + rows[:, -1:] * MOODS
        signed = np.where(self._cast[:, None] == 1, logits, -logits)
        by_mood = np.add.reduceat(-np.logaddexp(0.0, -signed), self._starts, axis=0)
        total = over_moods(by_mood)
        shares = np.exp(by_mood - total[:, None]) * MOOD_SHARES
        wrong = (1 / (1 + np.exp(-logits)) - self._cast[:, None]) * shares[self._ballot]
        slope = (wrong.sum(axis=1)[:, None] * self._terms).T @ self._kinds
        slope[-1] = (wrong @ MOODS) @ self._kinds
        slope[:, _GOOD] += slope[:, _OBERON]
        return -float(total.sum()), slope.T.ravel()
