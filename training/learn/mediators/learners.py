"""On-line learners for the mediator's bandit: they see the utility of the action they took, and of no other.

In each round a question comes, its state is seen, one joint action is taken. Each state is a bandit of its own. Four
rules choose: tabular Q with epsilon-greedy (Sutton and Barto 2018, sections 2.3 to 2.5; falling epsilon as epsilon_n-greedy of
Auer, Cesa-Bianchi and Fischer 2002), UCB1 (the same paper, section 2), and Thompson sampling with a normal-inverse-gamma
prior (mean and variance unknown; Murphy 2007, "Conjugate Bayesian analysis of the Gaussian distribution", section 6).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
from parlour.policies.agents.mediated_qa.joint import trust_of
from parlour.training.learn.mediators.quantities import UtilityEstimate
from parlour.training.learn.mediators.table import Floats, UtilityTable


@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy:
    """Mostly the best action so far; sometimes one at random."""

    epsilon: float = 0.1
    """How often at random. With `falling`, epsilon * actions / rounds in the state, at most 1."""
    falling: bool = False
    step: float | None = None
    """How far an estimate moves towards a new utility; None for 1 / n, the plain average."""
    initial: float = 0.0
    """Estimate of an action that was not taken yet."""

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < math.inf or not (self.falling or self.epsilon <= 1):
            raise accept("epsilon", self.epsilon, "from 0 to 1; from 0 if it falls")
        if self.step is not None and not 0 < self.step <= 1:
            raise accept("step", self.step, "above 0, up to 1; or None")

    def choose(self, seen: Learner, state: int) -> int:
        """An action for a state."""
        actions, epsilon = seen.count.shape[1], self.epsilon
        if self.falling:
            epsilon = min(1.0, epsilon * actions / (1 + seen.count[state].sum()))
        return int(seen.rng.integers(actions)) if seen.rng.random() < epsilon else seen.best(seen.mean[state])


@dataclass(frozen=True, kw_only=True)
class UCB1:
    """The action whose mean could be highest: mean + spread * sqrt(2 ln(rounds) / n)."""

    spread: float = 170.0
    """Difference between the greatest and the least utility (GRACE: from -52 to 118)."""

    def __post_init__(self) -> None:
        if not 0 < self.spread < math.inf:
            raise accept("spread", self.spread, "a number above 0")

    def choose(self, seen: Learner, state: int) -> int:
        """An action for a state; every action once, in order, then by the bound."""
        count = seen.count[state]
        if not count.all():
            return int(np.argmin(count > 0))
        return seen.best(seen.mean[state] + self.spread * np.sqrt(2 * math.log(count.sum()) / count))


@dataclass(frozen=True, kw_only=True)
class Thompson:
    """The best action of a draw from what is believed: mean | variance ~ N(mean, variance / strength), variance ~ IG."""

    mean: float = 0.0
    strength: float = 0.1
    """How many utilities the prior mean counts for."""
    shape: float = 1.0
    scale: float = 1000.0
    """Scale of the inverse gamma prior of the variance; scale / shape is about a variance in utility squared."""

    def __post_init__(self) -> None:
        for name in ("strength", "shape", "scale"):
            if not 0 < getattr(self, name) < math.inf:
                raise accept(name, getattr(self, name), "a number above 0")

    def posterior(self, seen: Learner, state: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Mean, strength, shape and scale of each action's normal-inverse-gamma posterior (Murphy 2007, Eq. 85 to 89)."""
        n, sample = seen.count[state], seen.mean[state]
        strength = self.strength + n
        mean = (self.strength * self.mean + n * sample) / strength
        apart = self.strength * n * (sample - self.mean) ** 2 / strength
        return mean, strength, self.shape + n / 2, self.scale + (seen.squares[state] + apart) / 2

    def choose(self, seen: Learner, state: int) -> int:
        """An action for a state: the best of one draw from each posterior."""
        mean, strength, shape, scale = self.posterior(seen, state)
        variance = scale / seen.rng.gamma(shape)
        return seen.best(seen.rng.normal(mean, np.sqrt(variance / strength)))


@dataclass(frozen=True, kw_only=True)
class PooledThompson:
    """Thompson sampling in which states lean on their parents, as the values of a table do (`quantities`).

    A mean is drawn for all questions, from there for the states of equal trust, from there for the state: each normal about
    (n mean + strength parent) / (n + strength), with the variance of a utility over n + strength. The variance of an
    action is that among all its utilities in their states. So an action that fails everywhere is given up in a state
    where it was tried little.
    """

    strength: float = 3.0
    """How many utilities the parent's mean counts for."""
    spread: float = 50.0
    """Standard deviation of a utility before any is seen; it counts for two of them."""
    boldness: float = 0.7
    """Factor on the standard deviations of the draws: below 1 it settles sooner on what has been best."""

    def __post_init__(self) -> None:
        for name in ("strength", "spread", "boldness"):
            if not 0 < getattr(self, name) < math.inf:
                raise accept(name, getattr(self, name), "a number above 0")

    def choose(self, seen: Learner, state: int) -> int:
        """An action for a state: the best of one draw down the tree."""
        n, mean = seen.count, seen.mean
        variance = (2 * self.spread**2 + seen.squares.sum(axis=0)) / (2 + np.maximum(n.sum(axis=0) - len(n), 0))
        drawn = np.zeros(n.shape[1])
        alike = seen.parents == seen.parents[state]
        for level, strength in ((slice(None), 1.0), (alike, self.strength), (slice(state, state + 1), self.strength)):
            counts = n[level].sum(axis=0)
            total = counts + strength
            about = ((n[level] * mean[level]).sum(axis=0) + strength * drawn) / total
            drawn = seen.rng.normal(about, self.boldness * np.sqrt(variance / total))
        return seen.best(drawn)


