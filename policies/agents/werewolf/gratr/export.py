"""The graph in words for a question, and over time as files: JSON with every belief and all evidence, GraphML for other tools.

The summary has a line for each player, the strongest trust first, with its heaviest chains of evidence; then the extremes (paper,
appendix 3). The three most threatening are those with the strongest negative trust (the code
takes the weakest, decisions 1.5).

In GraphML the attributes are plain: `trust`, `class`, `certain` and `dead` of a player, `tau` and `evidence` (the number of
items) of an edge describe the last moment; attributes of moment k, from 0, end in `_k`, and `moment_k` of the
graph is its name. An attribute is missing where an edge did not exist yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import networkx as nx
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError
from parlour.envs.language.english import name
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import Chain, GraphHistory, Snapshot, path_of
from parlour.policies.files import atomic_write, write_json

CLASSES: Final = {1: "ally", 0: "unsure", -1: "adversary"}
"""Table 1 in words, as files and notes have it."""


def as_json(graph: GraphHistory) -> dict[str, Any]:
    """Plain values: the marked moments, all evidence, and all beliefs with their origins.

    Seats are numbers in `beliefs`; everywhere else they have their names.
    """
    return {
        "me": name(graph.me),
        "players": [name(k) for k in range(graph.players)],
        "parameters": graph.parameters.plain(),
        "moments": [_moment(snapshot) for snapshot in graph.history],
        "evidence": [
            {**plain(item), "source": name(item.source), "target": name(item.target)}
            for source, target in graph.edges()
            for item in graph.evidence(source, target)
        ],
        "beliefs": plain(graph.beliefs),
        "now": [graph.belief(k).number for k in range(graph.players)],
    }


def as_net(graph: GraphHistory) -> Any:
    """A `networkx.DiGraph` with plain attributes, all moments in one.

    Raises:
        ParlourError: No moment was marked.
    """
    if not graph.history:
        raise ParlourError("no moment of the graph was kept; accepted: after `TrustGraph.mark`")
    net = nx.DiGraph(me=name(graph.me), **graph.parameters.plain())
    net.add_nodes_from(map(name, range(graph.players)))
    for number, snapshot in enumerate(graph.history):
        net.graph[f"moment_{number}"] = snapshot.label
        _put(net, snapshot, f"_{number}")
    _put(net, graph.history[-1], "")
    return net


def write_history(graph: GraphHistory, path: str | Path) -> None:
    """Write the graph over time; the file's ending, `.json` or `.graphml`, says in which form.

    Raises:
        ParlourError: The ending is another, or no moment was marked.
    """
    ending = Path(path).suffix
    if ending == ".json":
        write_json(path, as_json(graph))
    elif ending == ".graphml":
        atomic_write(path, "\n".join(nx.generate_graphml(as_net(graph))) + "\n")
    else:
        raise ParlourError(f"file {str(path)!r} is not accepted; accepted: names that end in .json or .graphml")


def _moment(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "label": snapshot.label,
        "turn": snapshot.turn,
        "trust": {name(k): trust for k, trust in enumerate(snapshot.trust)},
        "class": {name(k): CLASSES[role] for k, role in enumerate(snapshot.role)},
        "certain": [name(k) for k, certain in enumerate(snapshot.certain) if certain],
        "dead": [name(k) for k in snapshot.dead],
        "edges": [
            {"from": name(source), "to": name(target), "tau": tau, "evidence": count}
            for source, target, tau, count in snapshot.edges
        ],
        "chains": [
            {"players": [name(k) for k in chain.players], "u": chain.u, "weight": chain.weight}
            for chain in snapshot.chains
        ],
    }


def _put(net: Any, snapshot: Snapshot, ending: str) -> None:
    for k, trust in enumerate(snapshot.trust):
        values = {"trust": trust, "class": CLASSES[snapshot.role[k]], "certain": snapshot.certain[k]}
        values |= {"dead": k in snapshot.dead}
        net.nodes[name(k)].update({key + ending: value for key, value in values.items()})
    for source, target, tau, count in snapshot.edges:
        values = {"tau": tau, "evidence": count}
        net.add_edge(name(source), name(target), **{key + ending: value for key, value in values.items()})


EXTREMES: Final = 3
"""Players named as most trusted, and as most threatening."""
SHOWN: Final = 3
"""Chains of evidence shown for a player."""
LONGEST: Final = 160
"""Characters shown of one piece of evidence."""


def summary(
    graph: TrustGraph,
    ally: str,
    adversary: str,
    among: Collection[int] | None = None,
    roles: Mapping[int, str] | None = None,
) -> str:
    """What the observer makes of the others.

    Args:
        graph: The observer's.
        ally: What somebody of his own side is called, such as `"a werewolf"`.
        adversary: The same of the other side.
        among: Seats that can be among the extremes; all by default. The observer himself is left out.
        roles: What some players are taken for, such as `"the seer"`.

    Returns:
        Some lines; each piece of evidence is one line.
    """
    classes = {1: (ally, "my ally"), 0: ("on either side", "I am unsure"), -1: (adversary, "my adversary")}
    others = sorted((k for k in range(graph.players) if k != graph.me), key=lambda k: (-abs(graph.belief(k).trust), k))
    lines = []
    for k in others:
        side, kind = classes[graph.role(k)]
        sure = "is known to be" if graph.certain(k) else "is probably" if graph.role(k) else "may be"
        role = f", perhaps {roles[k]}" if roles and k in roles else ""
        lines.append(f"{name(k)} {sure} {side}{role}: {kind}. My trust is {graph.belief(k).trust:+.2f}.")
        lines += [f"- {line}" for line in grounds(graph, k)]
    trusted, threats = extremes(graph, [k for k in others if among is None or k in among])
    if trusted:
        lines.append(f"Most trusted: {', '.join(map(name, trusted))}.")
    if threats:
        lines.append(f"Most threatening: {', '.join(map(name, threats))}.")
    return "\n".join(lines)


def extremes(graph: TrustGraph, others: Collection[int]) -> tuple[list[int], list[int]]:
    """The most trusted and the most threatening of some players, at most three each, the strongest first."""
    trusted = sorted((k for k in others if graph.role(k) > 0), key=lambda k: (-graph.belief(k).trust, k))
    threats = sorted((k for k in others if graph.role(k) < 0), key=lambda k: (graph.belief(k).trust, k))
    return trusted[:EXTREMES], threats[:EXTREMES]


def grounds(graph: TrustGraph, seat: int) -> list[str]:
    """What a belief rests on in a few lines: its heaviest chains, each edge with its latest evidence; else the statement or the fact."""
    belief = graph.belief(seat)
    chains = sorted(belief.chains, key=lambda chain: -abs(chain.weight))[:SHOWN]
    if chains:
        return [f"{path_of(chain)} ({chain.u:+.2f}): {'; '.join(_newest(graph, chain))}" for chain in chains]
    if belief.stated is not None:
        said = belief.stated.statement
        return [_quoted(said.turn, "the moderator" if said.speaker is None else name(said.speaker), said.text)]
    return [belief.reason] if belief.reason else []


def _newest(graph: TrustGraph, chain: Chain) -> Iterator[str]:
    """The newest item of each edge that the chain used."""
    for link in chain.links:
        item = graph.net.edges[link.source, link.target]["evidence"][link.items - 1]
        yield f"{_quoted(item.turn, name(item.source), item.text)} ({name(item.target)}: {item.weight:+.1f})"


def _quoted(turn: int, speaker: str, text: str) -> str:
    """A statement on one line, shortened, in quotation marks that it cannot end."""
    words = " ".join(text.split()).replace('"', "'")
    if len(words) > LONGEST:
        words = words[: LONGEST - 1] + "…"
    return f'turn {turn}, {speaker}: "{words}"'
