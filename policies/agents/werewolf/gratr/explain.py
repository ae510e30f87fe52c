"""Why the graph believes what it believes: a belief with everything that it was computed from.

The paper's second claim is that its reasoning can be traced. An `Explanation` holds every number, down to single pieces of
evidence with their turn and speaker, from which the belief can be computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from parlour.envs.english import name
from parlour.policies.agents.werewolf.gratr.parameters import Parameters
from parlour.policies.agents.werewolf.gratr.statements import EdgeEvidence, TrustBelief, plain


class Explanation(NamedTuple):
    """A belief and what produced it."""

    belief: TrustBelief
    beliefs: Mapping[int, TrustBelief]
    """The belief and all that it rests on, by number; nothing refers to a belief outside."""
    evidence: Mapping[tuple[int, int], tuple[EdgeEvidence, ...]]
    """Of each edge (source, target) in the chains of these beliefs, oldest first; a link says how many items it used."""
    parameters: Parameters
    """Those of the graph."""

    def lines(self, depth: int = 2) -> list[str]:
        """The explanation in words; `depth` steps of beliefs behind beliefs are told."""
        return list(self._told(self.belief, depth, ""))

    def as_json(self) -> dict[str, Any]:
        """Plain values: the belief, all it rests on, and the evidence of its chains."""
        return {
            "player": self.belief.player,
            "trust": self.belief.trust,
            "beliefs": [plain(self.beliefs[number]) for number in sorted(self.beliefs)],
            "evidence": [item._asdict() for items in self.evidence.values() for item in items],
        }

    def _told(self, belief: TrustBelief, depth: int, indent: str) -> Iterator[str]:
        head = f"{indent}{name(belief.player)}: trust {belief.trust:+.2f}"
        if belief.stated is not None:
            yield from self._told_statement(belief, depth, indent, head)
        elif belief.chains:
            yield from self._told_chains(belief, depth, indent, head)
        else:
            yield f"{head}, {belief.reason or 'as at the start'}"

    def _told_statement(self, belief: TrustBelief, depth: int, indent: str, head: str) -> Iterator[str]:
        stated = belief.stated
        assert stated is not None
        said, confidence = stated.statement, f"confidence {stated.confidence:+.2f}"
        speaker = "the moderator" if said.speaker is None else name(said.speaker)
        yield f"{head}, from what {speaker} said (turn {said.turn}): {said.text!r}"
        if self.parameters.mode != "code":
            confidence = f"speaker {stated.factor:+.2f} x strength {stated.strength:.2f} x {confidence}"
        yield f"{indent}  = {confidence}"
        if stated.speaker_belief is not None and depth:
            yield from self._told(self.beliefs[stated.speaker_belief], depth - 1, indent + "    ")

    def _told_chains(self, belief: TrustBelief, depth: int, indent: str, head: str) -> Iterator[str]:
        total = sum(chain.weight for chain in belief.chains)
        yield f"{head}, the mean of {len(belief.chains)} chain{'s' * (len(belief.chains) > 1)} of evidence"
        for chain in sorted(belief.chains, key=lambda chain: -chain.weight):
            path = " -> ".join(map(name, chain.players))
            yield f"{indent}  {path}: carries {chain.u:+.2f}, counts {chain.weight / total:.0%}"
            for link in chain.links:
                yield f"{indent}    {name(link.source)} towards {name(link.target)}: {link.tau:+.2f}"
                for item in self.evidence[link.source, link.target][: link.items]:
                    yield f"{indent}      turn {item.turn}, {item.weight:+.2f}: {item.text!r}"
                if link.backward:
                    yield f"{indent}      and {len(link.backward)} backward update{'s' * (len(link.backward) > 1)}"
            if depth:
                yield from self._told(self.beliefs[chain.beliefs[-1]], depth - 1, indent + "    ")


def explained(
    belief: TrustBelief,
    beliefs: Sequence[TrustBelief],
    evidence: Callable[[int, int], tuple[EdgeEvidence, ...]],
    parameters: Parameters,
) -> Explanation:
    """The explanation of a belief.

    Args:
        belief: The belief.
        beliefs: All beliefs of the graph, by number.
        evidence: The evidence on an edge, as `TrustGraph.evidence` gives it.
        parameters: Those of the graph.
    """
    found = _rests_on(belief, beliefs)
    links = [link for one in found.values() for chain in one.chains for link in chain.links]
    edges = {(link.source, link.target): evidence(link.source, link.target) for link in links}
    return Explanation(belief, found, edges, parameters)


def _rests_on(belief: TrustBelief, beliefs: Sequence[TrustBelief]) -> dict[int, TrustBelief]:
    found: dict[int, TrustBelief] = {}
    open_ = [belief.number]
    while open_:
        number = open_.pop()
        if number not in found:
            found[number] = beliefs[number]
            open_ += _needs(beliefs[number])
    return found


def _needs(belief: TrustBelief) -> list[int]:
    needed = [number for chain in belief.chains for number in chain.beliefs]
    updates = [update for chain in belief.chains for link in chain.links for update in link.backward]
    needed += [number for update in updates for number in (update.belief, update.before)]
    if belief.stated is not None and belief.stated.speaker_belief is not None:
        needed.append(belief.stated.speaker_belief)
    return needed
