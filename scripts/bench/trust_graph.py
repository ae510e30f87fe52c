"""How the trust graph grows: time of one belief update with retrieval, over numbers of players and of evidence.

An update is one statement with an intent and a judgement; then the trust in its speaker is retrieved. Statements are made
up: speaker, target, weight and confidence are drawn at random, so that nearly every pair of players gets an edge. Times are
of the processor, so that other work on the machine does not count.

python scripts/bench/trust_graph.py
"""

from __future__ import annotations

from functools import partial
from itertools import product
from statistics import mean
from time import thread_time

import numpy as np
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement
from timing import median, seconds, show_table, without_collector

PLAYERS = (6, 8, 14, 20)
EVIDENCE = (50, 200, 800)
WITHIN = 0.005
"""Seconds that one update with retrieval may take, for 14 to 20 players and 200 pieces of evidence."""
_ROUNDS = 200
_HEADINGS = ["players", "evidence", "edges", "chains", "update", "retrieval", "both,99%", "share", "everybody"]

_clocked = partial(seconds, clock=thread_time)


def bench(players: int, evidence: int, rounds: int = _ROUNDS) -> list[str]:
    """Measure one size, as a row of the table. The evidence grows by one piece in each round."""
    rng = np.random.default_rng(0)
    graph = TrustGraph(players, 0)
    for turn in range(evidence):
        _state(graph, rng, turn)
    edges = graph.net.number_of_edges()
    updates, retrievals, chains = [], [], []
    with without_collector():
        for turn in range(rounds):
            began = thread_time()
            speaker = _state(graph, rng, evidence + turn)
            updated = thread_time()
            chains.append(len(graph.retrieve(speaker, turn)))
            retrievals.append(thread_time() - updated)
            updates.append(updated - began)
        everybody = median(_clocked(lambda: [graph.retrieve(seat, 0) for seat in range(players)]) for _ in range(20))
    slow = float(np.percentile(np.add(updates, retrievals), 99))
    return [
        *map(str, (players, evidence, edges)),
        f"{mean(chains):.1f}",
        *(f"{median(times) * 1e6:.0f} µs" for times in (updates, retrievals)),
        f"{slow * 1000:.2f} ms",
        f"{slow / WITHIN:.0%}",
        f"{everybody * 1000:.2f} ms",
    ]


def _state(graph: TrustGraph, rng: np.random.Generator, turn: int) -> int:
    """One statement; returns its speaker."""
    speaker, target = (int(k) for k in rng.choice(graph.players, 2, replace=False))
    weight = float(rng.uniform(-1, 1))
    graph.observe(turn, speaker, f"statement {turn}", [(target, weight)], [GraphJudgement(target, weight)])
    return speaker


def main() -> None:
    """Measure and print the growth."""
    title = f"Trust graph: update with retrieval, {WITHIN * 1000:.0f} ms allowed"
    show_table(title, _HEADINGS, [bench(*size) for size in product(PLAYERS, EVIDENCE)])


if __name__ == "__main__":
    main()
