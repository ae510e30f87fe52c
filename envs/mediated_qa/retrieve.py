"""Bounded-width search for evidence: from a document outwards, level by level, until the best path scores enough.

Each level has at most `WIDTH` paths and takes at most as many neighbours of each, heaviest edges first; no node twice in a path
or in a level. A path scores the mean reliability of its nodes and a tenth for each node; a shallow search stops at
0.75, a deep one at 0.90, both after 10 hops (the paper's published code; decisions 2.3).

The paper's code ranks paths by that score alone, blind to the question. With `guide` two things are added when paths are
ranked (never to the score that stops the search): the share of the question's words that a path has met, and the mean weight of
its edges, so that it does not jump over words that many sentences share. A deep search with a guide also starts
from the second thing that the question names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from parlour.envs.language import english
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.graph import SENTENCE, KnowledgeGraph
from parlour.envs.mediated_qa.reading import Piece

WIDTH: Final = 15
HOPS: Final = 10
STOPPING_SCORES: Final = {"shallow": 0.75, "deep": 0.90}


class Path(NamedTuple):
    """A way through the graph."""

    nodes: tuple[int, ...]
    relations: tuple[str, ...]
    """One fewer than nodes."""
    reliable: float
    """Sum over the nodes."""
    met: int
    """The question's words that it has met, a bit each."""
    weight: float
    """Sum over the edges."""

    @property
    def score(self) -> float:
        """Mean reliability and a tenth for each node."""
        return self.reliable / len(self.nodes) + 0.1 * len(self.nodes)


@dataclass(frozen=True)
class Search:
    """How to look for evidence."""

    guide: float = 1.0
    """Weight of words met and of edges in ranking paths; 0 is the paper's blind search."""

    def path(self, graph: KnowledgeGraph, start: int, question: str, depth: str) -> Path:
        """The best path from a node; the node alone if it has no neighbours. `depth` is a key of `STOPPING_SCORES`."""
        return self.walk(graph, start, question, depth)[0]

    def walk(self, graph: KnowledgeGraph, start: int, question: str, depth: str) -> tuple[Path, list[Path]]:
        """The best path from a node, and all paths of the search, level by level."""
        met = _Meeting(graph, question if self.guide else "")
        level = [Path((start,), (), graph.reliability[start], met(start), 0.0)]
        best, every = level[0], list[Path]()
        for _ in range(HOPS):
            level = self._next(graph, level, met)
            if not level:
                break
            every += level
            best = max(best, level[0], key=lambda path: self._rank(path, met))
            if best.score >= STOPPING_SCORES[depth]:
                break
        return best, every

    def evidence(self, graph: KnowledgeGraph, starts: list[int], question: str, depth: str) -> str:
        """The sentences on the way, each with its title; empty if there are none."""
        count = 2 if depth == "deep" and self.guide else 1
        paths = (self.path(graph, start, question, depth) for start in starts[:count])
        return reading.join(tuple(dict.fromkeys(piece for path in paths for piece in pieces_of(graph, path))))

    def _rank(self, path: Path, met: _Meeting) -> float:
        if not self.guide:
            return path.score
        return path.score + self.guide * (met.share(path.met) + path.weight / max(1, len(path.relations)))

    def _next(self, graph: KnowledgeGraph, level: list[Path], met: _Meeting) -> list[Path]:
        """The best extensions of a level's paths, best first."""
        ends: dict[int, tuple[float, Path]] = {}
        reliability = graph.reliability
        for path in level:
            for node, relation, weight in self._ways(graph, path, met):
                longer = Path(
                    (*path.nodes, node),
                    (*path.relations, relation),
                    path.reliable + reliability[node],
                    path.met | met(node),
                    path.weight + weight,
                )
                rank = self._rank(longer, met)
                if node not in ends or rank > ends[node][0]:
                    ends[node] = rank, longer
        ranked = sorted(ends.values(), key=lambda item: (-item[0], item[1].nodes))
        return [path for _, path in ranked[:WIDTH]]

    def _ways(self, graph: KnowledgeGraph, path: Path, met: _Meeting) -> list[tuple[int, str, float]]:
        """The neighbours that a path may go on to, at most `WIDTH`."""
        most = None if self.guide else WIDTH
        ways = [way for way in graph.neighbours(path.nodes[-1])[:most] if way[0] not in path.nodes]
        if self.guide and len(ways) > WIDTH:
            ways.sort(key=lambda way: -(met(way[0]) & ~path.met).bit_count())
        return ways[:WIDTH]


class _Meeting:
    """Which of a question's words each node holds; looked up once a node."""

    def __init__(self, graph: KnowledgeGraph, question: str) -> None:
        postings = [graph.postings[word] for word in english.stems(question) if word in graph.postings]
        self._nodes_by_bit = [(1 << k, nodes) for k, nodes in enumerate(postings)]
        self._known: dict[int, int] = {}

    def __call__(self, node: int) -> int:
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = sum(bit for bit, nodes in self._nodes_by_bit if node in nodes)
        return known

    def share(self, met: int) -> float:
        """Of the words that the graph holds at all, 0..1."""
        return met.bit_count() / len(self._nodes_by_bit) if self._nodes_by_bit else 0.0


def pieces_of(graph: KnowledgeGraph, path: Path) -> tuple[Piece, ...]:
    """The sentences of a path."""
    return tuple(Piece(graph.title[node], graph.text[node]) for node in path.nodes if graph.kind[node] == SENTENCE)
