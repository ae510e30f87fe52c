"""Why the graph believes what it believes: a belief with everything that it was computed from.

The paper's second claim is that its reasoning can be traced. `Explanation` makes that checkable: from its records alone
the number can be computed again (`recomputed`), down to single pieces of evidence with their turn and speaker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from parlour.policies.agents.werewolf.gratr import equations as eq
from parlour.policies.agents.werewolf.gratr.parameters import Parameters
from parlour.policies.agents.werewolf.gratr.statements import Chain, EdgeEvidence, Link, Statement, TrustBelief


class TracedLink(NamedTuple):
    """An edge of a chain with the evidence that there was on it."""

    link: Link
    evidence: tuple[EdgeEvidence, ...]


class TracedChain(NamedTuple):
    """A chain with the evidence of its edges, from the target on."""

    chain: Chain
    links: tuple[TracedLink, ...]
    share: float
    """Of the chain in Eq. 8, 0..1."""

    @property
    def evidence(self) -> tuple[EdgeEvidence, ...]:
        """All evidence of the chain, edge by edge."""
        return tuple(item for link in self.links for item in link.evidence)


class Explanation:
    """A belief and what produced it.

    Args:
        belief: The belief.
        beliefs: All beliefs of the graph, by number.
        evidence: The evidence on an edge, as `TrustGraph.evidence` gives it.
        parameters: Those of the graph.
    """

    def __init__(
        self,
        belief: TrustBelief,
        beliefs: Sequence[TrustBelief],
        evidence: Callable[[int, int], tuple[EdgeEvidence, ...]],
        parameters: Parameters,
    ) -> None:
        self.belief = belief
        self.parameters = parameters
        self.beliefs = _rests_on(belief, beliefs)
        """The belief and all that it rests on, by number; nothing refers to a belief outside."""
        self.chains: tuple[TracedChain, ...] = self._traced(belief.chains, evidence)
        """Of a retrieved belief, the heaviest first; else empty."""
        self.statement: Statement | None = belief.stated.statement if belief.stated else None
        """Of a belief that a statement produced (Eqs. 2 and 3); else None."""
        self._evidence = {
            (link.source, link.target): evidence(link.source, link.target)
            for one in self.beliefs.values()
            for chain in one.chains
            for link in chain.links
        }

    def _traced(
        self, chains: tuple[Chain, ...], evidence: Callable[[int, int], tuple[EdgeEvidence, ...]]
    ) -> tuple[TracedChain, ...]:
        total = sum(chain.weight for chain in chains)
        heaviest = sorted(chains, key=lambda chain: -chain.weight)
        return tuple(
            TracedChain(
                chain,
                tuple(TracedLink(link, evidence(link.source, link.target)[: link.items]) for link in chain.links),
                chain.weight / total,
            )
            for chain in heaviest
        )

    # -- checking ----------------------------------------------------------------------------------------------

    def recomputed(self) -> dict[int, float]:
        """Every belief computed again from the records, in their order: number -> trust."""
        trust: dict[int, float] = {}
        for number in sorted(self.beliefs):
            trust[number] = self._recompute(self.beliefs[number], trust)
        return trust

    def _recompute(self, belief: TrustBelief, trust: dict[int, float]) -> float:
        given = self.parameters
        if belief.stated is not None:
            stated, factor = belief.stated, 1.0
            if given.mode == "code":
                return eq.inferred_by_code(stated.confidence, stated.special)
            if stated.speaker_belief is not None:
                himself = belief.player == stated.statement.speaker
                factor = eq.word(trust[stated.speaker_belief], stated.confidence, himself, given)
            return eq.inferred(factor, stated.strength, stated.confidence)
        if belief.chains:
            us, weights = [], []
            for chain in belief.chains:
                u, value = self._carried(chain, trust)
                us.append(u)
                weights.append(eq.chain_weight(u, value, given.mode))
            mean = eq.weighted(us, weights)
            assert mean is not None  # chains of a belief carry something
            return mean
        return belief.trust

    def _carried(self, chain: Chain, trust: dict[int, float]) -> tuple[float, float]:
        """Eqs. 5 and 6 of a chain, from the evidence on its edges."""
        taus = [self._tau(link, trust) for link in reversed(chain.links)]
        held = [trust[number] for number in reversed(chain.beliefs)]
        on_the_way = [eq.stronger(held[k], eq.chain_trust(held[0], taus[:k])) for k in range(1, len(taus))]
        return eq.chain_trust(held[0], taus), eq.chain_value([*on_the_way, held[-1]], taus)

    def _tau(self, link: Link, trust: dict[int, float]) -> float:
        """Eqs. 4 and 9."""
        items = self._evidence[link.source, link.target][: link.items]
        tau = eq.merged([item.weight for item in items], self.parameters.rho)
        for update in link.backward:
            tau = eq.backward(tau, self.parameters.gamma, trust[update.belief], trust[update.before])
        return tau

    # -- telling -----------------------------------------------------------------------------------------------

    def lines(self, name: Callable[[int], str] = "player_{}".format, depth: int = 2) -> list[str]:
        """The explanation in words.

        Args:
            name: What a seat is called.
            depth: How many steps of beliefs behind beliefs are told; all of them are in `beliefs`.
        """
        return _told(self, self.belief, name, depth, "")

    def as_json(self) -> dict[str, Any]:
        """Plain values: the belief, all it rests on, and the evidence of its chains."""
        return {
            "player": self.belief.player,
            "trust": self.belief.trust,
            "beliefs": [plain(self.beliefs[number]) for number in sorted(self.beliefs)],
            "evidence": [item._asdict() for items in self._evidence.values() for item in items],
        }


def plain(value: Any) -> Any:
    """Records as plain values."""
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {key: plain(part) for key, part in value._asdict().items()}
        return [plain(part) for part in value]
    return value


def _needs(belief: TrustBelief) -> list[int]:
    needed = [number for chain in belief.chains for number in chain.beliefs]
    updates = [update for chain in belief.chains for link in chain.links for update in link.backward]
    needed += [number for update in updates for number in (update.belief, update.before)]
    if belief.stated is not None and belief.stated.speaker_belief is not None:
        needed.append(belief.stated.speaker_belief)
    return needed


def _rests_on(belief: TrustBelief, beliefs: Sequence[TrustBelief]) -> dict[int, TrustBelief]:
    found: dict[int, TrustBelief] = {}
    open_ = [belief.number]
    while open_:
        number = open_.pop()
        if number not in found:
            found[number] = beliefs[number]
            open_ += _needs(beliefs[number])
    return found


def _told(why: Explanation, belief: TrustBelief, name: Callable[[int], str], depth: int, indent: str) -> list[str]:
    head = f"{indent}{name(belief.player)}: trust {belief.trust:+.2f}"
    if belief.stated is not None:
        return _told_statement(why, belief, name, depth, indent, head)
    if belief.chains:
        return _told_chains(why, belief, name, depth, indent, head)
    return [f"{head}, {belief.reason}" if belief.reason else f"{head}, as at the start"]


def _told_statement(
    why: Explanation, belief: TrustBelief, name: Callable[[int], str], depth: int, indent: str, head: str
) -> list[str]:
    stated = belief.stated
    assert stated is not None
    said = stated.statement
    speaker = "the moderator" if said.speaker is None else name(said.speaker)
    lines = [f"{head}, from what {speaker} said (turn {said.turn}): {said.text!r}"]
    if why.parameters.mode == "code":
        lines.append(f"{indent}  = confidence {stated.confidence:+.2f}")
    else:
        lines.append(
            f"{indent}  = speaker {stated.factor:+.2f} x strength {stated.strength:.2f} x confidence {stated.confidence:+.2f}"
        )
    if stated.speaker_belief is not None and depth:
        lines += _told(why, why.beliefs[stated.speaker_belief], name, depth - 1, indent + "    ")
    return lines


def _told_chains(
    why: Explanation, belief: TrustBelief, name: Callable[[int], str], depth: int, indent: str, head: str
) -> list[str]:
    total = sum(chain.weight for chain in belief.chains)
    lines = [f"{head}, the mean of {len(belief.chains)} chain{'s' * (len(belief.chains) > 1)} of evidence"]
    for chain in sorted(belief.chains, key=lambda chain: -chain.weight):
        path = " -> ".join(map(name, chain.players))
        lines.append(f"{indent}  {path}: carries {chain.u:+.2f}, counts {chain.weight / total:.0%}")
        for link in chain.links:
            lines.append(f"{indent}    {name(link.source)} towards {name(link.target)}: {link.tau:+.2f}")
            for item in why._evidence[link.source, link.target][: link.items]:
                lines.append(f"{indent}      turn {item.turn}, {item.weight:+.2f}: {item.text!r}")
            if link.backward:
                lines.append(f"{indent}      and {len(link.backward)} backward update{'s' * (len(link.backward) > 1)}")
        if depth:
            lines += _told(why, why.beliefs[chain.beliefs[-1]], name, depth - 1, indent + "    ")
    return lines
