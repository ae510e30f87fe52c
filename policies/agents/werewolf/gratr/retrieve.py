"""Forward retrieval: Algorithm 2 of the paper, made to end (SPEC section 1.5).

As printed the loop puts one node back for each that it takes out and so never ends. Here a chain visits no player twice,
has at most `length` edges, and stops at the target, where nobody is left to go to, or where its trust fades below 0.001
(the code rounds to three digits). It starts at the players with the strongest trust in either direction: a known
adversary says as much as a known ally. Each chain goes its own way, so the order of the printed queue decides nothing.

A player p_k joins a chain that ends in p_c by what p_k did to p_c: who supports somebody trusted is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from parlour.policies.agents.werewolf.gratr.equations import FAINT, chain_trust, chain_value, stronger
from parlour.policies.agents.werewolf.gratr.parameters import Parameters
from parlour.policies.agents.werewolf.gratr.statements import EdgeData

FADED: Final = 0.001
"""A chain whose trust is weaker than this is followed no further."""

Into = Sequence[Mapping[int, EdgeData]]
"""For each player, the edges that lead to him, by their source."""


class FoundChain(NamedTuple):
    """A chain by its players, the target first, with the trust that it carries and its value."""

    players: tuple[int, ...]
    u: float
    value: float


def starts(trust: Sequence[float], target: int, width: int) -> list[int]:
    """The `width` players with the strongest trust, the target aside; the lower seat first among equals."""
    others = [k for k in range(len(trust)) if k != target and abs(trust[k]) >= FAINT]
    return sorted(others, key=lambda k: (-abs(trust[k]), k))[:width]


def search(into: Into, trust: Sequence[float], target: int, parameters: Parameters) -> list[FoundChain]:
    """All chains that lead to the target and carry any trust, in the order in which they were found."""
    found = []
    for start in starts(trust, target, parameters.width):
        found += _follow(into, trust, target, start, parameters.length)
    return found


def _follow(into: Into, trust: Sequence[float], target: int, start: int, length: int) -> list[FoundChain]:
    """The chains met on the way from one start: at each step on to the neighbour with the strongest edge."""
    found = []
    path, taus, running = [start], list[float](), [trust[start]]
    while len(taus) < length:
        end, v = path[-1], running[-1]
        step, strongest = -1, 0.0
        for k, edge in into[end].items():
            tau = edge["tau"]
            if tau == 0.0 or k in path:
                continue
            if k == target and abs(v * tau) >= FAINT:
                found.append(_found([*path, k], [*taus, tau], running, trust))
            if abs(tau) > strongest or (abs(tau) == strongest and k < step):
                step, strongest = k, abs(tau)
        if step in (-1, target) or abs(v) * strongest < FADED:
            break
        taus.append(into[end][step]["tau"])
        path.append(step)
        running.append(v * taus[-1])
    return found


def _found(path: list[int], taus: list[float], running: list[float], trust: Sequence[float]) -> FoundChain:
    """Players on the way count in Eq. 5 with the stronger of their trust and what the chain makes of it (Eq. 3)."""
    target = path[-1]
    on_the_way = [stronger(trust[k], v) for k, v in zip(path[1:-1], running[1:], strict=True)]
    value = chain_value([*on_the_way, trust[target]], taus)
    return FoundChain(tuple(reversed(path)), chain_trust(running[0], taus), value)
