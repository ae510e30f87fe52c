"""Retrievers of the pipeline by name, and the protocol for one's own.

| name | what | needs |
|---|---|---|
| graph | the search of the knowledge graph, as in the paper; the default | |
| bm25 | words, see `bm25` | extra `retrieve` |
| dense | meaning, see `dense` | an embedder, such as that of the extra `embed` |
| hybrid | `bm25` and `dense`, by reciprocal rank fusion, see `fused` | both |

Shallow and deep are stopping scores of the graph's search (`mediated_qa.retrieve`), and for the others 3 and 8 sentences, the best one last.
The signals of a question are the graph's, whoever retrieves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.retrievers.bm25 import BM25Retriever
from parlour.envs.mediated_qa.retrievers.dense import DenseRetriever, Embedder
from parlour.envs.mediated_qa.retrievers.fused import FusedRetriever
from parlour.envs.mediated_qa.retrievers.graph import GraphRetriever
from parlour.envs.mediated_qa.retrievers.protocol import SENTENCES, Depth, RankingRetriever, Retriever

NAMES: Final = ("graph", "bm25", "dense", "hybrid")

__all__ = [
    "NAMES",
    "SENTENCES",
    "BM25Retriever",
    "DenseRetriever",
    "Depth",
    "Embedder",
    "FusedRetriever",
    "GraphRetriever",
    "RankingRetriever",
    "Retriever",
    "make",
]


def make(name: str, passages: Iterable[Passage], graph: GraphRetriever, embedder: Embedder | None = None) -> Retriever:
    """A retriever by its name.

    Args:
        name: One of `NAMES`.
        passages: The articles.
        graph: What `graph` means.
        embedder: For `dense` and `hybrid`.

    Raises:
        ParlourError: The name is not accepted, or what it needs is missing; the message says what to install.
    """
    check_one_of("retriever", name, NAMES)
    if name == "graph":
        return graph
    if name in ("dense", "hybrid") and embedder is None:
        lacking = f"retriever {name} has no embedder"
        raise ParlourError(f"{lacking}; accepted: embedder=MiniLMEmbedder(), of pip install 'parlour[embed]'")
    articles = tuple(passages)
    if name == "bm25":
        return BM25Retriever(articles)
    assert embedder is not None
    if name == "dense":
        return DenseRetriever(articles, embedder)
    return FusedRetriever((BM25Retriever(articles), DenseRetriever(articles, embedder)))
