"""The equations of GRATR, one function each, and one for every place where they are undefined as printed.

Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning", Table 1 and Eqs. 2-9, with the indices put right
and the gaps closed as decisions 1.3 and 1.4 say. Trust, confidence and weights are numbers in [-1, 1]. A chain runs
p_o -> p_(o-1) -> ... -> p_1 from the target to where the search started; its edge k is (p_(k+1), p_k).

    where                                          printed                    here
    Eq. 2  trust in the speaker is 0               nothing is ever learned    `speaker_factor`: a prior
    Eq. 2  the speaker is who is judged            trust shields a liar       `word`: what he gives away counts fully
    Eq. 7  logarithm of 0 or of a negative number  undefined                  `entropy`: of |u|, 0 at 0
    Eq. 8  weights that are negative or sum to 0   leaves [-1, 1], or 0/0     `chain_weight`: a floor, if it is set
    Eq. 8  no chain, or chains that carry nothing  0/0                        `weighted`: no new value
    Eq. 9  quotient by a trust of 0                infinite                   `quotient`: no update
    Eqs. 2, 8, 9  values beyond 1                  leave [-1, 1]              `bounded`

`Parameters`: the paper gives no values; they come from its published code (decisions 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.settings import Settings
from pydantic import Field

Mode = Literal["trained", "grounded", "paper", "code"]
MODES: Final = ("trained", "grounded", "paper", "code")
"""How trust follows from evidence, and how the equations are read where paper and published code differ.

- `"trained"`: the village trusts by all evidence, weighed by learned reliabilities; the graph is that of `"grounded"`. Ours.
- `"grounded"`: the paper's equations, but searches start from statements and facts alone. The result of Eq. 8 is shown and used;
  it starts no chain and lends no weight to words, since that repeats errors (measured: the longer a game, the worse the trust).
  The weight of a chain in Eq. 8 is |u| - H, as in the code.
- `"paper"`: Algorithm 2 as printed. Searches start from the highest trust, results of Eq. 8 included, and continue to the player
  with the highest trust; players on the way keep the trust that the chain gives them (Eq. 3). The weight of a chain is V - H,
  and the result of Eq. 8 replaces the trust.
- `"code"`: Eq. 2 without the speaker's trust and without |w|, confidences below 0.5 ignored, those about special roles
  raised by a fifth; natural logarithm in Eq. 7; Eq. 9 for all edges of the target, if it had two chains.
"""

CLOSED: Final = ("trained", "grounded")
"""Modes in which what Eq. 8 gives starts no chain."""
FLOOR: Final = 0.05
"""Least weight of a chain in Eq. 8, as a share of |u|."""
Floor = Annotated[float, Field(ge=0, le=1)] | Literal["none", "code"]


class Parameters(Settings):
    """What a trust graph is run with."""

    rho: float = Field(default=0.95, ge=0, le=1)
    """Eq. 4: what a piece of evidence keeps of its weight with every later one on the same edge; 1 keeps all, 0 the last."""
    gamma: float = Field(default=0.1, ge=0, le=1)
    """Eq. 9: rate of the backward update; 0 switches it off."""
    epsilon: float = Field(default=0.2, ge=0, lt=1)
    """Table 1: trust up to this, in either direction, is no judgement."""
    width: int = Field(default=3, ge=1)
    """Algorithm 2: players that chains start from (w)."""
    length: int = Field(default=4, ge=1)
    """Edges that a chain may have; what ends Algorithm 2."""
    prior: float = Field(default=0.5, ge=0, le=1)
    """Eq. 2: weight of a speaker without a trust estimate."""
    mode: Mode = "grounded"
    """How trust follows from evidence."""
    floor: Floor = FLOOR
    """Eq. 8: the least weight of a chain, as a share of |u|. none: weights as they come, even below 0. code: the weight of the
    published code in every mode, |u| - H with the natural logarithm, without a floor."""

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        return super().from_plain(of_record(values))


_RENAMED: Final = {"paper": "grounded", "printed": "paper"}


def of_record(values: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters in a file, among other settings. A full record without `floor` is of before 0.4, where modes had other names."""
    if "floor" in values or not {*Parameters.model_fields} - {"floor"} <= values.keys():
        return {**values}
    return {**values, "mode": _RENAMED.get(str(values["mode"]), values["mode"]), "floor": FLOOR}


ALLY, INDIFFERENT, ADVERSARY = 1, 0, -1
FAINT: Final = 1e-6
"""Trust below this is none: such chains are dropped, and nothing is divided by it."""
CODE_THRESHOLD: Final = 0.5
CODE_SPECIAL: Final = 1.2


def bounded(x: float) -> float:
    """Trust and edge weights lie in [-1, 1]; what an equation puts beyond is cut off."""
    return -1.0 if x < -1.0 else 1.0 if x > 1.0 else x


