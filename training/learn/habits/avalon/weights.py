"""How much each kind of evidence should count: weights under which beliefs of games not learned from lose least.

Votes of one table agree for reasons that no term knows of (what was said, habit), and naive Bayes counts each of them in full. So
log likelihoods are multiplied by a weight for each kind of evidence, fitted by the loss of the true evil side. The conduct by which
a game is read must not have been learned from that game: `validate.py` sees to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.deals import Array, tables
from parlour.envs.avalon.habits import AvalonHabits, ClaimHabits, Conduct, LearnedHabits, Weights
from parlour.envs.avalon.likelihoods import Likelihoods
from parlour.envs.avalon.presets import PLAYERS
from parlour.training.learn.habits.avalon.games import PublicGame
from parlour.training.learn.habits.avalon.priors import Loss, Widths, by_table
from parlour.training.learn.habits.avalon.words import SPOKEN


class EvidenceWeights(NamedTuple):
    """How much each kind of evidence counts."""

    votes: float
    teams: float
    cards: float
    words: float


KINDS = EvidenceWeights._fields
_PRIOR = (0.0, 0.0, 0.0, log(0.5))
"""Logarithms around which those of the weights lie."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for each deal after each quest of one game, by kind of evidence."""

    players: int
    logs: Array
    """Log likelihoods, shape (quests, kinds, H)."""
    true: Array
    """1 for the deals with the true evil side, shape (H,)."""


def evidence(record: PublicGame, conduct: Conduct, claimed: ClaimHabits | None = None) -> Evidence:
    """Read one game by conduct, and its words by claim habits, every kind of evidence by itself."""
    key = record.key()
    unweighed = None if claimed is None else replace(claimed, weight=1.0)
    likely = Likelihoods(key, replace(conduct, weights=Weights()), AvalonHabits(), unweighed)
    true = (tables(key).evil == record.evil).all(axis=1).astype(np.float64)
    total, found = np.zeros((len(KINDS), len(true))), []
    team: tuple[int, ...] = ()
    for seat, (kind, args, words), _ in record.events:
        if words and kind in SPOKEN:
            total[KINDS.index("words")] += likely.words(seat, words, reason=kind == game.TEAM)
        if kind == game.LEADS:
            likely.lead(args[0])
        elif kind == game.TEAM:
            team = args
            total[KINDS.index("teams")] += likely.team(seat, team)
        elif kind == game.VOTES:
            total[KINDS.index("votes")] += likely.votes(team, args[1:])
        elif kind == game.FAILS:
            total[KINDS.index("cards")] += likely.cards(team, args[1], None)
        elif kind == game.SCORE:
            likely.public.score(*args)
            found.append(total.copy())
    return Evidence(record.players, np.array(found).reshape(len(found), len(KINDS), len(true)), true)


def fit_weights(found: Sequence[Evidence], widths: Widths) -> dict[int, EvidenceWeights]:
    """Number of players -> weights; their logarithms have the priors."""
    losses = [_loss([one for one in found if one.players == n]) for n in PLAYERS]
    fitted = by_table(losses, _PRIOR, widths)
    return {
        n: EvidenceWeights(*(float(np.exp(one)) for one in terms)) for n, terms in zip(PLAYERS, fitted, strict=True)
    }


def _loss(found: Sequence[Evidence]) -> Loss:
    def loss(logs: Array) -> tuple[float, Array]:
        weights = np.exp(logs)
        total, slope = 0.0, np.zeros(len(KINDS))
        for one in found:
            weighed = np.einsum("k,qkh->qh", weights, one.logs)
            for quest, odds in enumerate(weighed):
                of_all, of_true = _share(odds), _share(np.where(one.true == 1, odds, -np.inf))
                total += of_all[0] - of_true[0]
                slope += one.logs[quest] @ (of_all[1] - of_true[1])
        return total, slope * weights

    return loss


def _share(odds: Array) -> tuple[float, Array]:
    """Log of the sum of the exponentials, and the share of each in it."""
    top = float(odds.max())
    weights = np.exp(odds - top)
    total = float(weights.sum())
    return top + float(np.log(total)), weights / total


def weighed(conduct: Conduct, claimed: ClaimHabits | None, weights: EvidenceWeights) -> LearnedHabits:
    """Habits with weights."""
    return LearnedHabits(
        conduct=replace(conduct, weights=Weights(weights.votes, weights.teams, weights.cards)),
        words=None if claimed is None else replace(claimed, weight=weights.words),
    )
