"""Conduct fitted to recorded choices: maximum a posteriori in log-odds, by number of players, with a part that all share.

The coefficients of a table of n are `shared + own[n]`. The shared part has a normal prior around today's fixed rates, the own part
one around zero; so six to ten players borrow from five as far as they have few games of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from parlour.envs.avalon.deals import Array
from parlour.envs.avalon.habits import (
    CARD_TERMS,
    LEADERS,
    TEAM_TERMS,
    AvalonHabits,
    Conduct,
    Terms,
)
from parlour.envs.avalon.presets import PLAYERS
from parlour.training.learn.habits.avalon.cases import Cases, RecordedChoice
from parlour.training.learn.habits.avalon.priors import Widths, by_table, odds, one_hot
from parlour.training.learn.habits.avalon.votes import fit_votes


def fit(found: Cases, widths: Widths) -> dict[int, Conduct]:
    """Number of players -> conduct, for all numbers of players."""
    votes = fit_votes(found.votes, widths)
    teams = {kind: _fit(found.teams[kind], _team_prior(kind), widths) for kind in LEADERS if kind != "Oberon"}
    teams["Oberon"] = _fit(found.teams["Oberon"], _mean(teams["good"]), widths)
    cards = _fit(found.cards, one_hot(CARD_TERMS, always=odds(AvalonHabits().fail)), widths)
    joins = _fit(found.joins, (odds(AvalonHabits().fail),), widths)
    return {n: Conduct(votes[n], tuple(teams[kind][n] for kind in LEADERS), cards[n], joins[n][0]) for n in PLAYERS}


def _mean(found: Mapping[int, Terms]) -> Terms:
    return tuple(float(one) for one in np.mean(list(found.values()), axis=0))


def _team_prior(kind: str) -> Terms:
    habits = AvalonHabits()
    even = 0.7  # of the teams drawn at random that have an evil member, at the smallest table
    rate = {"evil": habits.evil_on_own_team, "Merlin": 1 - habits.clean_team_merlin, "good": even}[kind]
    return one_hot(TEAM_TERMS, dirty=odds(rate) - odds(even))


def _fit(cases: Sequence[RecordedChoice], prior: Terms, widths: Widths) -> dict[int, Terms]:
    """Number of players -> coefficients."""
    groups = [_Group([case for case in cases if case.players == n]).loss for n in PLAYERS]
    return dict(zip(PLAYERS, by_table(groups, prior, widths), strict=True))


class _Group:
    """The cases of one number of players; those with as many options in one array."""

    def __init__(self, cases: Sequence[RecordedChoice]) -> None:
        by_options: dict[int, list[RecordedChoice]] = {}
        for case in cases:
            by_options.setdefault(len(case.terms), []).append(case)
        self._parts = [
            (np.stack([case.terms for case in some]), np.array([case.chosen for case in some]))
            for _, some in sorted(by_options.items())
        ]

    def loss(self, coefficients: Array) -> tuple[float, Array]:
        """- log likelihood and its gradient."""
        total, gradient = 0.0, np.zeros(len(coefficients))
        for terms, chosen in self._parts:
            value, slope = (
                _yes_or_no(terms[:, 0], chosen, coefficients)
                if terms.shape[1] == 1
                else _choice(terms, chosen, coefficients)
            )
            total += value
            gradient += slope
        return total, gradient


def _yes_or_no(terms: Array, chosen: Array, coefficients: Array) -> tuple[float, Array]:
    logits = terms @ coefficients
    value = float(np.logaddexp(0.0, logits).sum() - logits @ chosen)
    return value, (1 / (1 + np.exp(-logits)) - chosen) @ terms


def _choice(terms: Array, chosen: Array, coefficients: Array) -> tuple[float, Array]:
    logits = terms @ coefficients
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    rows = np.arange(len(chosen))
    value = -float(np.log(weights[rows, chosen]).sum())
    slope = np.einsum("ct,ctf->f", weights, terms) - terms[rows, chosen].sum(axis=0)
    return value, slope
