"""Q-hat: what each joint action earns on average in each state, how surely, and how thin states lean on their parents.

Q-hat(s, a) is the mean net utility over the calibration questions in state s on which a was tried (Nguyen's GRACE,
section 3.3). A state with few questions may be shrunk towards its parent, all states of equal trust T, and that towards
all questions, by credibility weights: estimate = (n * mean + k * parent) / (n + k), where k counts pseudo-questions. k is
a setting, or is estimated by empirical Bayes after Buehlmann and Straub (1970, "Glaubwuerdigkeit fuer Schadensaetze"):
the variance among the questions of a state, divided by the variance among the states' true means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import accept
from parlour.policies.agents.mediated_qa.joint import STATES, Joint, trust_of
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.statistics import margin
from pydantic import Field

Shrinkage = Annotated[float, Field(ge=0)] | Literal["auto"]


@dataclass(frozen=True, eq=False)
class Quantities:
    """Means with counts and intervals; arrays of shape (states, actions)."""

    states: tuple[str, ...]
    """In the order in which they first appear in the table."""
    actions: tuple[Joint, ...]
    questions: NDArray[np.int64]
    """Rows of the table in each state, shape (states,)."""
    count: NDArray[np.int64]
    """On how many of them the action was tried."""
    mean: Floats
    """Q-hat; NaN where the action was never tried."""
    squares: Floats
    """Sums of squared deviations from the mean."""
    low: Floats
    """Interval at 95 % for the mean; NaN where there is none."""
    high: Floats


@dataclass(frozen=True, eq=False)
class UtilityEstimate:
    """What the policy is made from."""

    states: tuple[str, ...]
    actions: tuple[Joint, ...]
    value: Floats
    """Shape (states, actions); NaN where nothing is known."""
    strength: tuple[float, float] = (0.0, 0.0)
    """Pseudo-questions that tie a state to its trust level, and a trust level to all questions."""

    @property
    def known(self) -> dict[str, dict[Joint, float]]:
        """State -> joint action -> value, where one is known; a state without any is left out."""
        rows = zip(self.states, self.value.tolist(), strict=True)
        known = {s: {a: v for a, v in zip(self.actions, row, strict=True) if not math.isnan(v)} for s, row in rows}
        return {state: row for state, row in known.items() if row}


def measure(table: UtilityTable) -> Quantities:
    """Count and average a table."""
    states = tuple(dict.fromkeys(table.states))
    number = {state: k for k, state in enumerate(states)}
    where = np.array([number[state] for state in table.states])
    groups = [table.utilities[where == k] for k in range(len(states))]
    parts = [_group(group) for group in groups]
    count, mean, squares, error = (np.array(part) for part in zip(*parts, strict=True))
    half = margin(error, count)
    questions = np.array([len(group) for group in groups])
    return Quantities(states, table.actions, questions, count, mean, squares, mean - half, mean + half)


def _group(utilities: Floats) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """Counts, means, sums of squares, and standard errors of the means, by columns; shape (actions,)."""
    count = np.sum(~np.isnan(utilities), axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(utilities, axis=0) / count
    squares = np.nansum((utilities - mean) ** 2, axis=0)
    differ = np.fmax.reduce(utilities, axis=0) > np.fmin.reduce(utilities, axis=0)
    freedom = np.maximum(count - 1, 1)
    return count, mean, squares, np.where(differ, np.sqrt(squares / freedom / np.maximum(count, 1)), 0.0)


# -- shrinkage -------------------------------------------------------------------------------------------------


def estimate(means: Quantities, shrinkage: Shrinkage = 0.0) -> UtilityEstimate:
    """Values for the policy.

    Args:
        means: The means.
        shrinkage: 0 takes the means as they are, and only states with data. A positive number, in pseudo-questions, or
            `"auto"` shrinks, and gives each of the nine states a row: one without data gets its parent's.

    Raises:
        ParlourError: `shrinkage` is something else.
    """
    number = isinstance(shrinkage, int | float) and not isinstance(shrinkage, bool)
    if shrinkage != "auto" and not (number and 0 <= shrinkage < math.inf):
        raise accept("shrinkage", shrinkage, "a number of pseudo-questions from 0, or auto")
    if shrinkage == 0:
        return UtilityEstimate(means.states, means.actions, means.mean)
    strength = _credibility(means) if shrinkage == "auto" else (float(shrinkage), float(shrinkage))
    states = (*means.states, *(state for state in STATES if state not in means.states))
    values = np.array([_shrunk(means, state, strength) for state in states])
    return UtilityEstimate(states, means.actions, values, strength)


class _Cells(NamedTuple):
    """Counts, means and sums of squared deviations, shape (groups, actions) or (actions,)."""

    n: NDArray[np.int64]
    mean: Floats
    squares: Floats

    def merged(self) -> _Cells:
        """All groups as one. A mean over nothing is NaN."""
        n = self.n.sum(axis=0)
        own = np.where(self.n > 0, self.mean, 0.0)
        with np.errstate(invalid="ignore"):
            mean = np.sum(self.n * own, axis=0) / n
        between = np.sum(np.where(self.n > 0, self.n * (own - mean) ** 2, 0.0), axis=0)
        return _Cells(n, mean, self.squares.sum(axis=0) + between)


def _of(means: Quantities, chosen: list[bool]) -> _Cells:
    return _Cells(means.count[chosen], means.mean[chosen], means.squares[chosen])


def _shrunk(means: Quantities, state: str, strength: tuple[float, float]) -> Floats:
    """The row of a state; strength: towards its parent (all questions, if it has no trust), and of its trust level."""
    trust = trust_of(state)
    value = _of(means, [True] * len(means.states)).merged().mean
    if trust is not None:
        level = _of(means, [trust_of(other) == trust for other in means.states]).merged()
        value = _lean(level, value, strength[1])
    return _lean(_of(means, [other == state for other in means.states]).merged(), value, strength[0])


def _lean(own: _Cells, parent: Floats, strength: float) -> Floats:
    """(n mean + k parent) / (n + k); the parent where n is 0."""
    weight = np.where(own.n > 0, own.n / (np.maximum(own.n, 1) + strength), 0.0)
    return np.where(weight > 0, weight * own.mean, 0.0) + np.where(weight < 1, (1 - weight) * parent, 0.0)


def _credibility(means: Quantities) -> tuple[float, float]:
    """The k of both levels; one for all actions: they were tried on the same questions, and only differences matter."""
    trusts = [trust_of(state) for state in means.states]
    levels = [_of(means, [same == trust for same in trusts]) for trust in dict.fromkeys(trusts) if trust is not None]
    if not levels:
        return 0.0, 0.0
    above = _Cells(*(np.array(part) for part in zip(*(level.merged() for level in levels), strict=True)))
    return _ratio(sum(map(_moments, levels), start=np.zeros(5))), _ratio(_moments(above))


def _moments(groups: _Cells) -> Floats:
    """Sums over actions: squares and freedom within groups, squares and freedom between, weight of the variance."""
    every = groups.merged()
    tried = np.sum(groups.n > 0, axis=0)
    between = every.squares - groups.squares.sum(axis=0)
    share = np.sum(groups.n**2, axis=0) / np.maximum(every.n, 1)
    return np.array(
        [
            groups.squares.sum(),
            np.maximum(groups.n - 1, 0).sum(),
            between.sum(),
            np.maximum(tried - 1, 0).sum(),
            (every.n - share).sum(),
        ]
    )


def _ratio(moments: Floats) -> float:
    """Noise over variance between; 0 where there is but one group, 1 where no group tells how noisy it is."""
    within, freedom, between, groups, weight = moments.tolist()
    if weight <= 0:
        return 0.0
    if freedom == 0:
        return 1.0
    noise = within / freedom
    variance = (between - groups * noise) / weight
    if noise == 0:
        return 0.0
    return noise / variance if variance > 0 else math.inf
