"""The graph over time as files: JSON with every belief and all evidence, GraphML for Gephi, yEd, Cytoscape and the like.

In GraphML the attributes are plain: `trust`, `class`, `certain` and `dead` of a player, `tau` and `evidence` (the number of
items) of an edge are those of the last moment; those of moment k, from 0, have `_k` behind them, and `moment_k` of the
graph is its name. An attribute is missing where an edge did not exist yet.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import networkx as nx
from parlour.envs.core import ParlourError
from parlour.envs.english import name
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import Snapshot, plain
from parlour.policies.files import atomic_write, write_json

CLASSES: Final = {1: "ally", 0: "unsure", -1: "adversary"}
"""Table 1 in words, as files and notes have it."""


def as_json(graph: TrustGraph) -> dict[str, Any]:
    """Plain values: the marked moments, all evidence, and all beliefs with their origins.

    Seats are numbers in `beliefs`; everywhere else they have their names.
    """
    return {
        "me": name(graph.me),
        "players": [name(k) for k in range(graph.players)],
        "parameters": asdict(graph.parameters),
        "moments": [_moment(snapshot) for snapshot in graph.history],
        "evidence": [
            {**item._asdict(), "source": name(item.source), "target": name(item.target)}
            for source, target in sorted(graph.net.edges)
            for item in graph.evidence(source, target)
        ],
        "beliefs": [plain(belief) for belief in graph.beliefs],
        "now": [graph.belief(k).number for k in range(graph.players)],
    }


def as_net(graph: TrustGraph) -> Any:
    """A `networkx.DiGraph` with plain attributes, all moments in one.

    Raises:
        ParlourError: No moment was marked.
    """
    if not graph.history:
        raise ParlourError("no moment of the graph was kept; accepted: after `TrustGraph.mark`")
    net = nx.DiGraph(me=name(graph.me), **asdict(graph.parameters))
    for k in range(graph.players):
        net.add_node(name(k))
    for number, snapshot in enumerate(graph.history):
        net.graph[f"moment_{number}"] = snapshot.label
        _put(net, snapshot, f"_{number}")
    _put(net, graph.history[-1], "")
    return net


def write_history(graph: TrustGraph, path: str | Path) -> None:
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
    }


def _put(net: Any, snapshot: Snapshot, ending: str) -> None:
    for k, trust in enumerate(snapshot.trust):
        values = {"trust": trust, "class": CLASSES[snapshot.role[k]], "certain": snapshot.certain[k]}
        values |= {"dead": k in snapshot.dead}
        net.nodes[name(k)].update({key + ending: value for key, value in values.items()})
    for source, target, tau, count in snapshot.edges:
        values = {"tau": tau, "evidence": count}
        net.add_edge(name(source), name(target), **{key + ending: value for key, value in values.items()})
