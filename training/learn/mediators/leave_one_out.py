"""What is learned from a small simulation table, on questions that it was not learned from: each is left out once.

For tables such as the published one of GRACE (20 questions, three states, no raw signals): nothing but the shrinkage of its states
can be learned from them, and a mean over the questions that chose an action tells nothing of that action.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from parlour.envs.core import ParlourError
from parlour.training.learn.mediators.quantities import Shrinkage, estimate, measure
from parlour.training.learn.mediators.table import Floats, UtilityTable


def in_sample_static(table: UtilityTable) -> Floats:
    """What the action with the highest mean earns on the questions that chose it; shape (questions,)."""
    return np.asarray(table.utilities[:, _best(table)])


def left_out_static(table: UtilityTable) -> Floats:
    """What the action with the highest mean over the other questions earns on each; of equals the first."""
    return _left_out(table, lambda rest, _state: _best(rest))


def left_out_greedy(table: UtilityTable, shrinkage: Shrinkage = 0.0) -> Floats:
    """What the action with the highest value in its state, over the other questions, earns on each.

    Args:
        table: Every cell must be filled.
        shrinkage: Of the states, as `quantities.estimate` has it. Without any, a state that no other question is in has no
            value: the action with the highest mean is taken.
    """

    def chosen(rest: UtilityTable, state: str) -> int:
        found = estimate(measure(rest), shrinkage)
        return int(np.argmax(found.value[found.states.index(state)])) if state in found.states else _best(rest)

    return _left_out(table, chosen)


def _best(table: UtilityTable) -> int:
    return int(np.argmax(table.utilities.mean(axis=0)))


def _left_out(table: UtilityTable, chosen: Callable[[UtilityTable, str], int]) -> Floats:
    if len(table) < 2 or np.isnan(table.utilities).any():
        raise ParlourError("leaving one question out; accepted: a table of two questions or more, without empty cells")
    every = range(len(table))
    rests = (table.rows([other for other in every if other != left]) for left in every)
    picked = [chosen(rest, state) for rest, state in zip(rests, table.states, strict=True)]
    return np.asarray(table.utilities[np.arange(len(table)), picked])
