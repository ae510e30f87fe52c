"""What a clone is compared with on games that none of them was learned from; all learn from the same training games.

* clone: the network; *clone, unheard*: the same network as if nothing had been said
* logistic: the same features without hidden units, with weights of each group drawn to common ones (a hierarchical logit)
* heuristic: how often the heuristic of parlour chose each move at the same View (`DRAWS`), mixed with even chances; the share
  of even chances is the one by which the training games are likeliest, so no recorded move is impossible
* heuristic, aided: mixed with the frequencies below instead
* habits: `AvalonHabits` with what the seat itself knows of the team; votes and cards only
* frequency: how often seats of the role chose a move of the sort in the training games, one more of each sort; even within it
* chance: all legal moves alike
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from parlour.policies.cloned.network import ChoiceHead
from parlour.policies.cloned.record import Array
from parlour.training.avalon.clone.choices import ImitatedChoice, Rows
from parlour.training.avalon.clone.config import FitConfig
from parlour.training.avalon.clone.fit import fit, unheard

CLONE, UNHEARD, LOGISTIC, HEURISTIC, AIDED, HABITS, FREQUENCY, CHANCE = MODELS = (
    "clone",
    "clone, unheard",
    "logistic",
    "heuristic",
    "heuristic, aided",
    "habits",
    "frequency",
    "chance",
)
_ROUNDS: Final = 60
"""Of expectation maximisation for one share."""

Model = Callable[[ImitatedChoice], Array]
"""The chances of the legal moves, shape (moves,); an empty array where it says nothing."""


def learned(choices: Sequence[ImitatedChoice], config: FitConfig) -> dict[str, Model]:
    """All models for one kind of decision, by name.

    Args:
        choices: Of the training games; at least one, all of one kind.
        config: Of the clone.
    """
    head, logistic = fit(choices, config), fit(choices, replace(config, hidden=0))
    frequency = _frequency(choices)
    return {
        CLONE: lambda one: _by_head(head, one, one.rows),
        UNHEARD: lambda one: _by_head(head, one, unheard(one.kind, one.rows)),
        LOGISTIC: lambda one: _by_head(logistic, one, one.rows),
        HEURISTIC: _mixed(choices, _chance),
        AIDED: _mixed(choices, frequency),
        HABITS: lambda one: one.habits,
        FREQUENCY: frequency,
        CHANCE: _chance,
    }


def _by_head(head: ChoiceHead, one: ImitatedChoice, rows: Rows) -> Array:
    return head.chances(rows.astype(np.float64), one.group)


def _chance(one: ImitatedChoice) -> Array:
    return np.full(len(one.taken), 1 / len(one.taken))


def _frequency(choices: Sequence[ImitatedChoice]) -> Model:
    sorts = 1 + max(int(one.sorts.max()) for one in choices)
    counted: dict[str, Array] = {}
    for one in choices:
        counted.setdefault(one.role, np.ones(sorts))
        np.add.at(counted[one.role], one.sorts, one.taken)

    def model(one: ImitatedChoice) -> Array:
        of_role = counted.get(one.role, np.ones(sorts))
        of_sort = np.append(of_role, np.ones(max(0, int(one.sorts.max()) + 1 - sorts)))
        weights = of_sort[one.sorts] / np.bincount(one.sorts)[one.sorts]
        chances: Array = weights / weights.sum()
        return chances

    return model


def _mixed(choices: Sequence[ImitatedChoice], other: Model) -> Model:
    """The heuristic's draws with a share of another model, by which these choices are likeliest."""
    weights = np.concatenate([one.taken[one.taken > 0] for one in choices])
    drawn = np.concatenate([one.heuristic[one.taken > 0] for one in choices])
    mixed_in = np.concatenate([other(one)[one.taken > 0] for one in choices])
    share = 0.5
    for _ in range(_ROUNDS):
        from_other = share * mixed_in / (share * mixed_in + (1 - share) * drawn)
        share = float(from_other @ weights / weights.sum())
    return lambda one: (1 - share) * one.heuristic + share * other(one)
