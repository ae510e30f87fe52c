"""Evidence by meaning: the sentences, with their titles, whose vectors are nearest to the question's, by FAISS.

The embedder is the caller's, such as `parlour.policies.retrieval.embedders.MiniLMEmbedder` (extra `embed`): environments do
not know policies. The index is exact, and cosines are compared at a fixed number of
decimals, so that ties are the same each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrievers.protocol import Depth, first_sentences, pieces_of_passages

Vectors = np.ndarray[Any, np.dtype[np.float32]]
LEAST: Final = 0.3
"""Least cosine of a sentence that counts as found."""
_DIGITS: Final = 5


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, size), float32."""


class DenseRetriever:
    """Satisfies `Retriever` and `RankingRetriever`.

    Args:
        passages: The articles; all their sentences are embedded at once.
        embedder: Gives the vectors.
        least: Least cosine, -1..1, of a sentence that counts as found.
    """

    def __init__(self, passages: Iterable[Passage], embedder: Embedder, least: float = LEAST) -> None:
        self._pieces = pieces_of_passages(passages)
        self._embedder, self._least = embedder, least
        self._vectors = embedder.embed([f"{title}: {sentence}" for title, sentence in self._pieces])
        self._index = _indexed(self._vectors)

    def evidence(self, question: str, depth: Depth) -> str:
        """The sentences nearest to the question, the best last; empty if none is near enough."""
        return first_sentences(self, question, depth)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        return [self._pieces[k] for cosine, k in self._nearest(question, count) if cosine >= self._least]

    def _nearest(self, question: str, count: int) -> list[tuple[float, int]]:
        """(cosine, number of the sentence), nearest first, of equal ones the first of the corpus."""
        if not question.strip() or not self._pieces:
            return []
        vector, asked = self._embedder.embed([question]), min(count, len(self._pieces))
        while True:
            more = min(2 * asked + 1, len(self._pieces))
            with _one_thread():
                cosines, rows = self._index.search(vector, more)
            near = np.round(cosines[0].astype(np.float64), _DIGITS)
            if more == len(self._pieces) or near[-1] < near[min(count, more) - 1]:  # nothing left that ties
                found = sorted(zip((-near).tolist(), rows[0].tolist(), strict=True))[:count]
                return [(-far, k) for far, k in found]
            asked = more

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._index = _indexed(self._vectors)


def _indexed(vectors: Vectors) -> Any:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep FAISS to one thread in here: the processes of a pool share the cores."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
