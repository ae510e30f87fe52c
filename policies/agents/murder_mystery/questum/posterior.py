"""What a seat believes of who did it: the worlds that agree with what it heard and knows, and what a question may change.

Ours; the solver that proves cases (`envs.murder_mystery.belief`) is the model of the world. What enters is what the seat may
know: the briefing, its own script, and what it heard. Chances of answers follow from how riddles are made, which is no
secret: of every innocent somebody knows something that clears it (a sighting, no access, peace), of the murderer somebody
knows that he was there, and who did it tells neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Final, NamedTuple

from parlour.envs.murder_mystery import belief
from parlour.envs.murder_mystery.belief import PUBLIC
from parlour.policies.agents.murder_mystery.evidence import Told

MOTIVE: Final = 2.0
"""How much likelier a seat did it of which others tell a reason; set by hand, not fitted."""
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


def chances(told: Iterable[Told], seats: int, victim: int, me: int, liars: int) -> dict[int, float]:
    """The probability of each other seat to have killed a victim, in order of seats; they sum to 1.

    Args:
        told: What the seat heard and knows.
        seats: How many play.
        victim: Person number.
        me: The own seat, which did not do it; what it knows itself is certain.
        liars: How many others who did not do it may lie.
    """
    told = [one for one in told if one.sure or (one.victim == victim and one.teller != me)]
    heard = [(PUBLIC if one.teller == me else one.teller, one.fact) for one in told]
    every = [world for world in belief.worlds(seats, liars) if not world.bad >> me & 1]
    left = list(belief.consistent(belief.clauses(heard, victim), every)) or every
    weights = dict.fromkeys((seat for seat in range(seats) if seat != me), 0.0)
    for world in left:
        weights[world.murderer] += _against(heard, world, victim)
    return _normal(weights)


def _against(heard: Sequence[belief.Told], world: belief.World, victim: int) -> float:
    """How likely what honest seats tell of reason and access is, if the murderer of a world did it."""
    honest = [fact for teller, fact in heard if teller == PUBLIC or not world.bad >> teller & 1]
    of = [fact for fact in honest if fact.args[0] == world.murderer]
    motive = any(fact.kind == "motive" and fact.args[2] == victim for fact in of)
    deadly = {fact.args[3] for fact in honest if fact.kind == "died" and fact.args[0] == victim}
    access = any(fact.kind == "had" and fact.args[1] in deadly for fact in of)
    return (MOTIVE if motive else 1.0) * (ACCESS if access else 1.0)


def uncertainty(weights: Chances) -> float:
    """Of a distribution, in nats.

    >>> round(uncertainty({0: 0.5, 1: 0.5}), 4)
    0.6931
    """
    return -sum(p * math.log(p) for p in weights.values() if p > 0)


def expected_fall(now: Chances, target: int, prospect: Prospect, doubt: float = 0.0) -> float:
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
        doubt: The probability that an innocent who is asked lies.
    """
    seats = [seat for seat, p in now.items() if p > _LEAST]
    asked = [seat for seat in seats if prospect.clears.get(seat, 0.0) > 0]
    after = 0.0
    for outcome in product((False, True), repeat=len(asked)):
        cleared = dict(zip(asked, outcome, strict=True))
        joint = {
            seat: now[seat]
            * (1 - _shown(seat, target, prospect, doubt))
            * _chance(seat, target, prospect, cleared, doubt)
            for seat in seats
        }
        total = sum(joint.values())
        if total > _LEAST:
            after += total * uncertainty({seat: p / total for seat, p in joint.items()})
    return max(0.0, uncertainty(now) - after)  # shown: nothing is left to be learned


def _shown(murderer: int, target: int, prospect: Prospect, doubt: float) -> float:
    return 0.0 if murderer == target else (1 - doubt) * prospect.shows.get(murderer, 0.0)


def _chance(murderer: int, target: int, prospect: Prospect, cleared: Mapping[int, bool], doubt: float) -> float:
    """The probability of an outcome, if a seat did it."""
    chance = 1.0
    for seat, outcome in cleared.items():
        if murderer == target:
            true = 0.0
        elif seat == murderer:
            true = doubt * prospect.clears[seat]
        else:
            true = prospect.clears[seat]
        chance *= true if outcome else 1 - true
    return chance


def _normal(weights: Mapping[int, float]) -> dict[int, float]:
    total = sum(weights.values())
    return {seat: weight / total for seat, weight in weights.items()}
