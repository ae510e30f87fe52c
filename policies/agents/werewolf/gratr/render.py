"""The summary of the graph that goes into a question: a line for each judgement, then the extremes (paper, appendix 3).

The strongest judgement comes first. Those whose trust lies within epsilon are named together as unsure. The three most
threatening are those with the strongest negative trust (the code takes the weakest, SPEC section 1.5).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from parlour.envs.english import name
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import EdgeEvidence, TrustBelief

EXTREMES: Final = 3
"""Players named as most trusted, and as most threatening."""
SHOWN: Final = 3
"""Pieces of evidence shown for a judgement."""
LONGEST: Final = 160
"""Characters shown of one piece of evidence."""


def summary(graph: TrustGraph, ally: str, adversary: str, among: Collection[int] | None = None) -> str:
    """What the observer makes of the others.

    Args:
        graph: The observer's.
        ally: What somebody of his own side is called, such as `"a werewolf"`.
        adversary: The same of the other side.
        among: Seats that matter now; all by default. The observer himself is left out.

    Returns:
        Some lines; each piece of evidence stands on one line.
    """
    others = [k for k in range(graph.players) if k != graph.me and (among is None or k in among)]
    judged = [k for k in others if graph.role(k)]
    judged.sort(key=lambda k: (-abs(graph.trust[k]), k))
    lines = []
    for k in judged:
        side, kind = (ally, "my ally") if graph.role(k) > 0 else (adversary, "my adversary")
        sure = "is known to be" if graph.certain(k) else "is probably"
        lines.append(f"{name(k)} {sure} {side}, {kind}; my trust is {graph.trust[k]:+.2f}.")
        lines += [f"- {line}" for line in grounds(graph, k)]
    unsure = [k for k in others if not graph.role(k)]
    if unsure:
        lines.append(f"I cannot tell yet what to think of {', '.join(map(name, unsure))}.")
    trusted, threats = extremes(graph, others)
    if trusted:
        lines.append(f"Most trusted: {', '.join(map(name, trusted))}.")
    if threats:
        lines.append(f"Most threatening: {', '.join(map(name, threats))}.")
    return "\n".join(lines)


def extremes(graph: TrustGraph, others: Collection[int]) -> tuple[list[int], list[int]]:
    """The most trusted and the most threatening of some players, at most three each, the strongest first."""
    trusted = sorted((k for k in others if graph.role(k) > 0), key=lambda k: (-graph.trust[k], k))
    threats = sorted((k for k in others if graph.role(k) < 0), key=lambda k: (graph.trust[k], k))
    return trusted[:EXTREMES], threats[:EXTREMES]


def grounds(graph: TrustGraph, seat: int) -> list[str]:
    """What a belief rests on in a few lines: the fact, the statement, or the latest evidence of its heaviest chains."""
    belief = graph.belief(seat)
    if belief.origin == "certain":
        return [belief.reason]
    if belief.stated is not None:
        said = belief.stated.statement
        return [_quoted(said.turn, "the moderator" if said.speaker is None else name(said.speaker), said.text)]
    return [
        f"{_quoted(item.turn, name(item.source), item.text)} ({name(item.target)}: {item.weight:+.1f})"
        for item in _latest(graph, belief)
    ]


def _latest(graph: TrustGraph, belief: TrustBelief) -> list[EdgeEvidence]:
    """The newest item of each edge, chain by chain, no edge twice."""
    found: dict[tuple[int, int], EdgeEvidence] = {}
    for chain in sorted(belief.chains, key=lambda chain: -chain.weight):
        for link in chain.links:
            item = graph.net.edges[link.source, link.target]["evidence"][link.items - 1]
            found.setdefault((link.source, link.target), item)
    return list(found.values())[:SHOWN]


def _quoted(turn: int, speaker: str, text: str) -> str:
    """A statement on one line, shortened, in quotation marks that it cannot end."""
    words = " ".join(text.split()).replace('"', "'")
    if len(words) > LONGEST:
        words = words[: LONGEST - 1] + "…"
    return f'turn {turn}, {speaker}: "{words}"'
