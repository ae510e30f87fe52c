"""Retrievers of the pipeline by name, and the protocol for your own: a question and a depth in, evidence out.

| name | what | needs |
|---|---|---|
| graph | the search of the knowledge graph, as in the paper; the default | |
| bm25 | words, see `BM25Retriever` | extra `retrieve` |
| dense | meaning, see `DenseRetriever` | an embedder, such as that of the extra `embed` |
| hybrid | `bm25` and `dense`, by reciprocal rank fusion, see `FusedRetriever` | both |

Shallow and deep are stopping scores of the graph's search (`mediated_qa.retrieve`), and for the others 3 and 8 sentences, the best one last.
The signals of a question are the graph's, whoever retrieves. Scores are compared at a fixed number of decimals, so that ties are the
same on every machine.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
from parlour.envs.common.extras import install, not_installed, one_faiss_thread
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.language import english
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrieve import Search

Depth = Literal["shallow", "deep"]
Vectors = np.ndarray[Any, np.dtype[np.float32]]
NAMES: Final = ("graph", "bm25", "dense", "hybrid")
SENTENCES: Final[dict[str, int]] = {"shallow": 3, "deep": 8}
"""At most so many sentences are the evidence of a ranking."""
K1: Final = 1.5
B: Final = 0.75
LEAST: Final = 0.3
"""Least cosine of a sentence that counts as found."""
CONSTANT: Final = 60
DEEPER: Final = 3
"""`FusedRetriever` reads each ranking to so many times the sentences wanted."""
_SCORE_DIGITS: Final = 9
_COSINE_DIGITS: Final = 5


@runtime_checkable
class Retriever(Protocol):
    """Finds evidence. What it gives depends on question and depth alone, the same each time; the pipeline caches it."""

    def evidence(self, question: str, depth: Depth) -> str:
        """The evidence, as `reading.join` writes it: each sentence with its title; empty if nothing is found."""


class RankingRetriever(Protocol):
    """Orders sentences by how well they go with a question; can be fused with others."""

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        """At most `count` sentences, best first, each once; of equal ones the first of the corpus comes first."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, size), float32."""


class _Ranking(RankingRetriever):
    """What has a ranking as its evidence."""

    def evidence(self, question: str, depth: Depth) -> str:
        """The first `SENTENCES[depth]` of the ranking, the best one last, where a way through the graph has its end.

        (The offline reader takes the last of equally good sentences: so read, BM25's evidence gave 5 to 20 % more right
        answers.)

        Raises:
            ParlourError: The depth is not accepted.
        """
        check_one_of("depth", depth, SENTENCES)
        return reading.join(tuple(reversed(self.ranked(question, SENTENCES[depth]))))


@dataclass(frozen=True)
class GraphRetriever:
    """The search of the knowledge graph from the documents that a question names: the paper's retriever, and the default."""

    graph: KnowledgeGraph
    search: Search = field(default_factory=Search)
    link: Callable[[str], list[int]] | None = None
    """The documents that a question names; None to ask the graph."""

    def evidence(self, question: str, depth: Depth) -> str:
        starts = (self.link or self.graph.link)(question)
        return self.search.evidence(self.graph, starts, question, depth)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        """The sentences of a deep search, in the order of the path: the nearest to the question first."""
        return reading.pieces(self.evidence(question, "deep"))[:count]


class BM25Retriever(_Ranking):
    """Evidence by words: BM25 over sentences with their titles, by `bm25s` (extra `retrieve`).

    Robertson and Zaragoza (2009, "The probabilistic relevance framework: BM25 and beyond") in Lucene's form: a word t of the
    question adds to a sentence d

        ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 (1 - b + b |d| / mean |d|))

    where f is the number of times t occurs in d, n the number of the N sentences with t, and |d| the number of words in d. Words
    are stems of content words, as everywhere in this game (`parlour.envs.language.english.stemmed`).

    Raises:
        ParlourError: `bm25s` is not installed.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._pieces = _pieces_of_passages(passages)
        texts = [english.stemmed(f"{title} {sentence}") for title, sentence in self._pieces]
        self._numbers = {word: k for k, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
        try:
            library = import_module("bm25s")
        except ModuleNotFoundError:
            raise not_installed("bm25s", "retrieve") from None
        self._index = library.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy", auto_compile=False)
        if self._numbers:
            numbered = [[self._numbers[word] for word in text] for text in texts]
            self._index.index((numbered, dict(self._numbers)), create_empty_token=False, show_progress=False)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        scores = self.scores(question)
        order = np.argsort(-scores, kind="stable")[:count]
        return [self._pieces[k] for k in order.tolist() if scores[k] > 0]

    def scores(self, question: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The score of each sentence, shape (sentences,), in the order of the corpus; 0 where no word is shared."""
        known = [self._numbers[word] for word in english.stems(question) if word in self._numbers]
        if not known:
            return np.zeros(len(self._pieces))
        scores: np.ndarray[Any, np.dtype[np.float64]] = self._index.get_scores_from_ids(known)
        return np.round(scores, _SCORE_DIGITS)


