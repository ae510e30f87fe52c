"""The search for chains of evidence in a trust graph (Zhu et al. 2024, Algorithm 2, Eqs. 5 and 6).

Algorithm 2 is made to end (decisions 1.5): a chain visits no player twice, has at most `length` edges, and stops
at the target, where nobody is left to go to, or where its trust fades below 0.001 (the code rounds to three digits). It starts
at the players with the strongest trust in either direction: a known adversary says as much as a known ally. A player p_k joins
a chain that ends in p_c through p_k's action towards p_c: a supporter of a trusted player is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import mul
from typing import Final, NamedTuple

from parlour.policies.agents.werewolf.gratr.equations import FAINT, Parameters, chain_trust, chain_value, stronger
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


def search(into: Into, trust: Sequence[float], target: int, parameters: Parameters) -> Iterator[FoundChain]:
    """All chains that lead to the target and carry any trust, as they are found; in the mode `paper` those to players on the way, too."""
    if parameters.mode == "paper":
        yield from _as_printed(into, trust, target, parameters)
        return
    for start in starts(trust, target, parameters.width):
        yield from _follow(into, trust, target, start, parameters.length)


def _as_printed(into: Into, trust: Sequence[float], target: int, parameters: Parameters) -> Iterator[FoundChain]:
    """Algorithm 2 as printed, but for its end: what it yields may change `trust` before it goes on."""
    others = sorted((k for k in range(len(trust)) if k != target), key=lambda k: (-trust[k], k))
    queue = [([start], list[float]()) for start in others[: parameters.width] if abs(trust[start]) >= FAINT]
    while queue:
        path, taus = queue.pop(max(range(len(queue)), key=lambda place: (trust[queue[place][0][-1]], -place)))
        running = list(accumulate(taus, mul, initial=trust[path[0]]))
        near = {k: edge["tau"] for k, edge in sorted(into[path[-1]].items()) if k not in path}
        near = {k: tau for k, tau in near.items() if abs(running[-1] * tau) >= (FAINT if k == target else FADED)}
        for k, tau in near.items():
            yield _chain_of_path([*path, k], [*taus, tau], running, trust)
        best = max(near, key=lambda k: (trust[k], -k), default=target)
        if best != target and len(taus) + 1 < parameters.length:
            queue.append(([*path, best], [*taus, near[best]]))


def _follow(into: Into, trust: Sequence[float], target: int, start: int, length: int) -> Iterator[FoundChain]:
    """The chains met on the way from one start: at each step on to the neighbour with the strongest edge."""
    path, taus, running = [start], list[float](), [trust[start]]
    while len(taus) < length:
        end, v = path[-1], running[-1]
        step, strongest = -1, 0.0
        for k, edge in into[end].items():
            tau = edge["tau"]
            if tau == 0.0 or k in path:
                continue
            if k == target and abs(v * tau) >= FAINT:
                yield _chain_of_path([*path, k], [*taus, tau], running, trust)
            if abs(tau) > strongest or (abs(tau) == strongest and k < step):
                step, strongest = k, abs(tau)
        if step in (-1, target) or abs(v) * strongest < FADED:
            break
        taus.append(into[end][step]["tau"])
        path.append(step)
        running.append(v * taus[-1])


def _chain_of_path(path: list[int], taus: list[float], running: list[float], trust: Sequence[float]) -> FoundChain:
    """Players on the way count in Eq. 5 with the stronger of their trust and what the chain makes of it (Eq. 3)."""
    target = path[-1]
    on_the_way = [stronger(trust[k], v) for k, v in zip(path[1:-1], running[1:], strict=True)]
    value = chain_value([*on_the_way, trust[target]], taus)
    return FoundChain(tuple(reversed(path)), chain_trust(running[0], taus), value)
