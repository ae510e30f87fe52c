"""Five signals of the graph around a question, and the state T x Q that quantile bins make of them.

| signal | `paper`: its published code | `text`: its section 3.4 | `ours` |
|---|---|---|---|
| reliability | of the document the question is linked to | mean over the nodes that a shallow search reaches | that at least one of its documents can be relied on (noisy or) |
| degree | its neighbours | the same | of all its documents |
| length | edges of the best shallow path | mean hops to the sentences reached that offer an answer of the wanted kind; `HOPS` if none does | mean weight of the edges: how far the path kept to articles and what they are about |
| coherence | share of neighbouring relations that are equal | mean of it over all paths of the search | share of the question's relation words that its sentences hold |
| diversity | different labels among the nodes of the path | entropy over the kinds of the nodes reached, in bits | entropy over the kinds of the path's nodes |

See decisions 2.4. A question without a
link has no signals: it is in the state s0, and so is one with a signal that is no number. With `no_signal="paper"` an
unlinked question counts as (0.5, 0, 0, 0, 0) instead, as in the published code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, log2, prod
from statistics import fmean as mean
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.language import english
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.graph import SENTENCE, KnowledgeGraph
from parlour.envs.mediated_qa.retrieve import HOPS, Path, Search, pieces_of
from parlour.envs.mediated_qa.vocabulary import LEVELS, NO_SIGNAL

QUANTILES: Final = (33.3, 66.6)
_TOO_CLOSE: Final = 1e-3
_APART: Final = 0.05


class Signals(NamedTuple):
    """Raw signals of one question."""

    reliability: float
    degree: float
    length: float
    coherence: float
    diversity: float


UNLINKED: Final = Signals(0.5, 0.0, 0.0, 0.0, 0.0)
"""What the published code takes for a question without a link."""


def probe(graph: KnowledgeGraph, search: Search, starts: list[int], question: str) -> Signals | None:
    """The signals of a question by a shallow search; None if it is not linked."""
    if not starts:
        return None
    if graph.normalisation == "text":
        return _by_text(graph, search, starts[0], question)
    path = search.path(graph, starts[0], question, "shallow")
    paper = graph.normalisation == "paper"
    meant = starts[:1] if paper else starts
    return Signals(
        1 - prod(1 - graph.reliability[start] for start in meant),
        float(sum(map(graph.degree, meant))),
        float(len(path.relations)) if paper else path.weight / max(1, len(path.relations)),
        equal_relations(path) if paper else _relation_met(graph, path, question),
        float(len({graph.text[node] for node in path.nodes})) if paper else _entropy(graph, path.nodes),
    )


def _by_text(graph: KnowledgeGraph, search: Search, start: int, question: str) -> Signals:
    """The five signals as the paper's text defines them."""
    paths = search.walk(graph, start, question, "shallow")[1]
    hops: dict[int, int] = {start: 0}
    for path in paths:  # the nearest first
        hops.setdefault(path.nodes[-1], len(path.relations))
    sentences = [node for node in hops if graph.kind[node] == SENTENCE]
    pieces = {node: reading.Piece(graph.title[node], graph.text[node]) for node in sentences}
    answers = [hops[node] for node in sentences if reading.candidates(pieces[node], question, strict=True)]
    return Signals(
        mean(graph.reliability[node] for node in hops),
        float(graph.degree(start)),
        float(mean(answers)) if answers else float(HOPS),
        mean(map(equal_relations, paths)) if paths else 0.0,
        _entropy(graph, hops),
    )


def equal_relations(path: Path) -> float:
    """Share of neighbouring relations that are equal; 1 for one relation, 0 for none."""
    pairs = list(pairwise(path.relations))
    if not pairs:
        return float(len(path.relations) == 1)
    return sum(a == b for a, b in pairs) / len(pairs)


def _relation_met(graph: KnowledgeGraph, path: Path, question: str) -> float:
    wanted = reading.relation(question)
    words = {word for piece in pieces_of(graph, path) for word in english.stems(piece.sentence)}
    return len(words.intersection(wanted)) / len(wanted) if wanted else 0.0


def _entropy(graph: KnowledgeGraph, nodes: Iterable[int]) -> float:
    counts = Counter(graph.kind[node] for node in nodes).values()
    total = sum(counts)
    return -sum(count / total * log2(count / total) for count in counts)


@dataclass(frozen=True)
class Bins:
    """Two cut points for each signal."""

    cuts: tuple[tuple[float, float], ...]

    @classmethod
    def learn(cls, calibration: Iterable[Signals | None]) -> Bins:
        """The 33.3 and 66.6 percentiles of each signal over the questions that have finite ones.

        Cut points closer than 1e-3 are moved 0.05 apart on either side, so that a signal that is always the same is "mid".

        Raises:
            ParlourError: No question has signals.
        """
        rows = [row for row in calibration if row is not None and all(map(isfinite, row))]
        if not rows:
            raise ParlourError(
                "no calibration question has signals; accepted: at least one question linked to the graph"
            )
        low, high = np.percentile(np.array(rows), QUANTILES, axis=0)
        apart = _APART * (abs(low - high) <= _TOO_CLOSE)
        return cls(tuple(zip((low - apart).tolist(), (high + apart).tolist(), strict=True)))

    def bin(self, signal: int, value: float) -> int:
        """0, 1 or 2: below the first cut point, below the second, or not."""
        first, second = self.cuts[signal]
        return 0 if value < first else 1 if value < second else 2

    def state(self, signals: Signals | None) -> str:
        """The state of a question: `T:low|mid|high_Q:low|mid|high`, or `s0` without usable signals."""
        if signals is None or not all(map(isfinite, signals)):
            return NO_SIGNAL
        binned = [self.bin(k, value) for k, value in enumerate(signals)]
        trust, quality = sum(binned[:2]), sum(binned[2:])
        return f"T:{LEVELS[(trust >= 2) + (trust >= 3)]}_Q:{LEVELS[(quality >= 3) + (quality >= 5)]}"


NO_BINS: Final = Bins(((-_APART, _APART),) * len(Signals._fields))
"""The cut points where no question has signals: all are in the state `s0`."""
