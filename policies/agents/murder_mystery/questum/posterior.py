"""What a seat believes of who did it: the worlds that agree with what it heard and knows, and what a question may change.

Ours; the solver that proves cases (`envs.murder_mystery.belief`) is the model of the world. What enters is what the seat may
know: the briefing, its own script, and what it heard. Chances of answers follow from how riddles are made, which is no
secret: of every innocent somebody knows something that clears it (a sighting, no access, peace), of the murderer somebody
knows that he was there, and who did it tells neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.murder_mystery import belief
from parlour.envs.murder_mystery.belief import PUBLIC, World
from parlour.policies.agents.murder_mystery.evidence import SourcedFact

MOTIVE: Final = 2.0
"""Likelihood ratio of guilt for a seat with a reported motive; set by hand, not fitted."""
ACCESS: Final = 1.5
"""The same of access to the means."""
_LEAST: Final = 1e-9

Chances = Mapping[int, float]
"""Seat -> a probability; of what, the name says."""


class Prospect(NamedTuple):
    """What an answer may bring, for each seat that can have done it."""

    clears: Chances
    """If the seat is innocent and who answers is honest: that it is cleared."""
    shows: Chances
    """If the seat did it, and who answers is honest: that it is shown."""


class Beliefs(NamedTuple):
    """The worlds that agree with what a seat knows, and how likely each is; the probabilities sum to 1."""

    worlds: tuple[World, ...]
    weights: NDArray[np.float64]

    @property
    def chances(self) -> dict[int, float]:
        """The probability of each murderer of these worlds, in order of seats."""
        by_murderer: dict[int, float] = {}
        for world, weight in zip(self.worlds, self.weights.tolist(), strict=True):
            by_murderer[world.murderer] = by_murderer.get(world.murderer, 0.0) + weight
        return dict(sorted(by_murderer.items()))

    def doubt(self, seat: int) -> dict[int, float]:
        """For each murderer the probability that the words of a seat count for nothing, if he did it."""
        now, bad = self.chances, dict.fromkeys((world.murderer for world in self.worlds), 0.0)
        for world, weight in zip(self.worlds, self.weights.tolist(), strict=True):
            bad[world.murderer] += weight * (world.bad >> seat & 1)
        return {murderer: bad[murderer] / p if p > 0 else 0.0 for murderer, p in now.items()}


def believed(statements: Iterable[SourcedFact], seats: int, victim: int, me: int, liars: int) -> Beliefs:
    """What follows from what a seat heard and knows; if no world agrees with it, all of them count.

    Args:
        statements: What the seat heard and knows.
        seats: How many play.
        victim: Person number.
        me: The own seat, which did not do it; what it knows itself is certain. -1 for what the table as a whole believes.
        liars: How many others who did not do it may lie.
    """
    testimony = [
        (PUBLIC if teller == me else teller, fact)
        for fact, teller, sure, about in statements
        if sure or (about == victim and teller != me)
    ]
    every = [world for world in belief.worlds(seats, liars) if me < 0 or not world.bad >> me & 1]
    left = list(belief.consistent(belief.clauses(testimony, victim), every)) or every
    likelihood = _Likelihood(testimony, victim)
    weights = np.array([likelihood.of(world) for world in left])
    return Beliefs(tuple(left), weights / weights.sum())


class _Likelihood:
    """How likely what honest seats tell of reason and access is, if the murderer of a world did it."""

    def __init__(self, testimony: Sequence[belief.Told], victim: int) -> None:
        self._motives: dict[int, list[int]] = {}
        self._access: dict[int, list[tuple[int, int]]] = {}
        self._deadly: list[tuple[int, int]] = []
        for teller, (kind, args) in testimony:
            bit = 0 if teller == PUBLIC else 1 << teller
            if kind == "motive" and args[2] == victim:
                self._motives.setdefault(args[0], []).append(bit)
            elif kind == "had":
                self._access.setdefault(args[0], []).append((bit, args[1]))
            elif kind == "died" and args[0] == victim:
                self._deadly.append((bit, args[3]))

    def of(self, world: World) -> float:
        murderer, bad = world
        motive = any(not bit & bad for bit in self._motives.get(murderer, ()))
        deadly = {means for bit, means in self._deadly if not bit & bad}
        access = any(not bit & bad and means in deadly for bit, means in self._access.get(murderer, ()))
        return (MOTIVE if motive else 1.0) * (ACCESS if access else 1.0)


def uncertainty(weights: Chances) -> float:
    """Entropy of a distribution, in nats.

    >>> round(uncertainty({0: 0.5, 1: 0.5}), 4)
    0.6931
    """
    return -sum(p * math.log(p) for p in weights.values() if p > 0)


def expected_fall(now: Chances, target: int, prospect: Prospect, doubt: float | Chances = 0.0) -> float:
    """By how much an answer is expected to bring down the entropy over who did it, in nats; 0 or more.

    >>> sure = Prospect({1: 1.0, 2: 1.0}, {1: 0.0, 2: 0.0})  # clears whoever is innocent
    >>> round(expected_fall({1: 0.5, 2: 0.5}, 0, sure), 4)
    0.6931
    >>> expected_fall({1: 0.5, 2: 0.5}, 0, Prospect({1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0}))
    0.0

    Args:
        now: The probability of each other seat to have done it.
        target: Who is asked; if it did it, it tells nothing of the sort.
        prospect: What the answer may bring.
        doubt: The probability that who is asked lies though it did not do it; or that for each seat that may have done it.
    """
    seats = [seat for seat, p in now.items() if p > _LEAST]
    asked = [seat for seat in seats if prospect.clears.get(seat, 0.0) > 0]
    outcomes = _outcomes(len(asked))
    clears = np.array([prospect.clears[seat] for seat in asked])
    if_open = np.where(outcomes, clears, 1 - clears)
    joint = np.empty((len(outcomes), len(seats)))
    for column, murderer in enumerate(seats):
        lies = 1.0 if murderer == target else doubt.get(murderer, 0.0) if isinstance(doubt, Mapping) else doubt
        likely = if_open
        if murderer == target:
            likely = np.where(outcomes, 0.0, 1.0)
        elif murderer in asked:
            own, likely = asked.index(murderer), if_open.copy()
            likely[:, own] = np.where(outcomes[:, own], lies * clears[own], 1 - lies * clears[own])
        shown = (1 - lies) * prospect.shows.get(murderer, 0.0)
        joint[:, column] = now[murderer] * (1 - shown) * likely.prod(axis=1)
    return max(0.0, uncertainty(now) - _entropy(joint))  # shown: nothing is left to be learned


@lru_cache(maxsize=16)
def _outcomes(count: int) -> NDArray[np.bool_]:
    """All rows of `count` truth values."""
    return np.array(list(product((False, True), repeat=count)), bool).reshape(2**count, count)


def _entropies(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """-p ln p of each; 0 for 0."""
    return -p * np.log(np.where(p > 0, p, 1.0))


def _entropy(joint: NDArray[np.float64]) -> float:
    """Of the columns given the row, in nats, from joint probabilities, which need not sum to 1."""
    total = joint.sum(axis=1)
    return float(_entropies(joint).sum() - _entropies(total).sum())


def event_gains(beliefs: Beliefs, likelihood: NDArray[np.float64]) -> tuple[float, float]:
    """What knowing whether something happens is expected to tell, in nats: of who did it, and of who else lies given that.

    Args:
        beliefs: What is believed now.
        likelihood: In each world, that it happens; shape (worlds,).
    """
    joint = np.stack([beliefs.weights * likelihood, beliefs.weights * (1 - likelihood)])
    murderers = np.array([world.murderer for world in beliefs.worlds])
    by_murderer = np.stack([joint[:, murderers == murderer].sum(axis=1) for murderer in np.unique(murderers)], axis=1)
    everything = float(_entropies(beliefs.weights).sum()) - _entropy(joint)
    who = uncertainty(beliefs.chances) - _entropy(by_murderer)
    return max(0.0, who), max(0.0, everything - who)
