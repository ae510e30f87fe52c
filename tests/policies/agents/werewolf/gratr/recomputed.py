"""Beliefs of GRATR computed again from an explanation alone, by the equations."""

from __future__ import annotations

import math
from collections.abc import Iterable

from parlour.policies.agents.werewolf.gratr import equations as eq
from parlour.policies.agents.werewolf.gratr.statements import Chain, EdgeEvidence, Explanation, Link, TrustBelief


def recomputed(why: Explanation) -> dict[int, float]:
    """Every belief computed again from an explanation alone, in their order: number -> trust."""
    trust: dict[int, float] = {}
    for number in sorted(why.beliefs):
        trust[number] = recompute(why, why.beliefs[number], trust)
    return trust


def recompute(why: Explanation, belief: TrustBelief, trust: dict[int, float]) -> float:
    given_, stated = why.parameters, belief.stated
    if stated is not None:
        factor = 1.0
        if given_.mode == "code":
            return eq.inferred_by_code(stated.confidence, stated.special)
        if stated.speaker_belief is not None:
            himself = belief.player == stated.statement.speaker
            factor = eq.word(trust[stated.speaker_belief], stated.confidence, himself, given_)
        return eq.inferred(factor, stated.strength, stated.confidence)
    if not belief.chains:
        return belief.trust
    carried = [carries(why, chain, trust) for chain in belief.chains]
    mean = eq.weighted([u for u, _ in carried], [eq.chain_weight(u, value, given_) for u, value in carried])
    assert mean is not None  # chains of a belief carry something
    return mean


def carries(why: Explanation, chain: Chain, trust: dict[int, float]) -> tuple[float, float]:
    """Eqs. 5 and 6 of a chain, from the evidence on its edges."""
    taus = [tau_of(why, link, trust) for link in reversed(chain.links)]
    trusts = [trust[number] for number in reversed(chain.beliefs)]
    on_the_way = [eq.stronger(trusts[k], eq.chain_trust(trusts[0], taus[:k])) for k in range(1, len(taus))]
    return eq.chain_trust(trusts[0], taus), eq.chain_value([*on_the_way, trusts[-1]], taus)


def tau_of(why: Explanation, link: Link, trust: dict[int, float]) -> float:
    """Eqs. 4 and 9."""
    tau = merged([item.weight for item in evidence_of(why, link)], why.parameters.rho)
    for update in link.backward:
        tau = eq.backward(tau, why.parameters.gamma, trust[update.belief], trust[update.before])
    return tau


def merged(weights: Iterable[float], rho: float) -> float:
    """Eq. 4: tau = tanh(sum over m of rho^(n-m) w_m), the oldest first; 0 without evidence."""
    total = 0.0
    for weight in weights:
        total = eq.discounted(total, weight, rho)
    return math.tanh(total)


def evidence_of(why: Explanation, link: Link) -> tuple[EdgeEvidence, ...]:
    return why.evidence[link.source, link.target][: link.items]