Rule = EpsilonGreedy | UCB1 | Thompson | PooledThompson
EXPLORATION_RULES: Final[Mapping[str, type[Rule]]] = {
    "epsilon": EpsilonGreedy,
    "ucb": UCB1,
    "thompson": Thompson,
    "pooled": PooledThompson,
}
"""Name on the command line -> rule."""


class Learner:
    """The utilities seen so far, and the choice of a rule by them. All chance comes from `rng`.

    Args:
        rule: How to choose.
        states: Number of bandits.
        actions: Number of actions of each.
        rng: For draws and for ties.
        parents: Number of each state's parent, shape (states,); None: all have the same.
    """

    def __init__(
        self,
        rule: Rule,
        states: int,
        actions: int,
        rng: np.random.Generator,
        parents: Sequence[int] | None = None,
    ) -> None:
        self.rule, self.rng = rule, rng
        self.parents = np.zeros(states, dtype=np.int64) if parents is None else np.array(parents, dtype=np.int64)
        self.step = rule.step if isinstance(rule, EpsilonGreedy) else None
        self.count = np.zeros((states, actions), dtype=np.int64)
        self.mean = np.full((states, actions), rule.initial if isinstance(rule, EpsilonGreedy) else 0.0)
        self.squares = np.zeros((states, actions))

    def choose(self, state: int) -> int:
        """An action for a state."""
        return self.rule.choose(self, state)

    def update(self, state: int, action: int, utility: float) -> None:
        """Add the utility of an action (running mean and sum of squared deviations, after Welford; or steps of a size)."""
        place = state, action
        self.count[place] += 1
        before = utility - self.mean[place]
        if self.step is not None:
            self.mean[place] += self.step * before
            return
        self.mean[place] += before / self.count[place]
        self.squares[place] += before * (utility - self.mean[place])

    def best(self, scores: Floats) -> int:
        """The action with the greatest score; of equals one at random."""
        best = np.flatnonzero(scores == scores.max())
        return int(best[0] if len(best) == 1 else self.rng.choice(best))

    @property
    def value(self) -> Floats:
        """Estimate of each action, shape (states, actions); NaN where it was never taken."""
        return np.where(self.count > 0, self.mean, np.nan)

    def state_dict(self) -> dict[str, Any]:
        """All that changes, as plain values (exact: numbers are read back as they were)."""
        arrays = {name: getattr(self, name).tolist() for name in ("count", "mean", "squares")}
        return arrays | {"rng": self.rng.bit_generator.state}

    def load_state_dict(self, stored: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` gave. Raises `ParlourError` if the shapes are others."""
        for name in ("count", "mean", "squares"):
            own = getattr(self, name)
            array = np.array(stored[name], dtype=own.dtype)
            if array.shape != own.shape:
                raise accept("shape of a stored learner", array.shape, own.shape)
            setattr(self, name, array)
        self.rng.bit_generator.state = stored["rng"]


# -- learning from a table -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rounds:
    """What was done in some rounds; arrays of shape (rounds,)."""

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    utilities: Floats
    regrets: Floats
    """Average utility of the state's best action in the table, minus average utility of the action taken."""


class TableBandit:
    """A simulation table as a bandit: each round asks one of its questions, drawn at random.

    Args:
        table: Every question must have a utility for every action.

    Raises:
        ParlourError: A cell is missing.
    """

    def __init__(self, table: UtilityTable) -> None:
        if np.isnan(table.utilities).any():
            raise ParlourError(
                "on-line learning from a table with missing cells; accepted: one without, or method counts"
            )
        self.table = table
        self.states = tuple(dict.fromkeys(table.states))
        trusts = [trust_of(state) for state in self.states]
        self.parents = tuple(trusts.index(trust) for trust in trusts)
        """Of each state the number of the first with equal trust."""
        self.state_of = np.array([self.states.index(state) for state in table.states])
        self.means = np.array([table.utilities[self.state_of == k].mean(axis=0) for k in range(len(self.states))])

    def play(self, learner: Learner, rounds: int, rng: np.random.Generator) -> Rounds:
        """Let a learner choose and learn; `rng` draws the questions."""
        asked = rng.integers(len(self.table), size=rounds)
        states = self.state_of[asked]
        actions, utilities = np.zeros(rounds, dtype=np.int64), np.zeros(rounds)
        for k, (question, state) in enumerate(zip(asked.tolist(), states.tolist(), strict=True)):
            action = learner.choose(state)
            utility = float(self.table.utilities[question, action])
            learner.update(state, action, utility)
            actions[k], utilities[k] = action, utility
        regrets = self.means[states].max(axis=1) - self.means[states, actions]
        return Rounds(states, actions, utilities, regrets)

    def estimate(self, learner: Learner) -> UtilityEstimate:
        """What the learner believes, for a policy; states it never met are left out."""
        met = learner.count.sum(axis=1) > 0
        states = tuple(state for state, seen in zip(self.states, met, strict=True) if seen)
        return UtilityEstimate(states, self.table.actions, learner.value[met])
