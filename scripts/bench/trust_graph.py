"""How the trust graph grows: time of one belief update with retrieval, over numbers of players and of evidence.

An update is one statement with an intent and a judgement; then the trust in its speaker is retrieved. Statements are made
up: speaker, target, weight and confidence are drawn at random, so that nearly every pair of players gets an edge. Times are
of the processor, so that other work on the machine does not count.

python scripts/bench/trust_graph.py
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from time import thread_time
from typing import Final

import numpy as np
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement
from rich.table import Table

PLAYERS: Final = (6, 8, 14, 20)
EVIDENCE: Final = (50, 200, 800)
WITHIN: Final = 0.005
"""Seconds that one update with retrieval may take, for 14 to 20 players and 200 pieces of evidence."""
_ROUNDS: Final = 200


@dataclass(frozen=True)
class Measured:
    """One size, in seconds of the processor."""

    players: int
    evidence: int
    edges: int
    chains: float
    """That one retrieval found, mean."""
    update: float
    """One statement taken in, median."""
    retrieval: float
    """One retrieval, median."""
    both_99: float
    """Update and retrieval together, 99th percentile."""
    everybody: float
    """Retrieval for all players, one after the other; median."""


def bench(players: int, evidence: int, rounds: int = _ROUNDS) -> Measured:
    """Measure one size. The evidence grows by one piece in each round."""
    rng = np.random.default_rng(0)
    graph = TrustGraph(players, 0)
    for turn in range(evidence):
        _state(graph, rng, turn)
    edges = graph.net.number_of_edges()
    updates, retrievals, chains = [], [], []
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            began = thread_time()
            speaker = _state(graph, rng, evidence + turn)
            told = thread_time()
            chains.append(len(graph.retrieve(speaker, turn)))
            updates.append(told - began)
            retrievals.append(thread_time() - told)
        everybody = [_everybody(graph) for _ in range(20)]
    finally:
        gc.enable()
    both = [update + retrieval for update, retrieval in zip(updates, retrievals, strict=True)]
    return Measured(
        players,
        evidence,
        edges,
        statistics.mean(chains),
        statistics.median(updates),
        statistics.median(retrievals),
        float(np.percentile(both, 99)),
        statistics.median(everybody),
    )


def growth(players: tuple[int, ...] = PLAYERS, evidence: tuple[int, ...] = EVIDENCE) -> Iterator[Measured]:
    """Measure every size."""
    for n in players:
        for items in evidence:
            yield bench(n, items)


def table() -> Table:
    """Measure, and set the figures against what is demanded."""
    shown = Table(title=f"Trust graph: update with retrieval, {WITHIN * 1000:.0f} ms allowed")
    for heading in (
        "players",
        "evidence",
        "edges",
        "chains",
        "update",
        "retrieval",
        "both, 99 %",
        "share",
        "all players",
    ):
        shown.add_column(heading, justify="right")
    for one in growth():
        shown.add_row(
            str(one.players),
            str(one.evidence),
            str(one.edges),
            f"{one.chains:.1f}",
            f"{one.update * 1e6:.0f} µs",
            f"{one.retrieval * 1e6:.0f} µs",
            f"{one.both_99 * 1000:.2f} ms",
            f"{one.both_99 / WITHIN:.0%}",
            f"{one.everybody * 1000:.2f} ms",
        )
    return shown


def _state(graph: TrustGraph, rng: np.random.Generator, turn: int) -> int:
    """One statement; returns its speaker."""
    speaker, target = (int(k) for k in rng.choice(graph.players, 2, replace=False))
    weight = float(rng.uniform(-1, 1))
    graph.observe(turn, speaker, f"statement {turn}", [(target, weight)], [GraphJudgement(target, weight)])
    return speaker


def _everybody(graph: TrustGraph) -> float:
    began = thread_time()
    for player in range(graph.players):
        graph.retrieve(player, 0)
    return thread_time() - began


def main() -> None:
    """Print the growth."""
    from rich.console import Console

    Console(width=110).print(table())


if __name__ == "__main__":
    main()