def role_class(trust: float, epsilon: float) -> int:
    """Table 1: `ALLY` above epsilon, `ADVERSARY` below -epsilon, `INDIFFERENT` between, both bounds included."""
    return ALLY if trust > epsilon else ADVERSARY if trust < -epsilon else INDIFFERENT


def speaker_factor(trust: float, epsilon: float, prior: float) -> float:
    """T(p_j) in Eq. 2; the prior for a speaker without a trust estimate.

    At the start all trust is 0, so that as printed no word of any player could change anything.
    """
    return trust if abs(trust) > epsilon else prior


def word(trust: float, confidence: float, himself: bool, given: Parameters) -> float:
    """T(p_j) in Eq. 2 for one judgement: `speaker_factor`, but 1 for what a speaker gives away about himself.

    Nobody is called a liar on his own authority: a judgement against the speaker is the observer's conclusion from what
    it knows, and stands however far the speaker was trusted. The paper has no such case; mode `"paper"` keeps to it.
    """
    if himself and confidence < 0 and given.mode in CLOSED:
        return 1.0
    return speaker_factor(trust, given.epsilon, given.prior)


def inferred(factor: float, strength: float, confidence: float) -> float:
    """Eq. 2: u(p_k) = T(p_j) |w(p_j, p_k)| c(p_j, p_k)."""
    return bounded(factor * strength * confidence)


def inferred_by_code(confidence: float, special: bool) -> float:
    """Eq. 2 as published in code: the confidence alone, raised for a special role, and 0 below one half."""
    if abs(confidence) < CODE_THRESHOLD:
        return 0.0
    return bounded(confidence * CODE_SPECIAL if special else confidence)


def stronger(trust: float, u: float) -> float:
    """Eq. 3: the inference takes the place of the trust if it is the stronger of the two."""
    return u if abs(u) > abs(trust) else trust


def discounted(total: float, weight: float, rho: float) -> float:
    """One step of the sum in Eq. 4, whose tanh is tau: earlier evidence is multiplied by rho."""
    return rho * total + weight


def chain_value(trusts: Sequence[float], taus: Sequence[float]) -> float:
    """Eq. 5: V = sum over k of T(p_(k+1)) tau(p_(k+1), p_k), both in the same order."""
    return sum(trust * tau for trust, tau in zip(trusts, taus, strict=True))


def chain_trust(start: float, taus: Iterable[float]) -> float:
    """Eq. 6: u = T(p_1) times the product of the weights along the chain."""
    return math.prod(taus, start=start)


def entropy(u: float, mode: Mode = "grounded") -> float:
    """Eq. 7 of |u|, since u may be negative: H = -|u| log2 |u|, and 0 for 0. The code has the natural logarithm."""
    strength = abs(u)
    if strength == 0.0:
        return 0.0
    return -strength * (math.log(strength) if mode == "code" else math.log2(strength))


def chain_weight(u: float, value: float, given: Parameters) -> float:
    """The weight of a chain in Eq. 8: V - H as printed, |u| - H in the code; kept at or above a share of |u| if a floor is set.

    Without a floor it may be negative or 0 (with |u| for V: below and at 1/2, in the code at 1/e), which takes the mean
    out of [-1, 1] or divides by 0; the published records hold trust of 6.93. With a floor, all weaker chains weigh the same share.
    """
    if given.floor == "code":
        return abs(u) - entropy(u, "code")
    weight = (value if given.mode == "paper" else abs(u)) - entropy(u, given.mode)
    return weight if given.floor == "none" else max(weight, given.floor * abs(u))


def weighted(us: Sequence[float], weights: Sequence[float]) -> float | None:
    """Eq. 8: the mean of the chains' trust under their weights; None where there is no chain, or weights that sum to 0."""
    if len(us) == 1:
        return us[0]  # exactly, whatever its weight
    total = sum(weights)
    if abs(total) < FAINT**2:
        return None
    return bounded(sum(u * weight for u, weight in zip(us, weights, strict=True)) / total)


def takes_over(trust: float, new: float) -> bool:
    """Whether the result of Eq. 8 takes the place of the trust: it has the same sign, or is stronger (as in the code)."""
    return trust * new > 0 or abs(new) > abs(trust)


def quotient(trust: float, before: float) -> float | None:
    """T(p_o) / T(p_(o-1)) in Eq. 9; None where the divisor is none to speak of."""
    return None if abs(before) < FAINT else trust / before


def backward(tau: float, gamma: float, trust: float, before: float) -> float:
    """Eq. 9: tau(p_o, p_(o-1)) = gamma T(p_o) / T(p_(o-1)) + tau(p_o, p_(o-1)).

    The paper prints T(p_(o-1)) as the last term, which would put a trust where a weight was; the code has tau.
    """
    ratio = quotient(trust, before)
    return tau if ratio is None else bounded(gamma * ratio + tau)