class DenseRetriever(_Ranking):
    """Evidence by meaning: the sentences, with their titles, whose vectors are nearest to the question's, by FAISS (exact).

    The embedder is the caller's, such as `parlour.policies.retrieval.embedders.MiniLMEmbedder` (extra `embed`): environments do
    not know policies.

    Args:
        passages: The articles; all their sentences are embedded at once.
        embedder: Gives the vectors.
        least: Least cosine, -1..1, of a sentence that counts as found.
    """

    def __init__(self, passages: Iterable[Passage], embedder: Embedder, least: float = LEAST) -> None:
        self._pieces = _pieces_of_passages(passages)
        self._embedder, self._least = embedder, least
        self._vectors = embedder.embed([f"{title}: {sentence}" for title, sentence in self._pieces])
        self._index = _indexed(self._vectors)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        """The nearest sentences, of equal ones the first of the corpus."""
        if not question.strip() or not self._pieces:
            return []
        vector, asked = self._embedder.embed([question]), min(count, len(self._pieces))
        while True:
            wider = min(2 * asked + 1, len(self._pieces))
            with one_faiss_thread():
                cosines, rows = self._index.search(vector, wider)
            near = np.round(cosines[0].astype(np.float64), _COSINE_DIGITS)
            if wider == len(self._pieces) or near[-1] < near[min(count, wider) - 1]:  # nothing left that ties
                nearest = sorted(zip((-near).tolist(), rows[0].tolist(), strict=True))[:count]
                return [self._pieces[k] for far, k in nearest if -far >= self._least]
            asked = wider

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._index = _indexed(self._vectors)


@dataclass(frozen=True)
class FusedRetriever(_Ranking):
    """Several rankings as one, by reciprocal rank fusion (Cormack, Clarke and Buettcher 2009).

    A sentence scores the sum of 1 / (60 + its place) over the rankings that hold it, places counted from 1. Among equals, the
    earlier ranking's come first.
    """

    rankings: tuple[RankingRetriever, ...]

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        scores: dict[Piece, Fraction] = defaultdict(Fraction)  # exact: sums tie as they should
        for ranking in self.rankings:
            for place, piece in enumerate(ranking.ranked(question, DEEPER * count), 1):
                scores[piece] += Fraction(1, CONSTANT + place)
        return sorted(scores, key=scores.__getitem__, reverse=True)[:count]  # sorting is stable


def make(name: str, passages: Iterable[Passage], graph: GraphRetriever, embedder: Embedder | None = None) -> Retriever:
    """A retriever by its name, one of `NAMES`; `graph` is the given one, and `dense` and `hybrid` need the embedder.

    Raises:
        ParlourError: The name is not accepted, or what it needs is missing; the message says what to install.
    """
    check_one_of("retriever", name, NAMES)
    if name == "graph":
        return graph
    articles = tuple(passages)
    if name == "bm25":
        return BM25Retriever(articles)
    if embedder is None:
        lacking = f"retriever {name} has no embedder"
        raise ParlourError(f"{lacking}; accepted: embedder=MiniLMEmbedder(), after {install('embed')}")
    dense = DenseRetriever(articles, embedder)
    return dense if name == "dense" else FusedRetriever((BM25Retriever(articles), dense))


def _pieces_of_passages(passages: Iterable[Passage]) -> tuple[Piece, ...]:
    """All sentences with their titles, in the order of the corpus, each once."""
    return tuple(dict.fromkeys(Piece(title, sentence) for title, sentences in passages for sentence in sentences))


def _indexed(vectors: Vectors) -> Any:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index
