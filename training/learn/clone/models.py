"""How the models of `model_names` are learned from choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from parlour.policies.cloned.network import ChoiceHead
from parlour.policies.cloned.record import Array
from parlour.training.learn.clone.choices import ImitatedChoice, Rows
from parlour.training.learn.clone.config import FitConfig
from parlour.training.learn.clone.fit import fit, unheard
from parlour.training.learn.clone.model_names import (
    AIDED,
    CHANCE,
    CLONE,
    FREQUENCY,
    HABITS,
    HEURISTIC,
    LOGISTIC,
    UNHEARD,
    Model,
)

_ROUNDS: Final = 60
"""Of expectation maximisation for one share."""


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
