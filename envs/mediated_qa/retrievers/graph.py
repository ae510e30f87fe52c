"""Evidence by the search of the knowledge graph: the paper's retriever, and the default (see `mediated_qa.retrieve`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.retrievers.protocol import Depth


@dataclass(frozen=True)
class GraphRetriever:
    """Walks from the documents that a question names. Satisfies `Retriever` and `RankingRetriever`."""

    graph: KnowledgeGraph
    search: Search = field(default_factory=Search)
    link: Callable[[str], list[int]] | None = None
    """The documents that a question names; None to ask the graph."""

    def evidence(self, question: str, depth: Depth) -> str:
        starts = (self.link or self.graph.link)(question)
        return self.search.evidence(self.graph, starts, question, depth)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        """The sentences of a deep search, in the order of the way, so that what is nearest to the question comes first."""
        return reading.pieces(self.evidence(question, "deep"))[:count]
